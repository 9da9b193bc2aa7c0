/**
 * What the cells of Google Sheets hold, how they are shown and how they are written:
 * https://developers.google.com/workspace/sheets/api/reference/rest/v4/ValueRenderOption,
 *   …/DateTimeRenderOption, …/ValueInputOption
 */
import type { Area } from './a1Notation.ts';
import type { Cell, Rows } from './sheet.ts';

type Shown = { render: string; dates: string; isByColumn: boolean };

/** The values of the area: without the empty cells at the end of a row, and the empty rows at the end. */
export function render(area: Area, { render: option, dates, isByColumn }: Shown): unknown[][] {
  const { startRow, endRow, startColumn, endColumn } = area;
  const { rows } = area.sheet;
  const shown = rows
    .slice(startRow, endRow)
    .map((row) => row.slice(startColumn, endColumn).map((cell) => show(cell, option, dates)));
  if (!isByColumn)
    return trimmed(
      shown.map((row) => trimmed(row, isEmpty)),
      (row) => row.length === 0,
    );
  const width = Math.max(0, ...shown.map((row) => row.length));
  const columns = Array.from({ length: width }, (_, column) => shown.map((row) => row[column] ?? ''));
  return trimmed(
    columns.map((column) => trimmed(column, isEmpty)),
    (column) => column.length === 0,
  );
}

const isEmpty = (value: unknown): boolean => value === '';

function trimmed<T>(list: T[], isEmptyOne: (each: T) => boolean): T[] {
  return list.slice(0, list.findLastIndex((each) => !isEmptyOne(each)) + 1);
}

function show(cell: Cell | null | undefined, option: string, dates: string): string | number | boolean {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'object') return option === 'FORMATTED_VALUE' ? formatted(cell) : cell;
  if (option === 'FORMULA' && cell.formula !== undefined) return cell.formula;
  if (option === 'FORMATTED_VALUE' || (cell.isDate && dates === 'FORMATTED_STRING')) return cell.formatted;
  return cell.value;
}

function formatted(value: string | number | boolean): string {
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

type Given = readonly (readonly (Cell | null)[])[];

/**
 * Writes into the area from its first cell on; the cells that were given values, or undefined where they have
 * no room in it.
 */
export function update(area: Area, values: Given, isRaw: boolean): Area | undefined {
  const { sheet, startRow, startColumn } = area;
  const width = Math.max(1, ...values.map((row) => row.length));
  const isOne = area.endRow - startRow === 1 && area.endColumn - startColumn === 1;
  const written = {
    sheet,
    startRow,
    endRow: startRow + Math.max(1, values.length),
    startColumn,
    endColumn: startColumn + width,
  };
  // A range of one cell says where to begin, a larger one also where to end.
  if (!isOne && (written.endRow > area.endRow || written.endColumn > area.endColumn)) return undefined;
  for (const [index, row] of values.entries()) {
    const target = (sheet.rows[startRow + index] ??= []);
    for (const [column, cell] of row.entries())
      if (cell !== null) target[startColumn + column] = isRaw ? cell : entered(cell);
  }
  for (const [index, row] of sheet.rows.entries()) sheet.rows[index] = Array.from(row ?? [], orNull);
  sheet.rowCount = Math.max(sheet.rowCount, written.endRow);
  return written;
}

const orNull = (cell: Cell | null | undefined): Cell | null => cell ?? null;

/** Adds rows below the last that has anything in the columns of the area. */
export function append(
  area: Area,
  values: Given,
  { isRaw, isInserted }: { isRaw: boolean; isInserted: boolean },
): { table: Area | undefined; written: Area } {
  const { sheet, startColumn, endColumn } = area;
  const hasValue = (row: Rows[number]) =>
    row.slice(startColumn, endColumn).some((cell) => cell !== null && cell !== '');
  const first = sheet.rows.findIndex((row) => hasValue(row));
  const end = sheet.rows.findLastIndex((row) => hasValue(row)) + 1;
  const width = Math.max(1, ...sheet.rows.map((row) => row.slice(startColumn, endColumn).length));
  const table =
    end === 0
      ? undefined
      : { sheet, startRow: first, endRow: end, startColumn, endColumn: startColumn + width };
  const startRow = table ? end : area.startRow;
  if (isInserted) sheet.rows.splice(startRow, 0, ...values.map(() => []));
  const cell = { sheet, startRow, endRow: startRow + 1, startColumn, endColumn: startColumn + 1 };
  return { table, written: update(cell, values, isRaw) ?? cell };
}

/** As if somebody had typed it. */
function entered(cell: Cell): Cell {
  if (typeof cell !== 'string') return cell;
  if (cell.startsWith('=')) return { value: 0, formatted: '0', formula: cell };
  if (cell.startsWith("'")) return cell.slice(1);
  if (/^-?\d+(\.\d+)?$/.test(cell)) return Number(cell);
  if (/^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true';
  return cell;
}
