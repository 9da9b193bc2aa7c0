/**
 * Reads the rows of a sheet in parts. Guarantees that only a few parts and the stored state are in memory,
 * that one large sheet is read at a time, and that a poll which takes long or fails returns what it read, so
 * that the next one continues there.
 */
import { PollError } from '../../contract/poller.ts';
import type { Book, Cell, Sheet, Area } from '../../contract/book.ts';
import { asBefore, keyIndexOf, movesFrom, namesOf, type Moved } from '../../spreadsheet/layout.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import { MOST_ROWS, type Begun, type State } from './state.ts';
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
export type Before = Pick<State, 'names' | 'rows'>;

export type Reading = {
  names: readonly string[] | undefined;
  rows: Row[];
  /** Columns are gone and nothing identifies rows, so that nobody can say what happened to them. */
  isIncomparable: boolean;
  /** The row, counted from 0, from which the next poll continues; left out where all were read. */
  next?: number;
  /** Whether the cells of the row are only kept as there is room for those of all. */
  isSpare(row: Row): boolean;
};

const MOST_CELLS = 5_000_000;

/**
 * What is asked for at a time.
 * @throws PollError `TooLarge`
 */
export function partsOf({ book, area }: Pick<Watched, 'book' | 'area'>): Area[] {
  const { startRow, endRow, startColumn, endColumn } = area;
  const width = Math.max(1, endColumn - startColumn);
  if ((endRow - startRow) * width > MOST_CELLS)
    throw new PollError(
      'TooLarge',
      `more than ${MOST_CELLS / 1e6} million cells are watched, empty ones too: give a smaller range, or remove empty rows and columns`,
    );
  const rows = Math.max(1, Math.floor(book.partCells / width));
  const parts: Area[] = [];
  for (let row = startRow; row < endRow; row += rows)
    parts.push({ startRow: row, endRow: Math.min(row + rows, endRow), startColumn, endColumn });
  return parts;
}

type Asked = {
  before: Before | undefined;
  /** What polls before this one read of it, up to that row. */
  begun?: (Begun & { next: number }) | undefined;
  /** Aborted when the poll is to end with what it has. */
  enough: AbortSignal;
};

/**
 * What the rows are now. Their cells are kept where there is room for those of all rows; else those of the
 * first rows that are not as they were.
 * @throws PollError
 */
export async function readRows(watched: Watched, { before, begun, enough }: Asked): Promise<Reading> {
  const keeper = createKeeper();
  let layout = begun && layoutOf(watched, begun.names, before, begun.rows);
  for (const row of begun?.rows ?? []) keeper.takeAgain(row, layout?.isAsBefore(row) === true);
  const from = begun ? { ...watched.area, startRow: begun.next } : watched.area;
  let next = from.startRow;
  for await (const { cells, area } of inOrder(watched, partsOf({ ...watched, area: from }), enough)) {
    const isFirst = layout === undefined;
    layout ??= layoutOf(watched, headerOf(watched, cells[0]), before, []);
    for (const [index, row] of cells.entries()) {
      if (isFirst && index === 0 && watched.hasHeader) continue;
      takeRow(trimmed(row), area.startRow + index + 1, { layout, keeper });
    }
    next = area.endRow;
  }
  const { names, isIncomparable } = layout ?? layoutOf(watched, headerOf(watched), before, []);
  const isWhole = next >= watched.area.endRow;
  const isSpare = (row: Row) => keeper.isSpare(row);
  return { names, rows: keeper.rows, isIncomparable, ...(!isWhole && { next }), isSpare };
}

function headerOf({ hasHeader, area }: Watched, firstRow: readonly Cell[] = []): string[] | undefined {
  return hasHeader ? namesOf(trimmed(firstRow), area.startColumn) : undefined;
}

