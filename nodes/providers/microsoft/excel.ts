/**
 * Excel workbooks in a OneDrive for work or a SharePoint site, by Microsoft Graph: the version is that of the
 * file, everything else comes from the workbook API (https://learn.microsoft.com/graph/api/driveitem-get,
 * https://learn.microsoft.com/graph/api/resources/excel). Values are given as those of Google spreadsheets.
 * Nothing in a workbook is changed.
 */
import * as z from 'zod';
import { isHeaderValue } from '../../../api/headers.ts';
import type { Account } from '../../http/json.ts';
import { accessToken } from '../../contract/node.ts';
import { PollError } from '../../contract/poller.ts';
import { callGraph } from './api.ts';
import {
  areRows,
  type Book,
  type Cell,
  type OpenBook,
  type Sheet,
  type Area,
  type SheetName,
} from '../../contract/book.ts';
import { isDateFormat } from './dateFormat.ts';
import { inPieces } from '../../spreadsheet/pieces.ts';
import { quoted } from '../../contract/secret.ts';
import { addressOf, workbookOf, type FileName } from '../../spreadsheet/reference.ts';

const GRAPH_URL = 'https://graph.microsoft.com';
const VERSION = 'v1.0';
/**
 * "Using read or write for large Range in multiple smaller range sizes is recommended": three of these,
 * values, texts and formats, are some 1 MiB.
 */
const PART_CELLS = 20_000;
/**
 * "For each workbook, only send the next request after receiving a successful response":
 * https://learn.microsoft.com/graph/workbook-best-practice.
 */
const AT_ONCE = 1;
/** Some 5 s were seen: https://github.com/microsoftgraph/msgraph-cli/issues/215. */
const LAG_MS = 30_000;
const CELLS_LIMIT = 4 * 2 ** 20;
const ANSWER_LIMIT = 2 ** 20;
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
/** Those with macros, and binary ones, have types of their own. */
const WORKBOOK = /^application\/vnd\.(openxmlformats-officedocument\.spreadsheetml\.|ms-excel\.sheet\.)/;

const name = z.string().min(1).max(512);
const itemSchema = z.object({
  id: name,
  cTag: name.optional(),
  eTag: name.optional(),
  file: z.object({ mimeType: z.string().optional() }).optional(),
  deleted: z.object({}).optional(),
  parentReference: z.object({ driveId: name.optional() }).optional(),
});

const worksheetsSchema = z.object({
  value: z.array(z.object({ id: name, name: z.string().max(512), position: z.int().optional() })),
});

const usedSchema = z.object({
  rowIndex: z.int().min(0),
  columnIndex: z.int().min(0),
  rowCount: z.int().min(0),
  columnCount: z.int().min(0),
});

const grid = z.array(z.array(z.unknown()));
const rangeSchema = z.object({ values: z.custom<Cell[][]>(areRows), text: grid, numberFormat: grid });

const sessionSchema = z.object({ id: z.string() });

export const openExcelBook: OpenBook = (credential, spreadsheetId, wire) => {
  const token = accessToken(credential);
  return { book: excelBook({ token, wire }, workbookOf(spreadsheetId), credential.spec.oauth2?.apiURL) };
};

/** The workbook in that file. `apiURL`: where the API is, if not at Microsoft. */
function excelBook(given: Omit<Account, 'baseURL'>, file: FileName, apiURL?: string): Book {
  const account = { ...given, baseURL: apiURL ?? GRAPH_URL };
  let item: Promise<Item> | undefined;
  let session: Promise<Session> | undefined;
  const ask = () => (item = itemOf(account, file));
  const workbook = async () => (await (item ??= ask())).workbook;
  return {
    partCells: PART_CELLS,
    atOnce: AT_ONCE,
    lagMs: LAG_MS,
    state: async () => {
      const { id, version } = await ask();
      return { id, version };
    },
    sheet: async (name) => findSheet(account, await workbook(), name),
    cells: async (sheet, area) => {
      const path = await workbook();
      const isLarge = sheet.rowCount * sheet.columnCount > PART_CELLS;
      if (isLarge) session ??= openSession(account, path);
      return cellsOf(account, { path, sheet, area, headers: (await session) ?? {} });
    },
  };
}

const ABSENT = [404, 410];
const right = 'read workbooks';

type Item = { id: string; version: string; workbook: string };

