/**
 * Rows as bytes: number, digest of the content, and, if there are any, digests of the key and of the content
 * in the previous columns.
 */
import { DIGEST_BYTES, type Row } from './rows.ts';

/** Which digests the rows have. */
export type TableHead = { count: number; isKeyed: boolean; hasBefore: boolean };

const NUMBER_BYTES = 4;
/** Of a row that has none. */
const NO_DIGEST = Buffer.alloc(DIGEST_BYTES).toString('base64');

export function headOf(rows: readonly Row[]): TableHead {
  return {
    count: rows.length,
    isKeyed: rows.some(({ id }) => id !== ''),
    hasBefore: rows.some(({ contentBefore }) => contentBefore !== undefined),
  };
}

/** How many bytes the table of such rows has. */
export function bytesOf({ count, isKeyed, hasBefore }: TableHead): number {
  return count * (NUMBER_BYTES + DIGEST_BYTES * (1 + Number(isKeyed) + Number(hasBefore)));
}

export function encodeRows(rows: readonly Row[]): Buffer {
  const { isKeyed, hasBefore } = headOf(rows);
  const numbers = Buffer.alloc(rows.length * NUMBER_BYTES);
  for (const [index, { number }] of rows.entries()) numbers.writeUInt32BE(number, index * NUMBER_BYTES);
  const parts = [numbers, digests(rows, ({ content }) => content)];
  if (isKeyed) parts.push(digests(rows, ({ id }) => id));
  if (hasBefore) parts.push(digests(rows, ({ contentBefore }) => contentBefore ?? NO_DIGEST));
  return Buffer.concat(parts);
}

function digests(rows: readonly Row[], of: (row: Row) => string): Buffer {
  const bytes = Buffer.alloc(rows.length * DIGEST_BYTES);
  for (const [index, row] of rows.entries()) bytes.write(of(row), index * DIGEST_BYTES, 'base64');
  return bytes;
}

/** The rows of a table of that many bytes, without their cells. */
export function decodeRows(table: Buffer, { count, isKeyed, hasBefore }: TableHead): Row[] {
  const contents = count * NUMBER_BYTES;
  const ids = contents + count * DIGEST_BYTES;
  const befores = ids + (isKeyed ? count * DIGEST_BYTES : 0);
  const digestAt = (start: number, index: number) =>
    table.toString('base64', start + index * DIGEST_BYTES, start + (index + 1) * DIGEST_BYTES);
  return Array.from({ length: count }, (_, index): Row => {
    const row: Row = {
      number: table.readUInt32BE(index * NUMBER_BYTES),
      id: isKeyed ? digestAt(ids, index) : '',
      content: digestAt(contents, index),
    };
    const before = hasBefore ? digestAt(befores, index) : NO_DIGEST;
    if (before !== NO_DIGEST) row.contentBefore = before;
    return row;
  });
}