function takeRow(
  cells: readonly Cell[],
  number: number,
  { layout, keeper }: { layout: Layout; keeper: Keeper },
): void {
  const { keyIndex, contentBefore } = layout;
  const key = keyIndex === undefined ? undefined : (cells[keyIndex] ?? '');
  if (cells.length === 0 || key === '') return;
  if (keeper.rows.length === MOST_ROWS)
    throw new PollError('TooLarge', `more than ${MOST_ROWS} rows are watched: give a smaller range`);
  const row: Row = {
    number,
    id: key === undefined ? '' : layout.idOf(key),
    content: digestOf(JSON.stringify(cells)),
  };
  if (contentBefore) row.contentBefore = contentBefore(cells);
  keeper.take(row, cells, layout.isAsBefore(row));
}

type Layout = {
  names: readonly string[] | undefined;
  keyIndex: number | undefined;
  /** A digest of what a row would be if the columns were as they were before, where they are others now. */
  contentBefore: ((cells: readonly Cell[]) => string) | undefined;
  isIncomparable: boolean;
  idOf(key: Cell): string;
  isAsBefore(row: Row): boolean;
};

/** `rows`: those that were read before. */
function layoutOf(
  { area, keyColumn }: Watched,
  names: readonly string[] | undefined,
  before: Before | undefined,
  rows: readonly Row[],
): Layout {
  const keyIndex = keyColumn === undefined ? undefined : keyIndexOf(keyColumn, names, area, before?.names);
  const isSame = !names || !before?.names || JSON.stringify(names) === JSON.stringify(before.names);
  const moves = isSame ? [] : movesFrom(before.names ?? [], names, area.startColumn);
  const areGone = !isSame && moves.length === 0;
  return {
    names,
    keyIndex,
    contentBefore: before && moves.length > 0 ? contentsBefore(before, moves) : undefined,
    isIncomparable: areGone && keyIndex === undefined,
    idOf: createIds(new Set(rows.map(({ id }) => id))),
    isAsBefore: before ? comparerOf(before, { isKeyed: keyIndex !== undefined, areGone }) : () => true,
  };
}

/** Where the columns may have come to several places, it is that of which there was such a row. */
function contentsBefore({ rows }: Before, moves: readonly Moved[]): (cells: readonly Cell[]) => string {
  const known = new Set(moves.length > 1 ? rows.map(({ content }) => content) : []);
  return (cells) => {
    const contents = moves.map((moved) => digestOf(JSON.stringify(trimmed(asBefore(cells, moved)))));
    return contents.find((content) => known.has(content)) ?? contents[0] ?? '';
  };
}

/**
 * Whether a row is as it was before, asked of one row after the other. `areGone`: nobody can say so of
 * contents.
 */
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

type Part = { cells: Cell[][]; area: Area };

/**
 * The cells of each part, in order; a few are asked for before their turn. Once there was one, a failure ends
 * them, and so does `enough`: the next poll asks again for what did not come.
 */
async function* inOrder(
  { book, sheet }: Watched,
  parts: readonly Area[],
  enough: AbortSignal,
): AsyncGenerator<Part> {
  const asked: Promise<Part>[] = [];
  let next = 0;
  for (let taken = 0; taken < parts.length && !(taken > 0 && enough.aborted); taken += 1) {
    while (asked.length < (enough.aborted ? 1 : book.atOnce)) {
      const area = parts[next];
      if (!area) break;
      const part = book.cells(sheet, area).then((cells) => ({ cells, area }));
      // Whoever fails first is told of; the others are waited for by nobody.
      part.catch(() => undefined);
      asked.push(part);
      next += 1;
    }
    const part = asked.shift();
    const found = taken === 0 ? await part : part && (await unlessEnough(part, enough));
    if (!found) return;
    yield found;
  }
}

/** Undefined where it failed, or did not come in time. */
function unlessEnough<T>(work: Promise<T>, enough: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve) => {
    const leave = () => resolve(undefined);
    enough.addEventListener('abort', leave, { once: true });
    void work.then(resolve, leave).finally(() => enough.removeEventListener('abort', leave));
  });
}
