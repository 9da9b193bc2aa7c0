/**
 * A1 notation as Google Sheets reads and writes it:
 * https://developers.google.com/workspace/sheets/api/guides/concepts#cell
 */
import type { Sheet } from './sheet.ts';

/** Cells of a sheet, from 0; the ends are the first that do not belong to it. */
export type Area = {
  sheet: Sheet;
  startRow: number;
  endRow: number;
  startColumn: number;
  endColumn: number;
};

const CELL = /^\$?([A-Za-z]{1,3})?\$?([1-9]\d*)?$/;

/** What the range names, within what the sheet has; what the server says of one that names nothing. */
export function areaOf(range: string, sheets: readonly Sheet[]): Area | string {
  const { title, cells = '' } = split(range, sheets);
  const sheet = title === undefined ? sheets[0] : sheets.find((each) => each.title === title);
  const corners = sheet && cornersOf(cells);
  if (!corners) return `Unable to parse range: ${range}`;
  const { startRow = 0, startColumn = 0, endRow = Infinity, endColumn = Infinity } = corners;
  const { rowCount, columnCount } = sheet;
  if (startRow >= rowCount || startColumn >= columnCount)
    return `Range (${range}) exceeds grid limits. Max rows: ${rowCount}, max columns: ${columnCount}`;
  const ends = { endRow: Math.min(endRow, rowCount), endColumn: Math.min(endColumn, columnCount) };
  return { sheet, startRow, startColumn, ...ends };
}

/** Nothing is said of what is left out; undefined where it is no A1 notation. */
function cornersOf(cells: string): Partial<Omit<Area, 'sheet'>> | undefined {
  if (cells === '') return {};
  const [from, to = from, ...more] = cells.split(':').map((cell) => CELL.exec(cell));
  if (!from?.[0] || !to?.[0] || more.length > 0) return undefined;
  return {
    ...(from[2] && { startRow: Number(from[2]) - 1 }),
    ...(from[1] && { startColumn: columnOf(from[1]) }),
    ...(to[2] && { endRow: Number(to[2]) }),
    ...(to[1] && { endColumn: columnOf(to[1]) + 1 }),
  };
}

function split(range: string, sheets: readonly Sheet[]): { title?: string; cells?: string } {
  const [, quoted, bare, cells] = /^(?:'((?:[^']|'')+)'|([^'!]+))(?:!(.+))?$/.exec(range) ?? [];
  if (quoted !== undefined) return { title: quoted.replaceAll("''", "'"), ...(cells && { cells }) };
  if (bare === undefined) return { title: range };
  if (cells !== undefined) return { title: bare, cells };
  return sheets.some(({ title }) => title === bare) ? { title: bare } : { cells: bare };
}

/** From A, the first, which is 0. */
function columnOf(letters: string): number {
  let number = 0;
  for (const letter of letters.toUpperCase()) number = number * 26 + letter.charCodeAt(0) - 64;
  return number - 1;
}

function lettersOf(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest > 0 ? lettersOf(rest - 1) : '') + String.fromCharCode(65 + (column % 26));
}

/** Sheets quote titles that are not a plain word. */
function quotedTitle(title: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(title) ? title : `'${title.replaceAll("'", "''")}'`;
}

/** As the server writes it: `Sheet1!A1:C3`, and one cell alone as `Sheet1!A1`. */
export function a1({ sheet, startRow, endRow, startColumn, endColumn }: Area): string {
  const from = `${lettersOf(startColumn)}${startRow + 1}`;
  const to = `${lettersOf(endColumn - 1)}${endRow}`;
  return `${quotedTitle(sheet.title)}!${from === to ? from : `${from}:${to}`}`;
}
