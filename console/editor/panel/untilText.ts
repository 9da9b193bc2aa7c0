/** The time until which a node waits, in words. Pure. */
import { fullTime } from '../../ui/format.ts';

/** RFC 3339, as the API takes it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** The time as a local one, and whether it has passed; undefined if the text is no time. */
export function untilText(until: string, now: number): { text: string; isPast: boolean } | undefined {
  const time = TIME.test(until.trim()) ? Date.parse(until.trim()) : NaN;
  if (Number.isNaN(time)) return undefined;
  const local = fullTime(until.trim());
  return time <= now
    ? { text: `${local}, local time. This time has passed: the node does not wait.`, isPast: true }
    : { text: `${local}, local time.`, isPast: false };
}
