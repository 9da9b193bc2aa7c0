/** Describes cron expressions. It is large: import it lazily. */
import cronstrue from 'cronstrue';
import { parseSchedule } from '../../../api/schedule/times.ts';

export type CronDescription = { ok: true; words: string; times: number[] } | { ok: false; message: string };

/** The description of the expression and its next times, computed as the operator does. */
export function describeCron(cron: string, timeZone: string, now: number, count: number): CronDescription {
  try {
    const schedule = parseSchedule(cron, timeZone);
    const times: number[] = [];
    for (
      let time = schedule.next(now);
      time !== undefined && times.length < count;
      time = schedule.next(time)
    )
      times.push(time);
    if (times.length === 0)
      return { ok: false, message: 'This schedule never fires (for example February 30).' };
    return {
      ok: true,
      words: cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false }),
      times,
    };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
