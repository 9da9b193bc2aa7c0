/** Builds the output of spreadsheet triggers. Guarantees that it is not larger than the limit. */
import type { NodeOutput } from '../../../api/value.ts';
import type { Cell } from '../../contract/book.ts';
import type { RowEvent } from './diff.ts';
import { cut, sizeOf } from './keeper.ts';
import { named, type Values } from '../../spreadsheet/layout.ts';
import type { State, PendingChange } from './state.ts';

/** Where changes were seen, and how its columns are named. */
export type Seen = {
  spreadsheetId: string;
  sheet: string;
  /** The number of the first column. */
  firstColumn: number;
} & Pick<State, 'names' | 'namesBefore'>;

type Change = {
  sheet: string;
  row: number;
  event: RowEvent;
  values: Values | null;
  previous: Values | null;
};

/** Of an output without its changes. */
const ROOM_FOR_REST = 8_192;
const LONGEST_TEXT = 1_000;
/** Changes of one output. */
const MOST_CHANGES = 10_000;

/** The output of the first of the changes, and how many of them it has: at least one. */
export function outputOf(
  changes: readonly PendingChange[],
  seen: Seen,
  { maxBytes, most = MOST_CHANGES }: { maxBytes: number; most?: number },
): { output: NodeOutput; count: number } {
  let room = maxBytes - ROOM_FOR_REST;
  const told: Change[] = [];
  let truncated = false;
  for (const pending of changes.slice(0, most)) {
    const { change, isCut } = fit(pending, seen, maxBytes - ROOM_FOR_REST);
    room -= sizeOf(change) + 1;
    if (told.length > 0 && room < 0) break;
    told.push(change);
    truncated ||= isCut;
  }
  const data = { spreadsheet_id: seen.spreadsheetId, changes: told, truncated };
  return { output: { text_content: sentence(told), data_content: data }, count: told.length };
}

/**
 * The change with no more than so many bytes: without what the row was, then with less and less of what it
 * is.
 */
function fit(pending: PendingChange, seen: Seen, room: number): { change: Change; isCut: boolean } {
  const { event, row, cells, before, isCut = false } = pending;
  const { sheet, names, namesBefore = names, firstColumn } = seen;
  const values = (list: readonly Cell[] | undefined) => (list ? named(list, names, firstColumn) : null);
  const head = { sheet, row, event };
  const whole = {
    ...head,
    values: values(cells),
    previous: before ? named(before, namesBefore, firstColumn) : null,
  };
  if (sizeOf(whole) <= room) return { change: whole, isCut };
  for (let bytes = room; bytes > 64; bytes /= 4) {
    const change = { ...head, values: values(cells && cut(cells, bytes)), previous: null };
    if (sizeOf(change) <= room) return { change, isCut: true };
  }
  return { change: { ...head, values: null, previous: null }, isCut: true };
}

function sentence(changes: readonly Change[]): string {
  const [first] = changes;
  if (first && changes.length === 1) return oneRow(first);
  const counts = (['added', 'updated', 'removed'] as const)
    .map((event) => ({ event, count: changes.filter((change) => change.event === event).length }))
    .filter(({ count }) => count > 0)
    .map(({ event, count }) => `${count} ${event}`);
  return `${changes.length} rows of ${first?.sheet ?? ''} changed: ${counts.join(', ')}.`;
}

function oneRow({ sheet, row, event, values, previous }: Change): string {
  const told = `Row ${row} of ${sheet} was ${event}`;
  const shown = Object.entries(values ?? previous ?? {})
    .filter(([, cell]) => cell !== '')
    .map(([name, cell]) => (Array.isArray(values ?? previous) ? String(cell) : `${name}: ${cell}`))
    .join('; ');
  if (shown === '') return `${told}.`;
  const text = `${told}: ${shown}`.replaceAll(/\s+/g, ' ').toWellFormed();
  return text.length <= LONGEST_TEXT ? `${text}.` : `${text.slice(0, LONGEST_TEXT).toWellFormed()}…`;
}
