/**
 * What a trigger remembers of a sheet: what its rows were, and the changes of them that have not started runs yet. Guarantees that it
 * is never larger than what may be kept: 22 bytes a row, 2 MiB of cells, 2.5 MiB of changes, less what compression saves.
 */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import * as z from 'zod';
import { areCells, areRows, type Cell } from './book.ts';
import { DIGEST_BYTES, type Row } from './rows.ts';

export type PendingChange = {
  event: 'added' | 'updated' | 'removed';
  row: number;
  cells?: readonly Cell[];
  before?: readonly Cell[];
  isCut?: boolean;
};

export type Memory = {
  /** The names of the columns; undefined where the first row names none. */
  names?: readonly string[] | undefined;
  rows: readonly Row[];
  pending: readonly PendingChange[];
  /** The names that the columns had before the changes, where they are others now. */
  namesBefore?: readonly string[] | undefined;
};

/** Rows that can be remembered. */
export const MOST_ROWS = 100_000;

const cells = z.custom<Cell[]>(areCells);
const headSchema = z.object({
  version: z.literal(1),
  names: z.array(z.string()).optional(),
  namesBefore: z.array(z.string()).optional(),
  count: z.int().min(0).max(MOST_ROWS),
  isKeyed: z.boolean(),
  cells: z.custom<Cell[][]>(areRows).optional(),
  pending: z.array(
    z.object({
      event: z.enum(['added', 'updated', 'removed']),
      row: z.number(),
      cells: cells.optional(),
      before: cells.optional(),
      isCut: z.boolean().optional(),
    }),
  ),
});

const NUMBER_BYTES = 4;

export async function encodeMemory(memory: Memory): Promise<Buffer> {
  const { names, namesBefore, rows, pending } = memory;
  const isKeyed = rows.some(({ id }) => id !== '');
  const isWhole = rows.every((row) => row.cells !== undefined);
  const head = Buffer.from(
    JSON.stringify({
      version: 1,
      names,
      namesBefore,
      count: rows.length,
      isKeyed,
      cells: isWhole ? rows.map((row) => row.cells) : undefined,
      pending,
    }),
  );
  const length = Buffer.alloc(NUMBER_BYTES);
  length.writeUInt32BE(head.length);
  const numbers = Buffer.alloc(rows.length * NUMBER_BYTES);
  for (const [index, { number }] of rows.entries()) numbers.writeUInt32BE(number, index * NUMBER_BYTES);
  const parts = [length, head, numbers, digests(rows, ({ content }) => content)];
  if (isKeyed) parts.push(digests(rows, ({ id }) => id));
  return promisify(deflateRaw)(Buffer.concat(parts), { level: 1 });
}

function digests(rows: readonly Row[], of: (row: Row) => string): Buffer {
  const bytes = Buffer.alloc(rows.length * DIGEST_BYTES);
  for (const [index, row] of rows.entries()) bytes.write(of(row), index * DIGEST_BYTES, 'base64');
  return bytes;
}

/** More than any memory has. */
const MOST_BYTES = 32 * 2 ** 20;

/** What is remembered; its rows take ten times as much as their bytes, so they are made when they are asked for. */
export type Remembered = Omit<Memory, 'rows'> & { rows(): Row[] };

/** Undefined where the bytes are none of ours, or were damaged. */
export async function decodeMemory(bytes: Buffer): Promise<Remembered | undefined> {
  try {
    const all: Buffer = await promisify(inflateRaw)(bytes, { maxOutputLength: MOST_BYTES });
    const start = NUMBER_BYTES + all.readUInt32BE(0);
    const {
      version: _version,
      cells,
      count,
      isKeyed,
      ...rest
    } = headSchema.parse(JSON.parse(all.toString('utf8', NUMBER_BYTES, start)));
    const table = all.subarray(start);
    if (table.length !== count * (NUMBER_BYTES + DIGEST_BYTES * (isKeyed ? 2 : 1))) return undefined;
    return { ...rest, rows: () => rowsOf(table, { count, isKeyed, cells }) };
  } catch {
    return undefined;
  }
}

type Head = { count: number; isKeyed: boolean; cells?: Cell[][] | undefined };

function rowsOf(table: Buffer, { count, isKeyed, cells }: Head): Row[] {
  const contents = count * NUMBER_BYTES;
  const ids = contents + count * DIGEST_BYTES;
  const digestAt = (start: number, index: number) =>
    table.toString('base64', start + index * DIGEST_BYTES, start + (index + 1) * DIGEST_BYTES);
  return Array.from({ length: count }, (_, index): Row => {
    const row = cells?.[index];
    return {
      number: table.readUInt32BE(index * NUMBER_BYTES),
      id: isKeyed ? digestAt(ids, index) : '',
      content: digestAt(contents, index),
      ...(row && { cells: row }),
    };
  });
}
