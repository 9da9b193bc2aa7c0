/** The entry of a run in the queues of its project: `<group> <accepted, µs> <run>`. */
import type { RunGroup } from '../store/groups.ts';
import { countOf } from '../store/numbers.ts';

/** The group of the run: its workflow, as live or test runs. */
export function groupOfEntry(entry: string): RunGroup {
  return entry.slice(0, entry.indexOf(' '));
}

/** The name of the run. */
export function runOfEntry(entry: string): string {
  return entry.slice(entry.lastIndexOf(' ') + 1);
}

/** When the run was accepted, in milliseconds since 1970; Infinity where the entry names no time. */
export function acceptedAt(entry: string): number {
  const micros = countOf(entry.split(' ')[1]);
  return micros === 0 ? Infinity : micros / 1_000;
}