/** What cannot be an id, or a URL of a file, is a bad request. */
async function itemOf(account: Account, file: FileName): Promise<Item> {
  const path = 'id' in file ? `me/drive/items/${encodeURIComponent(file.id)}` : sharePath(file.url);
  const item = await callGraph(account, {
    path: `${VERSION}/${path}`,
    query: { $select: 'id,cTag,eTag,file,deleted,parentReference' },
    schema: itemSchema,
    limit: ANSWER_LIMIT,
    right,
    absent: [400, ...ABSENT],
  });
  if (!item || item.deleted) throw missing();
  const { id, cTag, eTag, file: own, parentReference } = item;
  const kind = own ? (own.mimeType ?? XLSX) : 'a folder';
  if (!WORKBOOK.test(kind))
    throw new PollError(
      'InvalidTrigger',
      `the file that spreadsheetId names is not a workbook, but ${quoted(kind, [])}: save it as one of Excel (.xlsx)`,
    );
  const version = cTag ?? eTag;
  if (version === undefined)
    throw new PollError('InvalidAnswer', 'the OneDrive sent no version of the workbook');
  const { driveId } = parentReference ?? {};
  const drive = driveId === undefined ? 'me/drive' : `drives/${encodeURIComponent(driveId)}`;
  return { id, version, workbook: `${VERSION}/${drive}/items/${encodeURIComponent(id)}/workbook` };
}

const missing = () =>
  new PollError(
    'SpreadsheetMissing',
    'the account has no such workbook, or may not see it: share it with the account',
  );

/** https://learn.microsoft.com/graph/api/shares-get#encoding-sharing-urls */
function sharePath(url: string): string {
  return `shares/u!${Buffer.from(url).toString('base64url')}/driveItem`;
}

async function findSheet(account: Account, workbook: string, { title }: SheetName): Promise<Sheet> {
  const asked = { limit: ANSWER_LIMIT, right, absent: ABSENT };
  const answer = await callGraph(account, {
    path: `${workbook}/worksheets`,
    ...asked,
    query: { $select: 'id,name,position' },
    schema: worksheetsSchema,
  });
  if (!answer) throw missing();
  const all = answer.value.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
  const found = title === undefined ? all[0] : all.find((each) => each.name === title);
  if (!found)
    throw new PollError(
      'SpreadsheetMissing',
      `the workbook has no sheet named ${quoted(title ?? '', [])}: make it, or correct sheet`,
    );
  const used = await callGraph(account, {
    path: `${sheetPath(workbook, found.id)}/usedRange(valuesOnly=true)`,
    ...asked,
    query: { $select: 'rowIndex,columnIndex,rowCount,columnCount' },
    schema: usedSchema,
  });
  if (!used) throw missing();
  return {
    id: found.id,
    title: found.name,
    rowCount: used.rowIndex + used.rowCount,
    columnCount: used.columnIndex + used.columnCount,
  };
}

function sheetPath(workbook: string, id: string): string {
  return `${workbook}/worksheets/${encodeURIComponent(id)}`;
}

type Session = Readonly<Record<string, string>>;

/** May be refused to who may read alone, and while others hold the workbook. */
const NO_SESSION = [400, 403, 404, 405, 409, 410, 423, 501, 504];

/**
 * What requests that follow show, so that the workbook need not be looked for each time: a session in which
 * nothing can be saved. All goes without it, too.
 * https://learn.microsoft.com/graph/api/workbook-createsession
 */
async function openSession(account: Account, workbook: string): Promise<Session> {
  const session = await callGraph(account, {
    method: 'POST',
    path: `${workbook}/createSession`,
    json: { persistChanges: false },
    schema: sessionSchema,
    limit: ANSWER_LIMIT,
    right,
    absent: NO_SESSION,
  });
  return session && isHeaderValue(session.id) ? { 'workbook-session-id': session.id } : {};
}

type Wanted = { path: string; sheet: Sheet; area: Area; headers: Session };

function cellsOf(account: Account, { path, sheet, area, headers }: Wanted): Promise<Cell[][]> {
  return inPieces(area, CELLS_LIMIT, async (area) => {
    const range = await callGraph(account, {
      path: `${sheetPath(path, sheet.id)}/range(address='${addressOf(area)}')`,
      query: { $select: 'values,text,numberFormat' },
      headers,
      schema: rangeSchema,
      limit: CELLS_LIMIT,
      right,
      absent: ABSENT,
    });
    if (!range) throw missing();
    return shown(range);
  });
}

/** A date is a number of days, and its format says that it is one. */
function shown({ values, text, numberFormat }: z.infer<typeof rangeSchema>): Cell[][] {
  return values.map((row, y) =>
    row.map((value, x) => {
      if (typeof value !== 'number' || !isDateFormat(numberFormat[y]?.[x])) return value;
      const seen = text[y]?.[x];
      return typeof seen === 'string' ? seen : value;
    }),
  );
}
