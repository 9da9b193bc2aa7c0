/**
 * Skill `update_row`: writes values into one row of a table in Google Sheets, found by its number or by the
 * value of a key column. Cells without a value stay as they are. Writing the same values again changes
 * nothing, so the step may be repeated.
 */
import * as z from 'zod';
import { toText } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import {
  openSheets,
  readValues,
  sizeOfSheet,
  titleOf,
  writeRow,
  type GivenCell,
  type Sheets,
  type WrittenRow,
} from '../providers/google/sheets.ts';
import { pagesOf, type Page } from './sheets/pages.ts';
import { cellsOf, row, rowRules, table, tableOf } from './sheets/parameters.ts';
import {
  columnNamed,
  columnOf,
  columnsOf,
  lettersOf,
  placeOf,
  rangeOf,
  type Area,
  type Column,
} from '../spreadsheet/table.ts';
import { exactAsText, textParameter, type SkillDefinition } from '../contract/skill.ts';

const parameters = z
  .strictObject({
    ...table,
    row: z
      .int('must be the number of a row')
      .min(1)
      .max(10_000_000)
      .optional()
      .describe('Number of the row, as the sheet shows it.'),
    keyColumn: textParameter(
      256,
      'In place of row: heading or letter of the column that identifies it.',
    ).optional(),
    key: exactAsText(
      z
        .union([z.string(), z.number(), z.boolean()], 'must be a text, a number, true or false')
        .refine((key) => key !== '', 'must not be empty')
        .optional(),
    )
      .optional()
      .describe('What that column holds in the row.'),
    ...row,
  })
  .refine(({ row, keyColumn }) => (row === undefined) !== (keyColumn === undefined), {
    path: ['row'],
    message: 'give either row or keyColumn',
  })
  .refine(({ keyColumn, key }) => (keyColumn === undefined) === (key === undefined), {
    path: ['key'],
    message: 'goes together with keyColumn: give both or none',
  });

type Parameters = z.infer<typeof parameters>;

export const updateRow: SkillDefinition<Parameters> = {
  name: 'update_row',
  description: 'Changes a row of a table in Google Sheets.',
  parameters,
  rules: rowRules,
  credentials: ['oauth2'],
  effect: 'AtLeastOnce',
  execute: update,
};

async function update(parameters: Parameters, context: StepContext, name?: string): Promise<StepResult> {
  const { values, input = 'Raw', header = true, keyColumn } = parameters;
  const { id, area, sheet: named } = tableOf(parameters);
  const sheets = await openSheets(id, context, name);
  const sheet = await titleOf(sheets, named);
  const isHeadNeeded = header && (keyColumn !== undefined || !Array.isArray(values));
  const head = isHeadNeeded
    ? await readValues(sheets, rangeOf(sheet, `${area.firstRow}:${area.firstRow}`))
    : [];
  const columns = columnsOf(head[0] ?? [], area);
  const cells = cellsOf(values, columns, area);
  const body = header ? { ...area, firstRow: area.firstRow + 1 } : area;
  const found = await find(sheets, parameters, { sheet, body, columns });
  const written = spanOf(cells, found.key && found.key.column - area.firstColumn);
  const letters = (index: number) => lettersOf(area.firstColumn + index);
  const range = rangeOf(sheet, `${letters(written.start)}${found.row}:${letters(written.end)}${found.row}`);
  const given = Array.from(
    { length: written.end - written.start + 1 },
    (_, at) => cells[written.start + at] ?? null,
  );
  const after = await writeRow(sheets, range, { row: given, input });
  // A key that is written itself says nothing.
  if (found.key && (cells[found.key.column - area.firstColumn] ?? null) === null)
    requireSame(found.key, after, found.row);
  return {
    output: {
      text_content: `Changed row ${found.row}${sheet === undefined ? '' : ` of ${sheet}`}.`,
      data_content: { spreadsheet_id: id, sheet: sheet ?? null, row: found.row, range },
    },
  };
}

type Key = { column: number; text: string };
type Found = { row: number; key?: Key };

async function find(
  sheets: Sheets,
  { row, keyColumn, key }: Parameters,
  { sheet, body, columns }: { sheet: string | undefined; body: Area; columns: readonly Column[] },
): Promise<Found> {
  const { firstRow, lastRow = Infinity } = body;
  if (row !== undefined) {
    if (row >= firstRow && row <= lastRow) return { row };
    throw new StepError('InvalidParameters', 'row: is outside the table, or is its header');
  }
  const column = keyColumnOf(keyColumn ?? '', columns);
  const text = toText(key);
  const rows: number[] = [];
  for await (const page of pagesOfColumn(sheets, sheet, column)) {
    for (const [index, [value = '']] of page.rows.entries()) {
      const number = page.firstRow + index;
      if (number >= firstRow && number <= lastRow && toText(value) === text) rows.push(number);
    }
  }
  const [first] = rows;
  if (first === undefined) throw new StepError('Refused', 'no row of the table has that key');
  if (rows.length === 1) return { row: first, key: { column, text } };
  throw new StepError('Refused', `more than one row has that key: ${rows.slice(0, 10).join(', ')}`);
}

/** In one, as a rule; a column that is too large for that in several. */
async function* pagesOfColumn(
  sheets: Sheets,
  sheet: string | undefined,
  column: number,
): AsyncGenerator<Page> {
  const letters = lettersOf(column);
  try {
    yield { firstRow: 1, rows: await readValues(sheets, rangeOf(sheet, `${letters}:${letters}`)) };
  } catch (error) {
    if (!(error instanceof StepError) || error.reason !== 'OutputTooLarge') throw error;
    const size = await sizeOfSheet(sheets, sheet === undefined ? {} : { title: sheet });
    const area = { firstRow: 1, lastRow: size.rowCount, firstColumn: column, lastColumn: column };
    yield* pagesOf(sheets, size, { area, atOnce: Infinity });
  }
}

/** A heading counts before a letter. */
function keyColumnOf(name: string, columns: readonly Column[]): number {
  const isHeading = columns.some((each) => each.name === name.trim());
  if (!isHeading && /^[A-Za-z]{1,3}$/.test(name)) return columnOf(name);
  return columnNamed(name, columns, 'keyColumn');
}

/**
 * From the first to the last cell that is given, and to that of the key: what it holds afterwards is told
 * then.
 */
function spanOf(cells: readonly GivenCell[], key: number | undefined): { start: number; end: number } {
  const given = cells.flatMap((cell, index) => (cell === null ? [] : [index]));
  if (given.length === 0)
    throw new StepError('InvalidParameters', 'values: nothing is to be written: all of them are null');
  const all = key === undefined || key < 0 ? given : [...given, key];
  return { start: Math.min(...all), end: Math.max(...all) };
}

/** Somebody may move rows between the search and the writing, which Google cannot do in one. */
function requireSame(key: Key, after: WrittenRow | undefined, row: number): void {
  const place = after && placeOf(after.range);
  const value = place && after.values[key.column - place.column];
  if (value === undefined || toText(value) === key.text) return;
  const message = `row ${row} has another key than a moment before: rows were moved while it was written, so poll whether the right one was changed`;
  throw new StepError('EffectUnknown', message);
}
