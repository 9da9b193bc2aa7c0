/** Exponential back-off with jitter. */

export type Backoff = {
  /** The first delay, in milliseconds. */
  initialMs: number;
  factor: number;
  maxMs: number;
  /** The share of the delay that is random, 0..1: 0.2 spreads over ±20 %. */
  jitter: number;
};

/**
 * The delay before the attempt that follows `failures` failures (1 or more), in milliseconds, never above
 * `maxMs`.
 */
export function backoffDelay(backoff: Backoff, failures: number, random: () => number = Math.random): number {
  const exponent = Math.min(Math.max(failures, 1) - 1, 64);
  const plain = Math.min(backoff.initialMs * backoff.factor ** exponent, backoff.maxMs);
  return Math.min(jittered(plain, backoff.jitter, random), backoff.maxMs);
}

/** `ms` spread evenly over ± the given share of it. */
export function jittered(ms: number, share: number, random: () => number = Math.random): number {
  return ms * (1 + share * (2 * random() - 1));
}
