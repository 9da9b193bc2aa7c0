/** What a schedule says beyond what its pattern can tell. */
import { parseSchedule } from '../../../api/schedule/times.ts';
import type { Check, Violation } from './check.ts';

/** The expression and the time zone of a schedule can be used, and it fires some day. */
export const scheduleFits: Check = (spec) =>
  spec.nodes.flatMap(({ id, schedule }): Violation[] => {
    const problem = schedule && problemOf(schedule.cron, schedule.timeZone);
    if (problem === undefined) return [];
    return [{ reason: 'InvalidSchedule', message: `node ${id}: schedule: ${problem}`, trigger: true }];
  });

/** Far from every clock change, so that what is checked does not depend on the day. */
const SOME_DAY = Date.UTC(2027, 0, 15);

function problemOf(cron: string, timeZone = 'UTC'): string | undefined {
  try {
    const first = parseSchedule(cron, timeZone).next(SOME_DAY);
    return first === undefined
      ? 'no day has these fields, such as February 30: it would never fire'
      : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
