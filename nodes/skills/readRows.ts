/**
 * Skill `read_rows`: reads rows of a table in Google Sheets by the headings of its columns. Guarantees that
 * one page at a time is in memory, and that the output is within its limit: `more` tells that there are
 * further rows.
 */
import * as z from 'zod';
import { OUTPUT_LIMIT, toText } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import type { Cell } from '../contract/book.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import { named, namesOf, type Values } from '../spreadsheet/layout.ts';
import {
  openSheets,
  readValues,
  sizeOfSheet,
  type Sheets,
  type SheetSize,
} from '../providers/google/sheets.ts';
import { pagesOf, type Bounded, type Page } from './sheets/pages.ts';
import { table, tableOf, tableRules } from './sheets/parameters.ts';
import { columnNamed, rangeOf, type Area, type Column } from '../spreadsheet/table.ts';
import { exactAsText, type SkillDefinition } from '../contract/skill.ts';

const ROWS = { default: 100, most: 10_000 } as const;
/** What the rows of an output may have as JSON; the rest of the room is for what stands around them. */
const ROOM = OUTPUT_LIMIT - 4_096;

const scalar = exactAsText(
  z.union([z.string(), z.number(), z.boolean()], 'must be a text, a number, true or false'),
);

const parameters = z.strictObject({
  ...table,
  where: z
    .record(z.string(), scalar, 'must be an object of headings and values')
    .optional()
    .describe(
      'Only rows that hold these values, by heading. Texts and numbers are compared as they are written.',
    ),
  after: z
    .int('must be the number of a row')
    .min(0)
    .max(10_000_000)
    .optional()
    .describe('Only rows below the row of this number: to go on where an answer ended that had more.'),
  limit: z
    .int('must be a whole number')
    .min(1)
    .max(ROWS.most)
    .default(ROWS.default)
    .describe(`How many rows to give. Default ${ROWS.default}, at most ${ROWS.most}.`),
});

type Parameters = z.infer<typeof parameters>;

export const readRows: SkillDefinition<Parameters> = {
  name: 'read_rows',
  description: 'Reads rows of a table in Google Sheets.',
  parameters,
  rules: tableRules,
  credentials: ['oauth2'],
  isSource: true,
  // It changes nothing.
  effect: 'AtLeastOnce',
  execute: read,
};

type Row = { row: number; values: Values };

async function read(parameters: Parameters, context: StepContext, name?: string): Promise<StepResult> {
  const { header = true, after = 0, limit } = parameters;
  const { id, area, sheet } = tableOf(parameters);
  const sheets = await openSheets(id, context, name);
  const size = await sizeOfSheet(sheets, sheet);
  const inGrid = within(area, size);
  const names = header && inGrid ? await headingsOf(sheets, inGrid, size) : [];
  const columns = names.map((name, index) => ({ name, column: area.firstColumn + index }));
  const wanted = conditionsOf(parameters.where ?? {}, columns);
  const first = Math.max(area.firstRow + (header ? 1 : 0), after + 1);
  const body = inGrid && first <= inGrid.lastRow ? { ...inGrid, firstRow: first } : undefined;
  const pages = body
    ? pagesOf(sheets, size, { area: body, atOnce: wanted.length === 0 ? limit + 1 : Infinity })
    : [];
  const { rows, more } = await collect(pages, { limit, names: header ? names : undefined, wanted, area });
  const data = { spreadsheet_id: id, sheet: size.title, rows, more };
  const count = `${rows.length} row${rows.length === 1 ? '' : 's'}`;
  return {
    output: {
      text_content: `${count} of ${size.title}${more ? ', and there are more' : ''}.`,
      data_content: data,
    },
  };
}

/** The part of the area that the sheet has; undefined where it has none. */
function within(area: Area, { rowCount, columnCount }: SheetSize): Bounded | undefined {
  const { firstRow, firstColumn, lastRow = Infinity, lastColumn = Infinity } = area;
  if (firstRow > rowCount || firstColumn >= columnCount) return undefined;
  const ends = { lastRow: Math.min(lastRow, rowCount), lastColumn: Math.min(lastColumn, columnCount - 1) };
  return { firstRow, firstColumn, ...ends };
}

/** The names of the columns, as the trigger `spreadsheet` has them. */
async function headingsOf(sheets: Sheets, area: Bounded, { title }: SheetSize): Promise<string[]> {
  const { firstRow, firstColumn, lastColumn } = area;
  const [row = []] = await readValues(sheets, rangeOf(title, `${firstRow}:${firstRow}`));
  return namesOf(row.slice(firstColumn, lastColumn + 1), firstColumn);
}

type Condition = { column: number; text: string };

function conditionsOf(where: Record<string, Cell>, columns: readonly Column[]): Condition[] {
  return Object.entries(where).map(([name, value]) => ({
    column: columnNamed(name, columns, `where[${JSON.stringify(name.slice(0, 100))}]`),
    text: toText(value),
  }));
}

type Wanted = {
  limit: number;
  names: readonly string[] | undefined;
  wanted: readonly Condition[];
  area: Area;
};

async function collect(
  pages: AsyncIterable<Page> | Iterable<Page>,
  { limit, names, wanted, area }: Wanted,
): Promise<{ rows: Row[]; more: boolean }> {
  const rows: Row[] = [];
  let room = ROOM;
  for await (const page of pages) {
    for (const [index, cells] of page.rows.entries()) {
      if (isEmpty(cells) || !fits(cells, wanted, area)) continue;
      const row = { row: page.firstRow + index, values: named(cells, names, area.firstColumn) };
      room -= Buffer.byteLength(JSON.stringify(row)) + 1;
      if (rows.length === limit || (room < 0 && rows.length > 0)) return { rows, more: true };
      if (room < 0)
        throw new StepError(
          'OutputTooLarge',
          `row ${row.row} is larger than an output may be: give a range without its large cells`,
        );
      rows.push(row);
    }
  }
  return { rows, more: false };
}

const isEmpty = (cells: readonly Cell[]): boolean => cells.every((cell) => cell === '');

function fits(cells: readonly Cell[], wanted: readonly Condition[], { firstColumn }: Area): boolean {
  return wanted.every(({ column, text }) => toText(cells[column - firstColumn] ?? '') === text);
}
