/** The kinds of tests, in the order in which they run, and which of them the arguments of `npm test` mean. */
import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { ROOT } from './run.ts';

export const PROJECTS = ['unit', 'integration', 'e2e'] as const;
export type Project = (typeof PROJECTS)[number];

/**
 * Integration tests that stand beside the code: they start a fake server or a thread, wait in real time, or
 * take seconds, but need no API server.
 */
export const BESIDE_CODE =
  '{api,kube,store,runs,nodes,operator,gateway,runner,cli,console}/**/*.integration.test.ts';

/**
 * End-to-end tests that kill, restart or upgrade what all tests of the cluster use: they are executed one
 * after the other, after all that can share the installation.
 */
export const EXCLUSIVE = ['faults', 'members', 'redisCluster', 'rights', 'tls', 'upgrade'].map(
  (name) => `test/e2e/${name}.test.ts`,
);

/**
 * GOGC of the programs of Kubernetes in end-to-end tests, of which .ci/run starts some before: fewer garbage
 * collections take less processor time.
 */
export const E2E_GOGC = '400';

/**
 * Test files that take longest, longest first. They are started first: one that starts last prolongs the run
 * by nearly all of its time. Parts of paths below `test`.
 */
export const LONGEST = [
  'integration/console/pages',
  'integration/operator/killed',
  'integration/console/publishingFaults',
  'integration/console/drafts',
  'integration/console/walkthrough',
  'integration/console/rights',
  'integration/console/hostile',
  'integration/console/building',
  'integration/console/groups',
  'integration/console/testRuns',
  'integration/operator/autoscaling',
  'integration/store/moveInterrupted',
  'integration/operator/sleep',
  'integration/console/agentScreens',
  'integration/runner/pollerMemory',
  'integration/runs/model',
  'integration/console/failures',
  'integration/console/build',
  'integration/rights/missingOperator',
  'integration/runner/pollers',
  'integration/operator/evaluations',
  'integration/console/runNotes',
  'integration/rights/missingPrograms',
  'integration/store/move',
  'integration/runStore/faults',
  'integration/runner/deaths',
  'integration/operator/ready',
  'integration/runner/fullLength',
  'integration/runner/poll',
  'integration/store/sentinel',
  'e2e/runnerEnd',
  'e2e/examples',
  'e2e/sleep',
  'e2e/consoleMission',
  'e2e/consoleProject',
  'e2e/cluster',
  'e2e/events',
  'e2e/order',
  'e2e/mail',
  'e2e/apply',
  'e2e/schedule',
].map((part) => `test/${part}.test.ts`);

const EXCLUDED = ['**/node_modules', '.git', '.windlass'];
/** Options of vitest whose value is the next argument. */
const WITH_VALUE = /^(-t|--testNamePattern)$/;

/**
 * The projects with a test file whose path contains one of the filters; all where there is no filter or no
 * such file.
 */
export function projectsOf(args: readonly string[]): readonly Project[] {
  const filters = args.filter((arg, at) => !arg.startsWith('-') && !WITH_VALUE.test(args[at - 1] ?? ''));
  if (filters.length === 0) return PROJECTS;
  const files = globSync('**/*.test.ts', { cwd: ROOT, exclude: EXCLUDED });
  const found = new Set(files.filter((file) => filters.some((each) => matches(file, each))).map(projectOf));
  return found.size === 0 ? PROJECTS : PROJECTS.filter((project) => found.has(project));
}

/** As vitest compares them, also with a line (`FILE:12`) or as an absolute path. */
function matches(file: string, filter: string): boolean {
  const part = filter.replace(/:\d+$/, '').replace(`${ROOT}/`, '').replace(/^\.\//, '').toLowerCase();
  return file.toLowerCase().includes(part);
}

/** The kind of tests of a test file, given its path in the repository. */
export function projectOf(file: string): Project {
  if (matchesGlob(file, BESIDE_CODE)) return 'integration';
  const [, kind] = /^test\/(integration|e2e)\//.exec(file) ?? [];
  return kind === 'integration' || kind === 'e2e' ? kind : 'unit';
}
