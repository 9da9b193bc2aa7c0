/** Rows as they are stored: what identifies a row, and whether it changed, in 18 bytes. */
import { hash } from 'node:crypto';
import type { Cell } from '../../contract/book.ts';

export type Row = {
  /** As the sheet numbers it, from 1. */
  number: number;
  /** A digest of the key, and of how many rows before it have the same one; `''` without keyColumn. */
  id: string;
  /** A digest of the cells. */
  content: string;
  /** What `content` would be if the columns were as they were before, where they are others now. */
  contentBefore?: string;
  /** The cells, where there is room to keep them. */
  cells?: readonly Cell[];
  /** Texts of `cells` were cut. */
  isCut?: boolean;
};

/** 72 bits: among 100,000 rows two are taken for one another once in some 10^12 polls. */
export const DIGEST_BYTES = 9;

export function digestOf(text: string): string {
  return hash('sha256', text, 'base64').slice(0, (DIGEST_BYTES / 3) * 4);
}

/** Without the empty cells at its end. */
export function trimmed(cells: readonly Cell[]): readonly Cell[] {
  const length = cells.findLastIndex((cell) => cell !== '') + 1;
  return length === cells.length ? cells : cells.slice(0, length);
}

/**
 * Says of each key, one row after the other, what identifies the row: rows of one key are distinguished by
 * their order. `before`: what it said of the rows before them.
 */
export function createIds(before: ReadonlySet<string>): (key: Cell) => string {
  const seen = new Map<string, number>();
  return (key) => {
    const digest = digestOf(String(key));
    let times = seen.get(digest) ?? 0;
    while (before.has(nthOf(digest, times))) times += 1;
    seen.set(digest, times + 1);
    return nthOf(digest, times);
  };
}

function nthOf(digest: string, times: number): string {
  return times === 0 ? digest : digestOf(`${times}:${digest}`);
}
