/**
 * Skill `append_row`: adds one row to a table in Google Sheets. Google has no idempotency key, so a row that
 * may have been written is reported as in doubt.
 */
import * as z from 'zod';
import { StepError } from '../../api/reasons.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import { appendRowAt, openSheets, readValues, titleOf } from '../providers/google/sheets.ts';
import { cellsOf, row, rowRules, table, tableOf } from './sheets/parameters.ts';
import { columnsOf, lettersOf, placeOf, rangeOf, type Area, type Column } from '../spreadsheet/table.ts';
import type { SkillDefinition } from '../contract/skill.ts';

const parameters = z.strictObject({ ...table, ...row });

type Parameters = z.infer<typeof parameters>;

export const appendRow: SkillDefinition<Parameters> = {
  name: 'append_row',
  description: 'Adds a row to a table in Google Sheets.',
  parameters,
  rules: rowRules,
  credentials: ['oauth2'],
  effect: 'AtMostOnce',
  execute: append,
};

async function append(parameters: Parameters, context: StepContext, name?: string): Promise<StepResult> {
  const { values, input = 'Raw', header = true } = parameters;
  const { id, area, sheet: named } = tableOf(parameters);
  const sheets = await openSheets(id, context, name);
  const sheet = await titleOf(sheets, named);
  const { firstRow, firstColumn } = area;
  const head = header ? await readValues(sheets, rangeOf(sheet, `${firstRow}:${firstRow}`)) : [];
  const columns = columnsOf(head[0] ?? [], area);
  if (header) requireFirst(columns, area, !Array.isArray(values));
  const cells = cellsOf(values, columns, area);
  const corner = rangeOf(sheet, `${lettersOf(firstColumn)}${firstRow}`);
  const range = await appendRowAt(sheets, corner, { row: cells, input });
  return { output: outputOf(id, range, firstColumn) };
}

/** Google takes the table that has the cell; an empty cell lies in none. */
function requireFirst(columns: readonly Column[], { firstColumn }: Area, isNamed: boolean): void {
  const isBlank = columns.length === 0;
  if (columns[0]?.column === firstColumn || (isBlank && !isNamed)) return;
  const problem = isBlank
    ? 'the first row of the table has no headings'
    : 'the first column of the table has no heading';
  const remedy = isNamed
    ? 'write it, or say with range where the table begins'
    : 'write it, or set header to false';
  throw new StepError('InvalidParameters', `values: ${problem}: ${remedy}`);
}

function outputOf(id: string, range: string, firstColumn: number): StepResult['output'] {
  const place = placeOf(range);
  if (place && place.column !== firstColumn) {
    const message = `the row was written to ${range}, since the table begins in another column than range says: correct range and that row`;
    throw new StepError('InvalidAnswer', message, { retryable: false });
  }
  const { sheet = null, row = null } = place ?? {};
  const text = place ? `Added row ${row} to ${sheet}.` : 'Added a row.';
  return { text_content: text, data_content: { spreadsheet_id: id, sheet, row, range } };
}
