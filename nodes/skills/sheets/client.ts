/**
 * Google Sheets for steps: values are read and written by ranges (https://developers.google.com/workspace/sheets/api/reference/rest).
 * Guarantees that the access token goes to the address of the credential alone, and comes back in no message.
 */
import * as z from 'zod';
import { isHeaderValue } from '../../../api/headers.ts';
import { StepError } from '../../../api/reasons.ts';
import { accessToken, partOf, type CredentialAccess, type StepContext } from '../../node.ts';
import { echoesOf, type Mask, type Secret } from '../../secret.ts';
import type { SheetName } from './parameters.ts';
import { callApi, refusalOf, unreadable, type ApiAnswer, type ApiCall } from '../api.ts';

const SHEETS_URL = 'https://sheets.googleapis.com';
/** Of a page of cells. Google recommends 2 MB: https://developers.google.com/workspace/sheets/api/limits */
const VALUES_LIMIT = 4_194_304;
const ANSWER_LIMIT = 1_048_576;

/** One spreadsheet, and what is needed to ask for it. */
export type Sheets = {
  spreadsheetId: string;
  baseURL: string;
  token: Secret;
  secrets: readonly Mask[];
  context: StepContext;
};

export type CellValue = string | number | boolean;

/** As cells are shown to workflows: numbers as numbers, dates as the sheet shows them, formulas as their results. */
const RENDERED = { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' };

/**
 * The spreadsheet by a credential of kind oauth2.
 * @throws StepError `CredentialMissing`, or `InvalidParameters` for an account that is not Google's
 */
export async function openSheets(spreadsheetId: string, context: StepContext, name = ''): Promise<Sheets> {
  const credential = await context.credential(name);
  const baseURL = addressOf(credential);
  const token = accessToken(credential);
  if (!isHeaderValue(token.reveal()))
    throw new StepError('CredentialRejected', 'the access token holds a character that headers cannot hold');
  return { spreadsheetId, baseURL, token, secrets: echoesOf(token), context };
}

/** A token of another provider is not shown to Google. */
function addressOf(credential: CredentialAccess): string {
  const { preset = 'custom', apiURL } = partOf(credential, 'oauth2');
  if (preset === 'google' || (preset === 'custom' && apiURL !== undefined)) return apiURL ?? SHEETS_URL;
  throw new StepError('InvalidParameters', `the credential ${credential.name} is no account at Google`);
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
 * @throws StepError `Refused` where there is none of that name
 */
export async function sizeOfSheet(sheets: Sheets, { title, gid }: SheetName): Promise<SheetSize> {
  const query = { fields: 'sheets.properties(sheetId,title,sheetType,gridProperties(rowCount,columnCount))' };
  const call = callOf(sheets, 'GET', '', { query, limit: ANSWER_LIMIT });
  const answer = await ask(sheets, call, propertiesSchema);
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
export async function readValues(sheets: Sheets, range: string): Promise<CellValue[][]> {
  const call = callOf(sheets, 'GET', pathOf(range), { query: RENDERED, limit: VALUES_LIMIT });
  return (await ask(sheets, call, valuesSchema)).values ?? [];
}

/** What is written into a cell; null leaves it as it is. */
export type GivenCell = CellValue | null;

/** Whether texts are stored as they are, or read as if a person typed them. */
export type Input = 'Raw' | 'UserEntered';

const INPUTS = { Raw: 'RAW', UserEntered: 'USER_ENTERED' } as const;

const updateSchema = z.object({
  updatedRange: z.string(),
  updatedData: z.object({ range: z.string(), values: z.array(z.array(cell)).optional() }).optional(),
});
const appendSchema = z.object({ updates: updateSchema });

/** What a range holds after it was written. */
export type WrittenRow = { range: string; values: readonly CellValue[] };

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
  const body = { range, majorDimension: 'ROWS', values: [row] };
  const call = callOf(sheets, 'PUT', pathOf(range), { query, body, limit: VALUES_LIMIT });
  const { updatedData } = await ask(sheets, call, updateSchema);
  return updatedData && { range: updatedData.range, values: updatedData.values?.[0] ?? [] };
}

/**
 * Adds a row below the table in which the cell lies; the range that it came to. Nothing is overwritten: a new row is made for it.
 * @throws StepError
 */
export async function appendRowAt(
  sheets: Sheets,
  cellInTable: string,
  { row, input }: { row: readonly GivenCell[]; input: Input },
): Promise<string> {
  const query = { valueInputOption: INPUTS[input], insertDataOption: 'INSERT_ROWS' };
  const body = { range: cellInTable, majorDimension: 'ROWS', values: [row] };
  const path = `${pathOf(cellInTable)}:append`;
  const call = callOf(sheets, 'POST', path, { query, body, limit: ANSWER_LIMIT });
  return (await ask(sheets, call, appendSchema)).updates.updatedRange;
}

const pathOf = (range: string): string => `/values/${encodeURIComponent(range)}`;

function callOf(
  { baseURL, spreadsheetId, token }: Sheets,
  method: ApiCall['method'],
  path: string,
  { query, body, limit }: { query: Record<string, string>; body?: unknown; limit: number },
): ApiCall {
  const base = `${baseURL.replace(/\/+$/, '')}/v4/spreadsheets/${encodeURIComponent(spreadsheetId)}`;
  if (!URL.canParse(base)) throw new StepError('InvalidParameters', 'apiURL of the credential is no URL');
  const url = new URL(`${base}${path}?${new URLSearchParams(query).toString()}`);
  const headers = { authorization: `Bearer ${token.reveal()}` };
  return { method, url, headers, limit, ...(body !== undefined && { body }) };
}

async function ask<T>({ secrets, context }: Sheets, call: ApiCall, schema: z.ZodType<T>): Promise<T> {
  const answer = await callApi(call, context);
  if (answer.status !== 200) throw refusal(answer, call, { secrets, context });
  const result = schema.safeParse(answer.json);
  if (result.success) return result.data;
  throw unreadable(answer, context, call);
}

/** https://google.aip.dev/193 */
const errorSchema = z.object({
  error: z.object({
    message: z.string().optional(),
    status: z.string().optional(),
    errors: z.array(z.object({ reason: z.string().optional() })).optional(),
    details: z.array(z.object({ reason: z.string().optional() })).optional(),
  }),
});

const LIMITED = /rateLimitExceeded|quotaExceeded|RESOURCE_EXHAUSTED|RATE_LIMIT_EXCEEDED/i;
const UNSCOPED = /insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT/;

function refusal(
  answer: ApiAnswer,
  call: ApiCall,
  { secrets, context }: { secrets: readonly Mask[]; context: StepContext },
): StepError {
  const parsed = errorSchema.safeParse(answer.json);
  const error = parsed.success ? parsed.data.error : {};
  const reasons = [
    error.status,
    ...[...(error.errors ?? []), ...(error.details ?? [])].map((each) => each.reason),
  ];
  const has = (pattern: RegExp) => reasons.some((reason) => reason !== undefined && pattern.test(reason));
  const { message: said } = error;
  const asked = (status: number) => refusalOf({ ...answer, status }, { said, secrets }, context, call);
  if (answer.status !== 403) return asked(answer.status);
  if (has(LIMITED)) return asked(429);
  if (!has(UNSCOPED)) return asked(403);
  const message = `the access has not the right to ${call.method === 'GET' ? 'read' : 'change'} spreadsheets: connect the credential again`;
  return new StepError('CredentialRejected', message);
}
