/** When the runners of a project fall asleep, and when they wake. Pure. */
import type { Work } from '../../runs/work.ts';

export type SleepState = {
  isAsleep: boolean;
  /** Since when an awake project has had no work, in milliseconds; undefined while it has. */
  quietSince: number | undefined;
  /** `Work.activity` of the last reading. */
  activity: string | undefined;
};

export type SleepSituation = {
  now: number;
  work: Work;
  /** A runner is available. */
  hasRunner: boolean;
  /** A trigger is polled so often that the runners stay awake. */
  isPolledOften: boolean;
  sleepAfterMs: number;
};

/** How long before a run is due its project wakes: longer than a pod usually takes to start. */
const WAKE_AHEAD_MS = 10_000;
/** Runners that would sleep for a shorter time stay awake. */
const LEAST_SLEEP_MS = 60_000;
/** How long a lost message can delay an event of a sleeping project. */
export const CHECK_MS = 30_000;
/** A sleeping project without work within this time need not be read again before `CHECK_MS` have passed. */
export const AT_REST_MS = CHECK_MS + WAKE_AHEAD_MS + 5_000;

/** For so long a project that wakes counts as served although it has no runner yet. */
export const WAKING_MS = 60_000;

/**
 * How many milliseconds longer a project that has been waking since then counts as served. Both times are in
 * milliseconds since 1970, and of two machines: a time of the future is that of a clock that is ahead, and
 * counts as now.
 */
export function remainingWakingMs(since: number, now: number): number {
  return Math.max(0, WAKING_MS - Math.max(0, now - since));
}

/**
 * The state from now on, and in how many milliseconds a sleeping project must be read again. Runners that
 * have not started yet do not fall asleep: work may have woken them. A request of the operator is answered by
 * a runner that is awake, but does not count as use of the project: some are repeated for ever.
 */
export function decideSleep(before: SleepState, situation: SleepSituation): SleepState & { checkMs: number } {
  const { activity } = situation.work;
  return before.isAsleep ? decideAsleep(before, situation) : { ...decideAwake(before, situation), activity };
}

const AWAKE = { isAsleep: false, quietSince: undefined, checkMs: 0 };

function decideAsleep(
  before: SleepState,
  { work: { isPending, isAsked, dueMs = Infinity, activity }, isPolledOften }: SleepSituation,
): SleepState & { checkMs: number } {
  const untilDue = dueMs - WAKE_AHEAD_MS;
  if (isPending || isAsked || isPolledOften || untilDue <= 0) return { ...AWAKE, activity };
  return { ...before, activity, checkMs: Math.min(CHECK_MS, untilDue) };
}

function decideAwake(
  { quietSince: since, activity: before }: SleepState,
  { now, work, hasRunner, isPolledOften, sleepAfterMs }: SleepSituation,
): Omit<SleepState, 'activity'> & { checkMs: number } {
  const { isPending, isAsked, dueMs = Infinity, activity } = work;
  const isNeeded = isPending || isPolledOften || dueMs < WAKE_AHEAD_MS + LEAST_SLEEP_MS;
  if (isNeeded || !hasRunner) return AWAKE;
  const quietSince = since !== undefined && before === activity ? since : now;
  const isAsleep = !isAsked && now - quietSince >= sleepAfterMs;
  return isAsleep ? { ...AWAKE, isAsleep } : { ...AWAKE, quietSince };
}
