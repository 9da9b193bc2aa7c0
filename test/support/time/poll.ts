/** Waits for conditions of systems outside: by asking again until a deadline, never by a fixed sleep. */
import { setTimeout as delay } from 'node:timers/promises';

export type PollOptions = { timeoutMs: number; everyMs?: number; signal?: AbortSignal };

/** What takes long is asked about less often: a question of an API server takes both sides milliseconds. */
const SHARE_OF_WAIT = 0.05;
const SELDOM_MS = 250;

/**
 * Asks until the answer is neither undefined nor false, and gives it; every `everyMs` (100) at first. An
 * error of the question counts as "not yet". It asks once more after the time, so that nothing is missed by a
 * process that stood still, and then throws "… within N s", with the last error as its cause. Throws the
 * signal's reason as soon as that is aborted.
 */
export async function pollUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  options: PollOptions,
): Promise<T> {
  const { everyMs = 100 } = options;
  const began = performance.now();
  const deadline = began + options.timeoutMs;
  let cause: unknown;
  for (;;) {
    const isLast = performance.now() >= deadline;
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (isLast) break;
    const seldom = Math.min(SELDOM_MS, (performance.now() - began) * SHARE_OF_WAIT);
    const pause = Math.max(everyMs, seldom);
    await delay(pause, undefined, { signal: options.signal }).catch(() => undefined);
    options.signal?.throwIfAborted();
  }
  const last = cause instanceof Error ? ` (last: ${cause.message})` : '';
  throw new Error(`${what} did not happen within ${Math.round(options.timeoutMs / 1000)} s${last}`, {
    cause,
  });
}

/**
 * Waits until the check, which throws until then, no longer does; fails with what it threw last. In
 * concurrent tests `expect.poll` knows no test.
 */
export async function pollUntilPasses(
  what: string,
  check: () => Promise<void>,
  options: PollOptions,
): Promise<void> {
  const passes = async (): Promise<true> => {
    await check();
    return true;
  };
  await pollUntil(what, passes, options);
}
