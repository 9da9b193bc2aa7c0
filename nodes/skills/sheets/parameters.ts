/** The parameters that the spreadsheet skills share, and the conversion of values to cells. */
import * as z from 'zod';
import { toText } from '../../../api/expression/evaluate.ts';
import { StepError } from '../../../api/reasons.ts';
import { plainOf } from '../../../api/expression/sourced.ts';
import { destination, writtenByAuthor, textParameter, type ParameterRule } from '../../contract/skill.ts';
import type { GivenCell } from '../../providers/google/sheets.ts';
import { rowValues } from './formula.ts';
import { columnNamed, parseRange, spreadsheetIn, type Area, type Column } from '../../spreadsheet/table.ts';
import type { SheetName } from '../../contract/book.ts';

/** What a cell may hold (https://support.google.com/drive/answer/37603). */
const CELL_LIMIT = 50_000;
const MOST_VALUES = 1_000;

/** Which table it is. */
export const table = {
  spreadsheetId: textParameter(2_048, 'ID or URL of the spreadsheet.').refine(
    (text) => spreadsheetIn(text) !== undefined,
    'must be the id of a spreadsheet, or its URL',
  ),
  sheet: textParameter(
    256,
    'Name of the sheet. Default: the one that range names, or the URL; else the first one.',
  )
    .refine((name) => name !== '', 'must not be empty')
    .optional(),
  range: textParameter(
    256,
    'The area of the table in the sheet, in A1 notation such as A3:F; a single cell is its first cell. Default: the whole sheet.',
  )
    .refine((text) => parseRange(text) !== undefined, 'must be cells in A1 notation, such as A3:F')
    .optional(),
  header: z
    .boolean('must be true or false')
    .optional()
    .describe(
      'Whether the first row of the table names its columns. With false it is a row like the others, and values are lists. Default true.',
    ),
};

/** Where the author wrote a part of the range, what a reference gives names no sheet. */
const range: ParameterRule = {
  compose: (given) => {
    for (const part of given.kind === 'text' ? given.parts : []) {
      if (typeof part === 'string' || !/[!']/.test(toText(part.value))) continue;
      const problem = `${part.reference} gave a text with ! or ', which names a sheet: name it with sheet`;
      throw new StepError('InvalidParameters', problem);
    }
    return plainOf(given);
  },
};

/** The rules of the parameters that say which table it is. */
export const tableRules = { spreadsheetId: destination, range };

/** What is written. */
export const row = {
  values: z
    .union(
      [z.record(z.string(), z.unknown()), z.array(z.unknown()).min(1)],
      'must be an object of headings and values, or a list of values',
    )
    .refine((values) => Object.keys(values).length > 0, 'must hold a value')
    .refine((values) => Object.keys(values).length <= MOST_VALUES, `may have at most ${MOST_VALUES} values`)
    .describe(
      'The values by heading, or as a list from the first column of the table on. null leaves a cell as it is, "" empties it; objects and lists are written as JSON.',
    ),
  input: z
    .enum(['Raw', 'UserEntered'], 'must be Raw or UserEntered')
    .optional()
    .describe(
      'Raw: texts are stored as they are. UserEntered: as if a person typed them, so that dates, numbers and formulas in texts become such; what a reference gives becomes no formula. Default Raw.',
    ),
};

/** The rules of the parameters that are written. */
export const rowRules = {
  ...tableRules,
  values: rowValues,
  input: writtenByAuthor,
};

export type TableParameters = {
  spreadsheetId: string;
  sheet?: string | undefined;
  range?: string | undefined;
  header?: boolean | undefined;
};

const WHOLE: Area = { firstRow: 1, firstColumn: 0 };

export type RowValues = Record<string, unknown> | unknown[];

export type Table = { id: string; sheet: SheetName; area: Area };

/**
 * Where the table lies that checked parameters name.
 * @throws StepError `InvalidParameters` when range names another sheet than sheet does
 */
export function tableOf({ spreadsheetId, sheet, range }: TableParameters): Table {
  const { title = sheet, area } = (range === undefined ? undefined : parseRange(range)) ?? { area: WHOLE };
  if (sheet !== undefined && title !== sheet)
    throw new StepError('InvalidParameters', 'range: names another sheet than sheet does');
  const { id = '', gid } = spreadsheetIn(spreadsheetId) ?? {};
  const name = {
    ...(title !== undefined && { title }),
    ...(title === undefined && gid !== undefined && { gid }),
  };
  return { id, sheet: name, area };
}

/**
 * The cells of a row from the first column of the table on; null where none is given.
 * @throws StepError `InvalidParameters`
 */
export function cellsOf(values: RowValues, columns: readonly Column[], area: Area): GivenCell[] {
  const cells: GivenCell[] = [];
  for (const [name, value] of Object.entries(values)) {
    const place = `values${Array.isArray(values) ? `[${name}]` : `[${JSON.stringify(name.slice(0, 100))}]`}`;
    const index = Array.isArray(values) ? Number(name) : columnNamed(name, columns, place) - area.firstColumn;
    if (index + area.firstColumn > (area.lastColumn ?? Infinity))
      throw new StepError('InvalidParameters', `${place}: is outside the range`);
    cells[index] = cellOf(value, place);
  }
  return Array.from(cells, (cell) => cell ?? null);
}

function cellOf(value: unknown, place: string): GivenCell {
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean')
    return value ?? null;
  const text = toText(value);
  if (text.length <= CELL_LIMIT) return text;
  throw new StepError('InvalidParameters', `${place}: may have at most ${CELL_LIMIT} characters`);
}
