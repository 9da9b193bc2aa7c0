/** After which time a trigger is looked at again whose look failed: twice as long after each failure, up to 15 minutes. */

const MOST_SECONDS = 15 * 60;
/** Whoever asks for longer is asked again all the same. */
const MOST_ASKED_SECONDS = 24 * 3_600;
/** Accounts that failed together are not to come back together. */
const JITTER = 0.1;

/**
 * Milliseconds until the next look. `failures`: in a row, this one included. What the other side asks for counts where it is
 * longer, up to a day, and a trigger that is looked at more seldom than that keeps its own interval. `random`: 0 to 1.
 */
export function pollDelayMs(
  { failures, intervalSeconds, retryAfterSeconds = 0 }: Failing,
  random: number = Math.random(),
): number {
  const doubled = intervalSeconds * 2 ** Math.min(failures - 1, 20);
  const backOff = Math.max(intervalSeconds, Math.min(doubled, MOST_SECONDS) * (1 - JITTER * random));
  return Math.max(backOff, Math.min(retryAfterSeconds, MOST_ASKED_SECONDS)) * 1_000;
}

type Failing = { failures: number; intervalSeconds: number; retryAfterSeconds?: number | undefined };
