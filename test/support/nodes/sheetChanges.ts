/** What a look at a spreadsheet brought, as tests compare it. */
import type { Polled } from '../../../nodes/contract/poller.ts';

type Values = Record<string, unknown> | null;
type Change = { sheet: string; row: number; event: string; values: Values; previous: Values };
type Data = { spreadsheet_id: string; changes: Change[]; truncated: boolean };

/** The data of each event. */
export function dataOf({ events }: Polled): Data[] {
  return events.map(({ output }) => output.data_content as Data);
}

/** The changes of all events. */
export function changesOf(polled: Polled): Change[] {
  return dataOf(polled).flatMap(({ changes }) => changes);
}

/** In short: what happened to which row, and its first cell. */
export function told(polled: Polled): string[] {
  return changesOf(polled).map(({ event, row, values, previous }) => {
    const [first] = Object.values(values ?? previous ?? {});
    return `${event} ${row} ${String(first)}`;
  });
}
