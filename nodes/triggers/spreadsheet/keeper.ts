/**
 * Collects rows, and keeps the cells of as many as there is room for: of all rows, or else of the first ones
 * that changed.
 */
import type { Cell } from '../../contract/book.ts';
import type { Row } from './rows.ts';

export type Keeper = {
  readonly rows: Row[];
  take(row: Row, cells: readonly Cell[], isAsBefore: boolean): void;
  /** A row that another keeper gathered before, with the cells that it kept. */
  takeAgain(row: Row, isAsBefore: boolean): void;
  /** Whether the row keeps its cells only as there is room for those of all. */
  isSpare(row: Row): boolean;
};

/** What the cells of all rows, and what those of rows that are not as they were, may have as JSON. */
const KEPT_BYTES = 2 * 2 ** 20;
/** Of one row. */
const ROW_BYTES = 160 * 1024;

export function createKeeper(): Keeper {
  const rows: Row[] = [];
  /** Those that keep their cells only if there is room for those of all. */
  const spare = new Set<Row>();
  const room = { all: KEPT_BYTES, changed: KEPT_BYTES };
  return {
    rows,
    take: (row, cells, isAsBefore) => {
      rows.push(row);
      if (room.all < 0 && (isAsBefore || room.changed < 0)) return;
      const kept = cut(cells, ROW_BYTES);
      const bytes = sizeOf(kept);
      room.all -= bytes;
      if (!isAsBefore) room.changed -= bytes;
      if (room.all < 0) {
        for (const each of spare) delete each.cells;
        spare.clear();
        if (isAsBefore || room.changed < 0) return;
      } else if (isAsBefore) spare.add(row);
      row.cells = kept;
      if (kept !== cells) row.isCut = true;
    },
    takeAgain: (row, isAsBefore) => {
      rows.push(row);
      const bytes = row.cells ? sizeOf(row.cells) : Infinity;
      room.all -= bytes;
      if (!isAsBefore) room.changed -= bytes;
      else if (row.cells) spare.add(row);
    },
    isSpare: (row) => spare.has(row),
  };
}

export function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const LONGEST = 32_768;
const SHORTEST = 8;

/**
 * The cells, or as much of their texts, and where that is not enough as many of them, as have no more than so
 * many bytes as JSON.
 */
export function cut(cells: readonly Cell[], bytes: number): readonly Cell[] {
  if (sizeOf(cells) <= bytes) return cells;
  for (let length = LONGEST; length >= SHORTEST; length /= 2) {
    const shorter = cells.map((cell) => (typeof cell === 'string' ? beginning(cell, length) : cell));
    if (sizeOf(shorter) <= bytes) return shorter;
  }
  return cut(cells.slice(0, Math.floor(cells.length / 2)), bytes);
}

/** No character is cut in two. */
function beginning(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}
