/** The entry of a run in the queues of its project: `<group> <accepted, µs> <run>`. */
import { countOf } from '../store/numbers.ts';

/** When the run was accepted, in milliseconds since 1970; Infinity where the entry names no time. */
export function acceptedAt(entry: string): number {
  const micros = countOf(entry.split(' ')[1]);
  return micros === 0 ? Infinity : micros / 1_000;
}
