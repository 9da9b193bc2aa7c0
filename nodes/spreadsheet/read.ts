/**
 * Reads the rows of a sheet, a part of it at a time, into what is to be remembered of them. Guarantees that no more than a few parts and
 * what is remembered are in memory, however large the sheet is, and that one large sheet is read at a time.
 */
import { PollError } from '../poller.ts';
import type { Book, Cell, Sheet } from './book.ts';
import { asBefore, keyIndexOf, movedFrom, namesOf, type Moved } from './layout.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import { MOST_ROWS, type Memory } from './memory.ts';
import type { Area } from './reference.ts';
import { createIds, digestOf, trimmed, type Row } from './rows.ts';

export type Watched = {
  book: Book;
  sheet: Sheet;
  /** Within what the sheet has. */
  area: Area;
  hasHeader: boolean;
  keyColumn?: string | undefined;
};

/** What is remembered of the sheet. */
export type Before = Pick<Memory, 'names' | 'rows'>;

export type Reading = {
  names: readonly string[] | undefined;
  rows: Row[];
  /** Columns are gone and nothing identifies rows, so that nobody can say what happened to them. */
  isIncomparable: boolean;
  /** In how many parts it was read. */
  parts: number;
};

/** Cells of a part: some 1 MiB as a rule. */
const PART_CELLS = 100_000;
const MOST_CELLS = 5_000_000;
/** Parts that are asked for at the same time. */
const AT_ONCE = 2;

/** @throws PollError `TooLarge` */
export function partsOf({ startRow, endRow, startColumn, endColumn }: Area): Area[] {
  const width = Math.max(1, endColumn - startColumn);
  if ((endRow - startRow) * width > MOST_CELLS)
    throw new PollError(
      'TooLarge',
      `more than ${MOST_CELLS / 1e6} million cells are watched, empty ones too: give a smaller range, or remove empty rows and columns`,
    );
  const rows = Math.max(1, Math.floor(PART_CELLS / width));
  const parts: Area[] = [];
  for (let row = startRow; row < endRow; row += rows)
    parts.push({ startRow: row, endRow: Math.min(row + rows, endRow), startColumn, endColumn });
  return parts;
}

/**
 * What the rows are now. Their cells are kept where there is room for those of all rows; else those of the first rows that are not as
 * they were.
 * @throws PollError
 */
export async function readRows(watched: Watched, before: Before | undefined): Promise<Reading> {
  const parts = partsOf(watched.area);
  const keeper = createKeeper();
  let layout: Layout | undefined;
  for await (const { cells, startRow } of inTurn(watched, parts)) {
    const isFirst = layout === undefined;
    layout ??= layoutOf(watched, cells[0] ?? [], before);
    for (const [index, row] of cells.entries()) {
      if (isFirst && index === 0 && watched.hasHeader) continue;
      takeRow(trimmed(row), startRow + index + 1, { layout, keeper });
    }
  }
  const { names, isIncomparable } = layout ?? layoutOf(watched, [], before);
  return { names, rows: keeper.rows, isIncomparable, parts: parts.length };
}

function takeRow(
  cells: readonly Cell[],
  number: number,
  { layout, keeper }: { layout: Layout; keeper: Keeper },
): void {
  const { keyIndex, moved } = layout;
  const key = keyIndex === undefined ? undefined : (cells[keyIndex] ?? '');
  if (cells.length === 0 || key === '') return;
  if (keeper.rows.length === MOST_ROWS)
    throw new PollError('TooLarge', `more than ${MOST_ROWS} rows are watched: give a smaller range`);
  const row: Row = {
    number,
    id: key === undefined ? '' : layout.idOf(key),
    content: digestOf(JSON.stringify(cells)),
  };
  if (moved) row.contentBefore = digestOf(JSON.stringify(trimmed(asBefore(cells, moved))));
  keeper.take(row, cells, layout.isAsBefore(row));
}

type Layout = {
  names: readonly string[] | undefined;
  keyIndex: number | undefined;
  /** Where the columns that were there before are now, if they were others. */
  moved: Moved | undefined;
  isIncomparable: boolean;
  idOf(key: Cell): string;
  isAsBefore(row: Row): boolean;
};

function layoutOf(
  { area, hasHeader, keyColumn }: Watched,
  firstRow: readonly Cell[],
  before: Before | undefined,
): Layout {
  const names = hasHeader ? namesOf(trimmed(firstRow), area.startColumn) : undefined;
  const keyIndex = keyColumn === undefined ? undefined : keyIndexOf(keyColumn, names, area);
  const isSame = !names || !before?.names || JSON.stringify(names) === JSON.stringify(before.names);
  const moved = isSame ? undefined : movedFrom(before.names ?? [], names);
  const areGone = !isSame && !moved;
  return {
    names,
    keyIndex,
    moved,
    isIncomparable: areGone && keyIndex === undefined,
    idOf: createIds(),
    isAsBefore: before ? comparerOf(before, { isKeyed: keyIndex !== undefined, areGone }) : () => true,
  };
}

/** Whether a row is as it was before, asked of one row after the other. `areGone`: nobody can say so of contents. */
function comparerOf(
  { rows }: Before,
  { isKeyed, areGone }: { isKeyed: boolean; areGone: boolean },
): (row: Row) => boolean {
  if (isKeyed) {
    const contents = new Map(rows.map(({ id, content }) => [id, content]));
    return (row) => {
      const content = contents.get(row.id);
      if (areGone && content !== undefined) row.contentBefore = content;
      return content === (row.contentBefore ?? row.content);
    };
  }
  if (areGone) return () => true;
  const counts = new Map<string, number>();
  for (const { content } of rows) counts.set(content, (counts.get(content) ?? 0) + 1);
  return (row) => {
    const content = row.contentBefore ?? row.content;
    const count = counts.get(content) ?? 0;
    counts.set(content, count - 1);
    return count > 0;
  };
}

/** The cells of each part, in order; a few are asked for before their turn. */
async function* inTurn(
  { book, sheet }: Watched,
  parts: readonly Area[],
): AsyncGenerator<{ cells: Cell[][]; startRow: number }> {
  const asked: Promise<Cell[][]>[] = [];
  for (const [index, { startRow }] of parts.entries()) {
    while (asked.length < AT_ONCE && index + asked.length < parts.length) {
      const part = parts[index + asked.length];
      if (!part) break;
      const cells = book.cells(sheet, part);
      // Whoever fails first is told of; the others are waited for by nobody.
      cells.catch(() => undefined);
      asked.push(cells);
    }
    const cells = await asked.shift();
    yield { cells: cells ?? [], startRow };
  }
}
