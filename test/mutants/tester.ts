/**
 * Vitest in one copy of the tree, in a process of its own that goes on: its start takes as long as most
 * tests. Each question has new workers, which load the code as it is then.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestReport } from './report.ts';

/** Paths of test files, and a pattern of the names of tests in each. */
export type Question = { file: string; names: string }[];

export type Tester = {
  /**
   * What became of the tests; of none where they took too long, or vitest ended. One question at a time.
   */
  execute: (question: Question) => Promise<TestReport>;
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
    execute: async (question) => {
      running ??= start();
      const report = await ask(running, question, limitMs);
      if (report === undefined) end();
      return report ?? { testResults: [] };
    },
    end,
  };
}

async function ask(
  tester: ChildProcess,
  question: Question,
  limitMs: number,
): Promise<TestReport | undefined> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limitMs)]);
  const answer = once(tester, 'message', { signal }).then(([report]) => report as TestReport);
  const end = once(tester, 'exit', { signal }).then(() => undefined);
  tester.send(question);
  try {
    return await Promise.race([answer, end]);
  } catch {
    return undefined;
  } finally {
    over.abort();
    await Promise.allSettled([answer, end]);
  }
}
