/** A sandbox for the tests of one file, and executions in it. */
import { afterAll } from 'vitest';
import { createSandbox } from '../../../nodes/code/sandbox.ts';
import type { CodeOutcome, CodeRequest } from '../../../nodes/contract/code.ts';

/** A signal that nothing aborts. */
export const never = new AbortController().signal;

const CLOCK = Date.UTC(2027, 0, 15, 12);

/** A request to execute a source. */
export const codeRequest = (source: string, more: Partial<CodeRequest> = {}): CodeRequest => ({
  source,
  nodes: [],
  values: [],
  clockMs: CLOCK,
  seed: 'shop/run-1/code/1',
  timeoutMs: 20_000,
  memoryMiB: 64,
  ...more,
});

/** Call it once in a test file; the sandbox is closed after its tests. */
export function startSandbox() {
  const sandbox = createSandbox();
  afterAll(() => sandbox.close());
  const run = (source: string, more: Partial<CodeRequest> = {}): Promise<CodeOutcome> =>
    sandbox.execute(codeRequest(source, more), never);
  /** The value that the code returned, or why there is none. */
  const valueOf = async (source: string, more: Partial<CodeRequest> = {}): Promise<unknown> => {
    const outcome = await run(source, more);
    return 'json' in outcome ? JSON.parse(outcome.json) : outcome;
  };
  return { sandbox, run, valueOf };
}
