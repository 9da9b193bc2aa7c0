/** The contract of spreadsheets for triggers. */
import type { Wire, CredentialAccess } from './node.ts';

/** What a cell shows; `''` where it is empty. */
export type Cell = string | number | boolean;

/**
 * Whether these are rows of cells. Copies nothing, unlike a schema: there may be a hundred thousand rows.
 */
export function areRows(value: unknown): boolean {
  return Array.isArray(value) && value.every(areCells);
}

/** Whether this is a row of cells. */
export function areCells(row: unknown): boolean {
  return Array.isArray(row) && row.every((cell) => CELLS.has(typeof cell));
}

const CELLS: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);

/**
 * Cells of a sheet, counted from 0; the ends are the first that do not belong to it, and `Infinity` where
 * nothing is said.
 */
export type Area = { startRow: number; endRow: number; startColumn: number; endColumn: number };

/** A sheet by its title or by its number in URLs; neither: the first one. */
export type SheetName = { title?: string; gid?: string };

export type Sheet = {
  /** Stays the same when the sheet gets another title. */
  id: string;
  title: string;
  rowCount: number;
  columnCount: number;
};

export type Book = {
  /** Cells of a part that is read at a time: some 1 MiB as a rule. */
  partCells: number;
  /** Parts that are asked for at the same time. */
  atOnce: number;
  /** For how long cells may come as they were before, although the version is another one already. */
  lagMs: number;
  /**
   * What it is named, and a version, which is another one whenever anything of the spreadsheet was changed.
   * Costs little.
   */
  state(): Promise<{ id: string; version: string }>;
  sheet(name: SheetName): Promise<Sheet>;
  /**
   * The cells of an area within what the sheet has, row by row; what is empty at the end of a row, and the
   * rows at the end, may be left out.
   */
  cells(sheet: Sheet, area: Area): Promise<Cell[][]>;
};

/**
 * Opens the spreadsheet that the text names, with the number of the sheet that its URL shows. Throws
 * PollError, StepError.
 */
export type OpenBook = (
  credential: CredentialAccess,
  spreadsheetId: string,
  wire: Wire,
) => { book: Book; gid?: string | undefined };
