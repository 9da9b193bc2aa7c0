/**
 * Which accounts to poll now, when the next one is due, and until when a poll pod polls. Pure. Accounts whose
 * last poll failed have a limit of their own, so that they do not delay others.
 */

/** Concurrent polls of accounts that work, and of accounts whose last poll failed. */
const LIMITS = { working: 8, failing: 4 };

/** `dueAt` in milliseconds of the clock of `now`. */
export type Known = { dueAt: number; failing: boolean };

export type Due = {
  /** The accounts to poll now, the longest due first. */
  start: string[];
  /**
   * When the next account becomes due; undefined if none does. An account that is due already waits for a
   * poll to end.
   */
  next: number | undefined;
};

/** Each known account that is not polled now is started, waits for the limit, or is considered in `next`. */
export function dueOf(
  known: ReadonlyMap<string, Known>,
  polling: ReadonlyMap<string, { failing: boolean }>,
  now: number,
): Due {
  const free = { ...LIMITS };
  for (const { failing } of polling.values()) free[failing ? 'failing' : 'working'] -= 1;
  const waiting = [...known]
    .filter(([uid]) => !polling.has(uid))
    .toSorted(([, a], [, b]) => a.dueAt - b.dueAt);
  const due = waiting.filter(([, { dueAt }]) => dueAt <= now);
  const start = due.filter(([, { failing }]) => {
    const group = failing ? 'failing' : 'working';
    free[group] -= 1;
    return free[group] >= 0;
  });
  return { start: start.map(([uid]) => uid), next: waiting[due.length]?.[1].dueAt };
}

const MINUTE_MS = 60_000;
/** The time for the pod and its Job to end, because the next Job does not start before that. */
const SHUTDOWN_MS = 3_000;
/** A pod with less time than this also polls in the minute of the next pod. */
const LEAST_MS = 15_000;

/** Pods start at slightly different times after their minute: what a pod has just polled is not due ahead. */
const SLACK_MS = 30_000;

/**
 * How early a pod polls, in milliseconds, where the next pod starts a period later: what becomes due in
 * between would be late then. A pod that comes each minute waits for it instead.
 */
export function aheadOf(periodMs: number): number {
  return periodMs <= MINUTE_MS ? 0 : periodMs - SLACK_MS;
}

/** When a pod that started at this time must end; both in milliseconds since 1970. */
export function endOfWindow(startedAt: number): number {
  return Math.ceil((startedAt + LEAST_MS + SHUTDOWN_MS) / MINUTE_MS) * MINUTE_MS - SHUTDOWN_MS;
}
