/**
 * Google spreadsheets: the version by the Drive API, everything else by the Sheets API
 * (https://developers.google.com/workspace/drive/api/reference/rest/v3/files/get,
 * https://developers.google.com/workspace/sheets/api/reference/rest). Dates and times are given as the sheet
 * displays them, formulas as their results, all else as plain values.
 */
import * as z from 'zod';
import type { Account } from '../../http/json.ts';
import { accessToken } from '../../contract/node.ts';
import { PollError } from '../../contract/poller.ts';
import { callGoogle } from './api.ts';
import {
  areRows,
  type Book,
  type Cell,
  type OpenBook,
  type Sheet,
  type Area,
  type SheetName,
} from '../../contract/book.ts';
import { inPieces } from '../../spreadsheet/pieces.ts';
import { quoted } from '../../contract/secret.ts';
import { a1, spreadsheetOf } from '../../spreadsheet/reference.ts';

const DRIVE_URL = 'https://www.googleapis.com';
const SHEETS_URL = 'https://sheets.googleapis.com';
/** "We recommend a 2 MB maximum payload": https://developers.google.com/workspace/sheets/api/limits. */
const VALUES_LIMIT = 4 * 2 ** 20;
const ANSWER_LIMIT = 2 ** 20;
/** Google counts requests, so that there should be few of them. */
const PART_CELLS = 100_000;
const AT_ONCE = 2;
const SPREADSHEET = 'application/vnd.google-apps.spreadsheet';

const fileSchema = z.object({
  version: z.string().max(64),
  trashed: z.boolean().optional(),
  mimeType: z.string().optional(),
});

const sheetsSchema = z.object({
  sheets: z
    .array(
      z.object({
        properties: z.object({
          sheetId: z.int().optional(),
          title: z.string().max(512),
          gridProperties: z
            .object({ rowCount: z.int().optional(), columnCount: z.int().optional() })
            .optional(),
        }),
      }),
    )
    .optional(),
});

const valuesSchema = z.object({ values: z.custom<Cell[][]>(areRows).optional() });

export const openGoogleBook: OpenBook = (credential, spreadsheetId, wire) => {
  const token = accessToken(credential);
  const { id, gid } = spreadsheetOf(spreadsheetId);
  return { book: googleBook({ token, wire }, id, credential.spec.oauth2?.apiURL), gid };
};

/** The spreadsheet of that id. `apiURL`: where both APIs are, if not at Google. */
function googleBook(account: Omit<Account, 'baseURL'>, id: string, apiURL?: string): Book {
  const drive = { ...account, baseURL: apiURL ?? DRIVE_URL };
  const sheets = { ...account, baseURL: apiURL ?? SHEETS_URL };
  return {
    partCells: PART_CELLS,
    atOnce: AT_ONCE,
    lagMs: 0,
    state: async () => ({ id, version: await versionOf(drive, id) }),
    sheet: (name) => findSheet(sheets, id, name),
    cells: (sheet, area) => cellsOf(sheets, { id, sheet, area }),
  };
}

const ABSENT = [404, 410];

const missing = () =>
  new PollError(
    'SpreadsheetMissing',
    'the account has no spreadsheet of that id, or may not see it: share it',
  );

async function versionOf(drive: Account, id: string): Promise<string> {
  const file = await callGoogle(drive, {
    path: `drive/v3/files/${encodeURIComponent(id)}`,
    query: { fields: 'version,trashed,mimeType', supportsAllDrives: 'true' },
    schema: fileSchema,
    limit: ANSWER_LIMIT,
    right: 'see when files of Drive change',
    absent: ABSENT,
  });
  if (!file) throw missing();
  const { version, trashed, mimeType = SPREADSHEET } = file;
  if (trashed) throw new PollError('SpreadsheetMissing', 'the spreadsheet is in the bin: restore it');
  if (mimeType === SPREADSHEET) return version;
  throw new PollError(
    'InvalidTrigger',
    `the file is not a Google spreadsheet, but ${quoted(mimeType, [])}: save it as one`,
  );
}

async function findSheet(sheets: Account, id: string, { title, gid }: SheetName): Promise<Sheet> {
  const fields = 'sheets.properties(sheetId,title,gridProperties(rowCount,columnCount))';
  const answer = await callGoogle(sheets, {
    path: `v4/spreadsheets/${encodeURIComponent(id)}`,
    query: { fields },
    schema: sheetsSchema,
    limit: ANSWER_LIMIT,
    right: 'read spreadsheets',
    absent: ABSENT,
  });
  if (!answer) throw missing();
  // A sheet that holds a chart alone has no cells.
  const all = (answer.sheets ?? [])
    .map(({ properties }) => properties)
    .filter(({ gridProperties }) => gridProperties !== undefined);
  const found = all.find((sheet) => {
    if (title !== undefined) return sheet.title === title;
    return gid === undefined || String(sheet.sheetId ?? 0) === gid;
  });
  if (!found) {
    const which = title === undefined ? 'that the URL names' : `named ${quoted(title, [])}`;
    throw new PollError(
      'SpreadsheetMissing',
      `the spreadsheet has no sheet ${which}: make it, or correct sheet`,
    );
  }
  const { sheetId = 0, gridProperties: { rowCount = 0, columnCount = 0 } = {} } = found;
  return { id: String(sheetId), title: found.title, rowCount, columnCount };
}

type Wanted = { id: string; sheet: Sheet; area: Area };

function cellsOf(sheets: Account, { id, sheet, area }: Wanted): Promise<Cell[][]> {
  return inPieces(area, VALUES_LIMIT, async (area) => {
    const range = encodeURIComponent(a1(sheet.title, area));
    const answer = await callGoogle(sheets, {
      path: `v4/spreadsheets/${encodeURIComponent(id)}/values/${range}`,
      query: { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' },
      schema: valuesSchema,
      limit: VALUES_LIMIT,
      right: 'read spreadsheets',
      absent: ABSENT,
    });
    if (!answer) throw missing();
    return answer.values ?? [];
  });
}
