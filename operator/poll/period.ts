/**
 * How often poll pods of a project are created, and which intervals keep its runners awake. Pure. Poll pods
 * poll while no runner does: while runners sleep, and before they have started.
 */
import { shortHash } from '../../api/names.ts';

/**
 * The lengths, in minutes, that divide an hour or a day: a cron expression cannot have others. A pod also
 * polls what becomes due before the next one, so that a shorter period than the interval delays nothing.
 */
const PERIODS = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1_440] as const;
const HOUR = 60;
const DAY = 1_440;
/** Runners stay awake for a shorter interval: pods would cost more than the runner. */
export const LEAST_ASLEEP_SECONDS = 300;

/** Minutes from one poll pod to the next: the longest period that is not longer than any of the intervals. */
export function periodOf(intervals: readonly number[]): number {
  const shortest = Math.min(...intervals);
  return PERIODS.findLast((minutes) => minutes * 60 <= shortest) ?? PERIODS[0];
}

/**
 * The cron expression for a period, in UTC. Projects with the same period have their pods at different
 * minutes.
 */
export function cronOf(period: number, projectUid: string): string {
  const offset = Number.parseInt(shortHash(projectUid).slice(-6), 36) % period;
  if (period === 1) return '* * * * *';
  if (period < HOUR) return `${offset}-59/${period} * * * *`;
  const [minute, hour] = [offset % HOUR, Math.floor(offset / HOUR)];
  if (period === HOUR) return `${minute} * * * *`;
  return period === DAY ? `${minute} ${hour} * * *` : `${minute} ${hour}-23/${period / HOUR} * * *`;
}

/** Whether triggers with these intervals, in seconds, are polled so often that runners do not sleep. */
export function arePolledOften(intervals: readonly number[]): boolean {
  return intervals.some((seconds) => seconds < LEAST_ASLEEP_SECONDS);
}
