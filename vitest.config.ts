import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { BESIDE_CODE, E2E_GOGC, EXCLUSIVE, LONGEST } from './scripts/testProjects.ts';

const CORES = availableParallelism();
const MEMORY = '/dev/shm';
const LEAST_BYTES = 4 * 2 ** 30;

/**
 * Redis syncs each write, which takes three times as long on a disk as in memory, or far longer where the
 * disk is busy. A server that is killed finds its files in memory too.
 */
function inMemory(): Record<string, string> {
  if (!existsSync(MEMORY)) return {};
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < LEAST_BYTES ? {} : { TMPDIR: MEMORY };
}

/**
 * Starts the longest files first, also where no earlier run has said how long each takes, and those beside
 * the code last, which are the shortest.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = LONGEST.findIndex((path) => moduleId.endsWith(path));
      if (rank !== -1) return rank;
      return LONGEST.length + (moduleId.endsWith('.integration.test.ts') ? 1 : 0);
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer, not that of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

/** A condition has its time on a busy machine, too; each question of a poll takes processor time. */
const PATIENT = { expect: { poll: { timeout: 30_000, interval: 100 } } };
/** Conditions of these tests wait for at most 100 s, so that a busy machine makes them slow and not red. */
const E2E = {
  ...PATIENT,
  // As below.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  testTimeout: 300_000,
  hookTimeout: 300_000,
  globalSetup: 'test/e2e/setup.ts',
  env: { GOGC: E2E_GOGC },
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          // Vitest leaves one core free unless it is told otherwise.
          maxWorkers: CORES,
          sequence: { groupOrder: 0 },
          // Pure code keeps no state between files, and loading the modules again for each takes longer than
          // the tests.
          isolate: false,
          // Node.js runs TypeScript by itself: to transform each file before takes a third of the processor
          // time.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          // A property is tried on thousands of cases, which takes its time on a slow machine.
          testTimeout: 30_000,
          include: [
            '{api,kube,store,runs,nodes,operator,gateway,runner,console,cli}/**/*.test.ts',
            'test/unit/**/*.test.ts',
          ],
          exclude: [BESIDE_CODE],
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'integration',
          experimental: { viteModuleRunner: false, nodeLoader: false },

          // Loading the modules again for each file takes a quarter of the processor time of short ones.
          isolate: false,
          // Two more than there are cores: these tests wait for servers and timers for more than half of
          // their time.
          maxWorkers: CORES + 2,
          sequence: { groupOrder: 1 },
          // The programs of Kubernetes live for seconds here: fewer garbage collections save 8 % of the
          // processor time.
          env: { ...inMemory(), GOGC: '400' },
          include: ['test/integration/**/*.test.ts', BESIDE_CODE],
          // So long that conditions, whose deadlines are shorter, say what did not come, also on a slow
          // machine.
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...E2E,
          name: 'e2e',
          // These tests share an installation and have projects of their own in it. They mostly wait, but the
          // pods that they start take the processors: with more files at a time the operator loses its lease.
          maxWorkers: CORES + 1,
          sequence: { groupOrder: 2 },
          include: ['test/e2e/**/*.test.ts'],
          exclude: EXCLUSIVE,
        },
      },
      {
        test: {
          ...E2E,
          name: 'e2e-exclusive',
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          include: EXCLUSIVE,
        },
      },
    ],
  },
});
