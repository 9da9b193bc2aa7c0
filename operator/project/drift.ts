/**
 * How often the objects of a pool that no cache holds are compared with what was applied, to correct what
 * others changed. Pure.
 */

/** With few projects. */
const LEAST_MS = 300_000;
/** Requests to the API server of one comparison. */
const REQUESTS = 9;
/** Of all comparisons of such pools together, on average. A change to a pool without runners can wait. */
const REQUESTS_PER_SECOND = { awake: 2, asleep: 0.25 };
/** Spreads the comparisons of projects that were applied one after the other. */
const JITTER = 0.5;

/** Whether the runners of a pool sleep, and how many pools are in the same state: all share one budget. */
export type PoolsAlike = { isAsleep: boolean; count: number };

/**
 * The time to the next comparison in milliseconds: about five minutes, and longer where the requests for all
 * pools that are awake would exceed two a second, or those for all that sleep one in four seconds. `random`:
 * in [0, 1).
 */
export function nextDriftCheckMs(pools: PoolsAlike, random: number): number {
  return averageMs(pools) * (1 - JITTER + 2 * JITTER * random);
}

/** The longest that `nextDriftCheckMs` answers for these pools. */
export function latestDriftCheckMs(pools: PoolsAlike): number {
  return averageMs(pools) * (1 + JITTER);
}

function averageMs({ isAsleep, count }: PoolsAlike): number {
  const perSecond = REQUESTS_PER_SECOND[isAsleep ? 'asleep' : 'awake'];
  return Math.max(LEAST_MS, ((count * REQUESTS) / perSecond) * 1_000);
}
