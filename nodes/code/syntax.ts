/**
 * Checks the syntax of sources without executing them, in a thread: the engine cannot be interrupted while it
 * compiles, and some sources take minutes.
 */
import { createSandbox } from './sandbox.ts';

/** How long a source may compile. */
const COMPILE_MS = 2_000;
const MEMORY_MIB = 64;
const never = new AbortController().signal;

/** What is wrong with the syntax of a source, with line and column; undefined if it compiles. */
type SyntaxCheck = (source: string) => Promise<string | undefined>;

/** A check whose thread starts with the first source. */
export function createSyntaxCheck(): SyntaxCheck {
  const sandbox = createSandbox({ threads: 1, graceMs: 0 });
  return async (source) => {
    const limits = { timeoutMs: COMPILE_MS, memoryMiB: MEMORY_MIB };
    const request = { source, nodes: [], values: [], clockMs: 0, seed: '', compileOnly: true, ...limits };
    const outcome = await sandbox.execute(request, never);
    if (!('failure' in outcome)) return undefined;
    return outcome.failure.reason === 'CodeTimeout' ? TOO_COMPLEX : outcome.failure.message;
  };
}

/** The problem of a source that takes too long. */
export const TOO_COMPLEX = `line 1, column 1: the code takes more than ${COMPILE_MS / 1_000} s to compile: shorten or simplify it`;
