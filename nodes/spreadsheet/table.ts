/**
 * Tables in sheets: their area, the names of their columns, and A1 notation
 * (https://developers.google.com/workspace/sheets/api/guides/concepts#cell). Rows count from 1, as sheets
 * number them, columns from 0. Pure.
 */
import { StepError } from '../../api/reasons.ts';

/** Where a table may lie; what is left out is unbounded. */
export type Area = { firstRow: number; lastRow?: number; firstColumn: number; lastColumn?: number };

const ID = /^[\w-]{1,200}$/;
/** As browsers show it, in a window of an organisation or of one of several accounts, too. */
const IN_URL =
  /^(?:https?:\/\/)?[^/?#\s]+\/(?:a\/[^/?#\s]+\/)?(?:spreadsheets|file)\/(?:u\/\d+\/)?d\/([\w-]{2,200})(?:[/?#]|$)/;
const IN_LINK = /^(?:https?:\/\/)?drive\.google\.com\/open\?(?:[^#\s]*&)?id=([\w-]{2,200})(?:[&#]|$)/;
const GID = /[?#&]gid=(\d{1,20})(?:[&#]|$)/;

/**
 * The id of a spreadsheet in a text that is one, or one of the URLs that it has, and the sheet that the URL
 * shows; undefined where it is none.
 */
export function spreadsheetIn(text: string): { id: string; gid?: string } | undefined {
  const name = text.trim();
  if (ID.test(name)) return { id: name };
  const [, id] = IN_URL.exec(name) ?? IN_LINK.exec(name) ?? [];
  const [, gid] = GID.exec(name) ?? [];
  return id === undefined ? undefined : { id, ...(gid !== undefined && { gid }) };
}

const TITLED = /^(?:'((?:[^']|'')+)'|([^'!]+))!(.+)$/;
const CELL = /^\$?([A-Za-z]{1,3})?\$?([1-9]\d{0,7})?$/;

/**
 * The cells that A1 notation names, such as `A3:F`, and the sheet if it names one; undefined where it is
 * none, or names no cell.
 */
export function parseRange(range: string): { title?: string; area: Area } | undefined {
  const [, quoted, bare, cells = range] = TITLED.exec(range) ?? [];
  const title = quoted?.replaceAll("''", "'") ?? bare;
  const area = areaOf(cells);
  return area && { ...(title !== undefined && { title }), area };
}

function areaOf(cells: string): Area | undefined {
  const [from, to, ...more] = cells.split(':').map(cornerOf);
  if (!from || more.length > 0 || (cells.includes(':') && !to)) return undefined;
  const { row: firstRow = 1, column: firstColumn = 0 } = from;
  // A single cell says where the table begins.
  const area: Area = { firstRow, firstColumn, ...(to && endsOf(to)) };
  const isEmpty = (area.lastRow ?? Infinity) < firstRow || (area.lastColumn ?? Infinity) < firstColumn;
  return isEmpty ? undefined : area;
}

type Corner = { row?: number; column?: number };

function cornerOf(text: string): Corner | undefined {
  const [, letters, row] = CELL.exec(text) ?? [];
  if (letters === undefined && row === undefined) return undefined;
  return {
    ...(row !== undefined && { row: Number(row) }),
    ...(letters !== undefined && { column: columnOf(letters) }),
  };
}

function endsOf({ row, column }: Corner): Pick<Area, 'lastRow' | 'lastColumn'> {
  return { ...(row !== undefined && { lastRow: row }), ...(column !== undefined && { lastColumn: column }) };
}

/** The number of a column by its letters. */
export function columnOf(letters: string): number {
  let number = 0;
  for (const letter of letters.toUpperCase()) number = number * 26 + letter.charCodeAt(0) - 64;
  return number - 1;
}

/** The letters of a column. */
export function lettersOf(column: number): string {
  const before = column < 26 ? '' : lettersOf(Math.floor(column / 26) - 1);
  return before + String.fromCharCode(65 + (column % 26));
}

/** The range of cells of a sheet; of the first one where none is named. */
export function rangeOf(sheet: string | undefined, cells: string): string {
  return sheet === undefined ? cells : `'${sheet.replaceAll("'", "''")}'!${cells}`;
}

/** Sheet, first row and first column of a range as Google writes it, such as `'My orders'!A12:D12`. */
export function placeOf(range: string): { sheet: string; row: number; column: number } | undefined {
  const [, quoted, bare, letters = '', row] =
    /^(?:'((?:[^']|'')+)'|([^'!]+))!([A-Z]{1,3})(\d+)(?::|$)/.exec(range) ?? [];
  if (row === undefined) return undefined;
  return { sheet: quoted?.replaceAll("''", "'") ?? bare ?? '', row: Number(row), column: columnOf(letters) };
}

/** A column of a table. */
export type Column = { name: string; column: number };

/** What stands in the first row of a table: the cells of the area, of a whole row of the sheet. */
export function columnsOf(
  row: readonly (string | number | boolean)[],
  { firstColumn, lastColumn = Infinity }: Area,
): Column[] {
  return row.flatMap((value, column) => {
    const name = String(value).trim();
    return name === '' || column < firstColumn || column > lastColumn ? [] : [{ name, column }];
  });
}

/**
 * The column of that name.
 * @throws StepError `InvalidParameters` when there is none, or more than one
 */
export function columnNamed(name: string, columns: readonly Column[], parameter: string): number {
  const found = columns.filter((each) => each.name === name.trim());
  const [first] = found;
  if (first && found.length === 1) return first.column;
  const names = columns.slice(0, 30).map((each) => JSON.stringify(each.name.slice(0, 100)));
  const problem = first
    ? `the sheet has several columns with that heading: rename them`
    : columns.length === 0
      ? 'the sheet has no headings in the first row of the table: write them, or set header to false'
      : `the sheet has no such heading; it has ${names.join(', ')}`;
  throw new StepError('InvalidParameters', `${parameter}: ${problem}`);
}
