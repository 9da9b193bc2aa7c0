/**
 * The stored state of a spreadsheet trigger: the known rows, and either the pending changes or what was read
 * so far. Guarantees a bound: 22 bytes for each known row and 2 MiB of cells; 2.5 MiB of changes; 31 bytes
 * for each row that was read and 2 MiB of cells, less what compression saves.
 */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import * as z from 'zod';
import { areCells, areRows, type Cell } from '../../contract/book.ts';
import { bytesOf, decodeRows, encodeRows, headOf, type TableHead } from './rowTable.ts';
import type { Row } from './rows.ts';

export type PendingChange = {
  event: 'added' | 'updated' | 'removed';
  row: number;
  cells?: readonly Cell[];
  before?: readonly Cell[];
  isCut?: boolean;
};

/** What was read so far, from the beginning on. */
export type Begun = {
  names: readonly string[] | undefined;
  rows: readonly Row[];
};

export type State = {
  /** The names of the columns; undefined where the first row names none. */
  names?: readonly string[] | undefined;
  rows: readonly Row[];
  pending: readonly PendingChange[];
  /** The names that the columns had before the changes, where they are others now. */
  namesBefore?: readonly string[] | undefined;
  begun?: Begun | undefined;
};

/** Rows that can be remembered. */
export const MOST_ROWS = 100_000;
/** What may be kept. */
const KEPT_BYTES = 8 * 2 ** 20;

const cells = z.custom<Cell[]>(areCells);
const tableSchema = z.object({
  count: z.int().min(0).max(MOST_ROWS),
  isKeyed: z.boolean(),
  hasBefore: z.boolean().default(false),
});
const headSchema = tableSchema.extend({
  version: z.literal(1),
  names: z.array(z.string()).optional(),
  namesBefore: z.array(z.string()).optional(),
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
  begun: tableSchema
    .extend({
      names: z.array(z.string()).optional(),
      cells: z.array(cells.nullable()),
      /** The places of the rows whose cells are not whole. */
      cut: z.array(z.int()),
    })
    .optional(),
});
type Head = z.infer<typeof headSchema>;

const LENGTH_BYTES = 4;

/** `isSpare`: whether the cells of a row that was read so far may be left out. */
export async function encodeState(
  state: State,
  isSpare: (row: Row) => boolean = () => false,
): Promise<Buffer> {
  const bytes = await encode(state);
  if (bytes.length <= KEPT_BYTES || !state.begun) return bytes;
  const { begun } = state;
  const rows = begun.rows.map((row) => (isSpare(row) ? withoutCells(row) : row));
  return encode({ ...state, rows: state.rows.map(withoutCells), begun: { ...begun, rows } });
}

function withoutCells({ cells: _cells, isCut: _isCut, ...row }: Row): Row {
  return row;
}

async function encode({ names, namesBefore, rows, pending, begun }: State): Promise<Buffer> {
  const isWhole = rows.every((row) => row.cells !== undefined);
  const head = Buffer.from(
    JSON.stringify({
      version: 1,
      names,
      namesBefore,
      ...headOf(rows),
      cells: isWhole ? rows.map((row) => row.cells) : undefined,
      pending,
      begun: begun && {
        names: begun.names,
        ...headOf(begun.rows),
        cells: begun.rows.map((row) => row.cells ?? null),
        cut: begun.rows.flatMap(({ isCut }, index) => (isCut ? index : [])),
      },
    }),
  );
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  const parts = [length, head, encodeRows(rows), encodeRows(begun?.rows ?? [])];
  return promisify(deflateRaw)(Buffer.concat(parts), { level: 1 });
}

/** More than any memory has. */
const MOST_BYTES = 32 * 2 ** 20;

/**
 * What is remembered; its rows take ten times as much as their bytes, so they are made when they are asked
 * for.
 */
export type StoredState = Omit<State, 'rows' | 'begun'> & {
  rows(): Row[];
  begun(): Begun | undefined;
};

/** Undefined if the bytes are of another format, or damaged. */
export async function decodeState(bytes: Buffer): Promise<StoredState | undefined> {
  try {
    const all: Buffer = await promisify(inflateRaw)(bytes, { maxOutputLength: MOST_BYTES });
    const start = LENGTH_BYTES + all.readUInt32BE(0);
    const head = headSchema.parse(JSON.parse(all.toString('utf8', LENGTH_BYTES, start)));
    const end = start + bytesOf(head);
    if (all.length !== end + (head.begun ? bytesOf(head.begun) : 0)) return undefined;
    const { names, namesBefore, pending, begun } = head;
    return {
      names,
      namesBefore,
      pending,
      rows: () => rowsOf(all.subarray(start, end), head),
      begun: () => begun && begunOf(all.subarray(end), begun),
    };
  } catch {
    return undefined;
  }
}

function rowsOf(table: Buffer, head: TableHead & Pick<Head, 'cells'>): Row[] {
  const rows = decodeRows(table, head);
  for (const [index, row] of rows.entries()) {
    const own = head.cells?.[index];
    if (own) row.cells = own;
  }
  return rows;
}

function begunOf(table: Buffer, head: NonNullable<Head['begun']>): Begun {
  const rows = decodeRows(table, head);
  const cut = new Set(head.cut);
  for (const [index, row] of rows.entries()) {
    const own = head.cells[index];
    if (own) row.cells = own;
    if (cut.has(index)) row.isCut = true;
  }
  return { names: head.names, rows };
}
