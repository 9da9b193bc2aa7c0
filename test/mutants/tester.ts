/**
 * Vitest in one copy of the tree, in a process of its own that is kept for further tests, because its start
 * takes as long as most tests. Each call starts new workers, which load the code as it is at that time.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestReport } from './report.ts';

/** Paths of test files, and a pattern of the names of tests in each. */
export type TestSelection = { file: string; names: string }[];

export type Tester = {
  /**
   * Executes the tests. The report is empty if they took too long, or vitest ended. One call at a time.
   */
  execute: (selection: TestSelection) => Promise<TestReport>;
  end: () => void;
};

export function createTester(tree: string, limitMs: number): Tester {
  let running: ChildProcess | undefined;
  const start = (): ChildProcess => {
    const started = fork(join(import.meta.dirname, 'testerProcess.ts'), { cwd: tree, stdio: 'ignore' });
    started.on('error', () => undefined);
    started.once('exit', () => {
      if (running === started) running = undefined;
    });
    return started;
  };
  const end = () => void running?.kill('SIGKILL');
  return {
    execute: async (selection) => {
      running ??= start();
      const report = await executeIn(running, selection, limitMs);
      if (report === undefined) end();
      return report ?? { testResults: [] };
    },
    end,
  };
}

/** Undefined if the tests took too long, or the process ended. */
async function executeIn(
  tester: ChildProcess,
  selection: TestSelection,
  limitMs: number,
): Promise<TestReport | undefined> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limitMs)]);
  const answer = once(tester, 'message', { signal }).then(([report]) => report as TestReport);
  const end = once(tester, 'exit', { signal }).then(() => undefined);
  tester.send(selection);
  try {
    return await Promise.race([answer, end]);
  } catch {
    return undefined;
  } finally {
    over.abort();
    await Promise.allSettled([answer, end]);
  }
}
