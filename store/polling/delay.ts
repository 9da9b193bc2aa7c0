/** The delay before the next poll after a failure: twice as long after each failure, up to 15 minutes. */

const MOST_SECONDS = 15 * 60;
/** A provider that asks for a longer delay is polled all the same. */
const MOST_ASKED_SECONDS = 24 * 3_600;
/** Spreads the next polls of accounts that failed together. */
const JITTER = 0.1;

/**
 * Milliseconds until the next poll. `failures`: in a row, this one included. A longer delay that the provider
 * asks for counts, up to a day. The delay is never shorter than the trigger's interval. `random`: 0 to 1.
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
