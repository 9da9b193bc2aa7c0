/**
 * How often the objects of a pool that no cache holds are compared with what was applied, to correct what
 * others changed. Pure.
 */

/** With few projects. */
const LEAST_MS = 300_000;
/** Requests to the API server of one comparison. */
const REQUESTS = 9;
/** Of all comparisons together, on average. */
const REQUESTS_PER_SECOND = 2;
/** Spreads the comparisons of projects that were applied one after the other. */
const JITTER = 0.5;

/**
 * The time to the next comparison in milliseconds, for so many projects: about five minutes, and longer where
 * the requests of all of them would exceed two a second. `random`: in [0, 1).
 */
export function nextDriftCheckMs(projects: number, random: () => number = Math.random): number {
  const averageMs = Math.max(LEAST_MS, ((projects * REQUESTS) / REQUESTS_PER_SECOND) * 1_000);
  return averageMs * (1 - JITTER + 2 * JITTER * random());
}
