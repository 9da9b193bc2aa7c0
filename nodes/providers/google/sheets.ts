/**
 * Google Sheets for skills: reads and writes ranges of values
 * (https://developers.google.com/workspace/sheets/api/reference/rest). Guarantees that the access token is
 * sent only to the address of the credential, and appears in no message.
 */
import * as z from 'zod';
import { StepError } from '../../../api/reasons.ts';
import type { Account, AccountCall } from '../../http/json.ts';
import { accessToken, asStep, partOf, type CredentialAccess, type StepContext } from '../../contract/node.ts';
import { callGoogle } from './api.ts';
import type { Cell, SheetName } from '../../contract/book.ts';

const SHEETS_URL = 'https://sheets.googleapis.com';
/** Of a page of cells. Google recommends 2 MB: https://developers.google.com/workspace/sheets/api/limits */
const VALUES_LIMIT = 4_194_304;
const ANSWER_LIMIT = 1_048_576;

/** One spreadsheet, and what is needed to ask for it. */
export type Sheets = Account & { spreadsheetId: string; context: StepContext };

/**
 * As cells are shown to workflows: numbers as numbers, dates as the sheet shows them, formulas as their
 * results.
 */
const RENDERED = { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' };

/**
 * The spreadsheet by a credential of kind oauth2.
 * @throws StepError `CredentialMissing`, or `InvalidParameters` for an account that is not Google's
 */
export async function openSheets(spreadsheetId: string, context: StepContext, name = ''): Promise<Sheets> {
  const credential = await context.credential(name);
  const baseURL = addressOf(credential);
  const token = accessToken(credential);
  return { spreadsheetId, baseURL, token, wire: context, context };
}

/** A token of another provider is not shown to Google. */
function addressOf(credential: CredentialAccess): string {
  const { preset = 'custom', apiURL } = partOf(credential, 'oauth2');
  if (preset === 'google' || (preset === 'custom' && apiURL !== undefined)) return apiURL ?? SHEETS_URL;
  throw new StepError('InvalidParameters', `the credential ${credential.name} is not a Google account`);
}

const propertiesSchema = z.object({
  sheets: z.array(
    z.object({
      properties: z.object({
        sheetId: z.int().optional(),
        title: z.string(),
        sheetType: z.string().optional(),
        gridProperties: z
          .object({ rowCount: z.int().min(0).optional(), columnCount: z.int().min(0).optional() })
          .optional(),
      }),
    }),
  ),
});

export type SheetSize = { title: string; rowCount: number; columnCount: number };

/**
 * Title and size of a sheet; of the first that has cells where none is named.
 * @throws StepError `Refused` when no sheet has that name
 */
export async function sizeOfSheet(sheets: Sheets, { title, gid }: SheetName): Promise<SheetSize> {
  const query = { fields: 'sheets.properties(sheetId,title,sheetType,gridProperties(rowCount,columnCount))' };
  const answer = await call(sheets, { path: '', query, schema: propertiesSchema, limit: ANSWER_LIMIT });
  const grids = answer.sheets.map(({ properties }) => properties).filter(hasCells);
  const found = grids.find((each) =>
    title === undefined ? gid === undefined || String(each.sheetId ?? 0) === gid : each.title === title,
  );
  const { rowCount = 0, columnCount = 0 } = found?.gridProperties ?? {};
  if (found) return { title: found.title, rowCount, columnCount };
  const names = grids.slice(0, 10).map((each) => JSON.stringify(each.title));
  const which = title === undefined ? 'as the URL names' : 'of that name';
  throw new StepError('Refused', `the spreadsheet has no sheet ${which}; it has ${names.join(', ')}`);
}

/** The title of a sheet; undefined for the first one, which needs none. */
export async function titleOf(sheets: Sheets, name: SheetName): Promise<string | undefined> {
  return name.gid === undefined ? name.title : (await sizeOfSheet(sheets, name)).title;
}

function hasCells({ sheetType = 'GRID' }: { sheetType?: string | undefined }): boolean {
  return sheetType === 'GRID';
}

const cell = z.union([z.string(), z.number(), z.boolean()]);
const valuesSchema = z.object({ values: z.array(z.array(cell)).optional() });

/**
 * The values of a range, row by row, without the empty ones at the ends.
 * @throws StepError
 */
export async function readValues(sheets: Sheets, range: string): Promise<Cell[][]> {
  const read = { path: pathOf(range), query: RENDERED, schema: valuesSchema, limit: VALUES_LIMIT };
  return (await call(sheets, read)).values ?? [];
}

/** What is written into a cell; null leaves it as it is. */
export type GivenCell = Cell | null;

/** Whether texts are stored as they are, or read as if a person typed them. */
export type Input = 'Raw' | 'UserEntered';

const INPUTS = { Raw: 'RAW', UserEntered: 'USER_ENTERED' } as const;

const updateSchema = z.object({
  updatedRange: z.string(),
  updatedData: z.object({ range: z.string(), values: z.array(z.array(cell)).optional() }).optional(),
});
const appendSchema = z.object({ updates: updateSchema });

/** What a range holds after it was written. */
export type WrittenRow = { range: string; values: readonly Cell[] };

/**
 * Writes one row into a range that has room for it; what it holds afterwards, where that was told.
 * @throws StepError
 */
export async function writeRow(
  sheets: Sheets,
  range: string,
  { row, input }: { row: readonly GivenCell[]; input: Input },
): Promise<WrittenRow | undefined> {
  const query = {
    valueInputOption: INPUTS[input],
    includeValuesInResponse: 'true',
    responseValueRenderOption: RENDERED.valueRenderOption,
    responseDateTimeRenderOption: RENDERED.dateTimeRenderOption,
  };
  const json = { range, majorDimension: 'ROWS', values: [row] };
  const write = { method: 'PUT', path: pathOf(range), query, json, limit: VALUES_LIMIT } as const;
  const { updatedData } = await call(sheets, { ...write, schema: updateSchema });
  return updatedData && { range: updatedData.range, values: updatedData.values?.[0] ?? [] };
}

/**
 * Adds a row below the table in which the cell lies; the range that it came to. Nothing is overwritten: a new
 * row is made for it.
 * @throws StepError
 */
export async function appendRowAt(
  sheets: Sheets,
  cellInTable: string,
  { row, input }: { row: readonly GivenCell[]; input: Input },
): Promise<string> {
  const query = { valueInputOption: INPUTS[input], insertDataOption: 'INSERT_ROWS' };
  const json = { range: cellInTable, majorDimension: 'ROWS', values: [row] };
  const path = `${pathOf(cellInTable)}:append`;
  const append = { method: 'POST', path, query, json, limit: ANSWER_LIMIT } as const;
  return (await call(sheets, { ...append, schema: appendSchema })).updates.updatedRange;
}

const pathOf = (range: string): string => `/values/${encodeURIComponent(range)}`;

type Call<T> = Omit<AccountCall<T>, 'right'>;

async function call<T>(sheets: Sheets, { path, ...given }: Call<T>): Promise<T> {
  const { spreadsheetId, context } = sheets;
  const right = `${given.method === undefined ? 'read' : 'change'} spreadsheets`;
  const whole = `v4/spreadsheets/${encodeURIComponent(spreadsheetId)}${path}`;
  // Without a status that means absence there is always an answer.
  return (await asStep(context, () => callGoogle(sheets, { ...given, path: whole, right }))) as T;
}
