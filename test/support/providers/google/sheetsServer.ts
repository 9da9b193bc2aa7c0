/**
 * A server that speaks the wire format of Google Sheets' REST API, and as much of Drive's as tells versions,
 * as their documentation has it:
 * https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets/get (with a field mask or
 *   without: what is asked for is a part of what comes)
 * https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/get, …/batchGet
 *   (empty cells, columns and rows at the end are left out)
 * https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/append, …/update,
 *   …/batchUpdate (null: the cell stays)
 * https://developers.google.com/workspace/sheets/api/guides/concepts#cell (A1 notation)
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/files/get (`version`, `modifiedTime`)
 * https://developers.google.com/workspace/sheets/api/troubleshoot-api-errors and https://google.aip.dev/193
 *   (errors)
 * It calculates nothing: a formula that is written has the value 0.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson } from '../../network/listen.ts';
import { a1, areaOf, type Area } from './a1Notation.ts';
import type { Cell, Rows, Sheet } from './sheet.ts';
import { append, render, update } from './sheetsCells.ts';

type Spreadsheet = {
  id: string;
  title: string;
  version: number;
  modifiedTime: number;
  trashed: boolean;
  mimeType: string;
  sheets: Sheet[];
};

/**
 * How requests fail; `lostAnswer`: what they ask for is done, and the connection breaks off before they are
 * told.
 */
type SheetsFault =
  | 'unauthorized'
  | 'forbidden'
  | 'insufficientScopes'
  | 'notFound'
  | 'gone'
  | 'tooManyRequests'
  | 'unavailable'
  | 'lostAnswer'
  | 'drop'
  | 'hang'
  | 'garbage';

export type SheetsServer = {
  url: string;
  /** Makes a spreadsheet of one sheet, or puts these rows in the place of what it has. */
  put(id: string, rows: Rows, options?: SheetOptions): void;
  /** A sheet of it, to read or to change; `touch` afterwards, as each change has a version of its own. */
  sheet(id: string, title?: string): Sheet;
  addSheet(id: string, title: string, rows: Rows): void;
  /** The version goes on, whatever has changed. */
  touch(id: string): void;
  /** Throws it away, or takes it out of the bin again. */
  trash(id: string, isTrashed?: boolean): void;
  /** Has it be a file of another type. */
  become(id: string, mimeType: string): void;
  remove(id: string): void;
  /** Requests whose path has `path` in it fail, once `after` of them were answered. */
  setFault(fault: SheetsFault | undefined, options?: { after?: number; path?: string }): void;
  /** Is called before each request is answered: for what a person does meanwhile. */
  onRequest(listener: ((request: string) => void) | undefined): void;
  /** Method, path and query of every request so far. */
  requests: string[];
  /** The bytes of all answers so far. */
  sentBytes(): number;
  close(): Promise<void>;
};

type SheetOptions = { title?: string; sheetId?: number; rowCount?: number; columnCount?: number };

type State = {
  admits: (token: string) => boolean | Promise<boolean>;
  spreadsheets: Map<string, Spreadsheet>;
  fault: { fault: SheetsFault | undefined; after: number; path: string };
  onRequest: ((request: string) => void) | undefined;
  requests: string[];
  sent: number;
};

/** What a request is answered with, and what it did. */
type Answer = { status: number; body: unknown };

type SheetsOptions = {
  /** The access token that is taken. */
  token?: string;
  /** Which access tokens are taken, where there are several. */
  admits?: (token: string) => boolean | Promise<boolean>;
  port?: number;
  host?: string;
};

/** Starts it. */
export async function startSheetsServer({
  token = 'good-token',
  admits = (shown) => shown === token,
  ...at
}: SheetsOptions = {}): Promise<SheetsServer> {
  const state: State = {
    admits,
    spreadsheets: new Map(),
    fault: { fault: undefined, after: 0, path: '' },
    onRequest: undefined,
    requests: [],
    sent: 0,
  };
  const server = await listen((request, response) => answer(state, request, response), at);
  const found = (id: string): Spreadsheet => {
    const spreadsheet = state.spreadsheets.get(id);
    if (!spreadsheet) throw new Error(`there is no spreadsheet ${id}`);
    return spreadsheet;
  };
  return {
    url: server.url,
    requests: state.requests,
    sentBytes: () => state.sent,
    put: (id, rows, options = {}) => put(state, id, rows, options),
    sheet: (id, title) => sheetOf(found(id), title),
    addSheet: (id, title, rows) => {
      const { sheets } = found(id);
      sheets.push({ sheetId: sheets.length * 1_111, title, rowCount: 1_000, columnCount: 26, rows });
      changed(found(id));
    },
    touch: (id) => changed(found(id)),
    trash: (id, isTrashed = true) => {
      found(id).trashed = isTrashed;
      changed(found(id));
    },
    become: (id, mimeType) => {
      found(id).mimeType = mimeType;
      changed(found(id));
    },
    remove: (id) => void state.spreadsheets.delete(id),
    setFault: (fault, { after = 0, path = '' } = {}) => {
      state.fault = { fault, after, path };
    },
    onRequest: (listener) => {
      state.onRequest = listener;
    },
    close: () => server.close(),
  };
}

function put({ spreadsheets }: State, id: string, rows: Rows, options: SheetOptions): void {
  const before = spreadsheets.get(id);
  const { title = 'Sheet1', sheetId = 0, rowCount = 1_000, columnCount = 26 } = options;
  if (before) {
    const sheet = sheetOf(before, options.title);
    sheet.rows = rows;
    sheet.rowCount = Math.max(sheet.rowCount, rows.length);
    changed(before);
    return;
  }
  const sheet = { sheetId, title, rowCount: Math.max(rowCount, rows.length), columnCount, rows };
  const times = { version: 10, modifiedTime: Date.now(), trashed: false };
  const mimeType = 'application/vnd.google-apps.spreadsheet';
  spreadsheets.set(id, { id, title: 'A spreadsheet', mimeType, ...times, sheets: [sheet] });
}

function sheetOf({ sheets }: Spreadsheet, title?: string): Sheet {
  const sheet = title === undefined ? sheets[0] : sheets.find((each) => each.title === title);
  if (!sheet) throw new Error(`there is no sheet ${title}`);
  return sheet;
}

function changed(spreadsheet: Spreadsheet): void {
  // "Monotonically increasing", and not by one each time.
  spreadsheet.version += 3;
  spreadsheet.modifiedTime = Date.now();
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://sheets');
  const line = `${request.method} ${url.pathname}${url.search}`;
  state.requests.push(line);
  state.onRequest?.(line);
  const fault = faultOf(state, line);
  if (fault !== 'lostAnswer' && fail(fault, request, response)) return;
  const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  const { status, body } =
    token !== undefined && (await state.admits(token))
      ? resource(state, request.method ?? '', url, parsed(await readBody(request)))
      : error(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
  if (fault === 'lostAnswer') {
    request.socket.destroy();
    return;
  }
  state.sent += JSON.stringify(body).length;
  sendJson(response, status, body);
}

function parsed(text: string): Body {
  return (text === '' ? {} : JSON.parse(text)) as Body;
}

function faultOf(state: State, line: string): SheetsFault | undefined {
  const { fault, path } = state.fault;
  if (fault === undefined || !line.includes(path)) return undefined;
  if (state.fault.after > 0) {
    state.fault.after -= 1;
    return undefined;
  }
  return fault;
}

const FAILURES: Partial<Record<SheetsFault, () => Answer>> = {
  unauthorized: () =>
    error(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.', 'ACCESS_TOKEN_EXPIRED'),
  forbidden: () => error(403, 'PERMISSION_DENIED', 'The caller does not have permission'),
  insufficientScopes: () =>
    error(
      403,
      'PERMISSION_DENIED',
      'Request had insufficient authentication scopes.',
      'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
    ),
  notFound: () => missing(),
  gone: () => error(410, 'NOT_FOUND', 'The requested resource is no longer available.'),
  tooManyRequests: () =>
    error(
      429,
      'RESOURCE_EXHAUSTED',
      "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user' of service 'sheets.googleapis.com' for consumer 'project_number:1'.",
      'RATE_LIMIT_EXCEEDED',
    ),
  unavailable: () => error(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
};

function fail(fault: SheetsFault | undefined, request: IncomingMessage, response: ServerResponse): boolean {
  const failure = fault && FAILURES[fault]?.();
  if (failure) {
    const headers = failure.status === 429 ? { 'retry-after': '17' } : {};
    sendJson(response, failure.status, failure.body, headers);
  } else if (fault === 'drop') request.socket.destroy();
  else if (fault === 'garbage')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>captive portal</html>');
  return fault !== undefined;
}

function error(code: number, status: string, message: string, reason?: string): Answer {
  const type = 'type.googleapis.com/google.rpc.ErrorInfo';
  const details = reason && { details: [{ '@type': type, reason, domain: 'googleapis.com' }] };
  return { status: code, body: { error: { code, message, status, ...details } } };
}

const missing = () => error(404, 'NOT_FOUND', 'Requested entity was not found.');
const invalid = (message: string) => error(400, 'INVALID_ARGUMENT', message);

type Body = {
  values?: (Cell | null)[][];
  range?: string;
  valueInputOption?: string;
  data?: { range: string; values: (Cell | null)[][] }[];
};

function resource(state: State, method: string, url: URL, body: Body): Answer {
  const [, file] = /^\/drive\/v3\/files\/([^/]+)$/.exec(url.pathname) ?? [];
  if (file !== undefined) return fileOf(state.spreadsheets.get(decodeURIComponent(file)));
  const [, id, rest] = /^\/v4\/spreadsheets\/([^/:]+)(?:\/(.+))?$/.exec(url.pathname) ?? [];
  const spreadsheet = state.spreadsheets.get(decodeURIComponent(id ?? ''));
  if (!spreadsheet) return missing();
  if (rest === undefined) return { status: 200, body: described(spreadsheet) };
  const call: Call = { spreadsheet, query: url.searchParams, body };
  if (rest === 'values:batchGet') return batchGet(call);
  if (rest === 'values:batchUpdate') return batchUpdate(call);
  const [, encoded = '', verb = ''] = /^values\/(.+?)(:append)?$/.exec(rest) ?? [];
  const handle = HANDLERS[`${method}${verb}`];
  const area = areaOf(decodeURIComponent(encoded), spreadsheet.sheets);
  if (typeof area === 'string') return invalid(area);
  return handle ? handle(call, area) : missing();
}

const HANDLERS: Readonly<Record<string, (call: Call, area: Area) => Answer>> = {
  GET: ({ query }, area) => ({ status: 200, body: valuesOf(area, query) }),
  PUT: updated,
  'POST:append': appended,
};

type Call = { spreadsheet: Spreadsheet; query: URLSearchParams; body: Body };

function fileOf(spreadsheet: Spreadsheet | undefined): Answer {
  if (!spreadsheet) {
    const message = 'File not found.';
    const errors = [{ message, domain: 'global', reason: 'notFound', locationType: 'parameter' }];
    return { status: 404, body: { error: { code: 404, message, errors } } };
  }
  const { id, title: name, mimeType, version, modifiedTime, trashed } = spreadsheet;
  const times = { version: String(version), modifiedTime: new Date(modifiedTime).toISOString() };
  return { status: 200, body: { kind: 'drive#file', id, name, mimeType, trashed, ...times } };
}

function described({ id, title, sheets }: Spreadsheet) {
  return {
    spreadsheetId: id,
    properties: { title, locale: 'en_US', timeZone: 'Europe/Berlin', autoRecalc: 'ON_CHANGE' },
    sheets: sheets.map(({ sheetId, title, rowCount, columnCount }, index) => ({
      properties: { sheetId, title, index, sheetType: 'GRID', gridProperties: { rowCount, columnCount } },
    })),
    spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${id}/edit`,
  };
}

function valuesOf(area: Area, query: URLSearchParams) {
  const values = render(area, {
    render: query.get('valueRenderOption') ?? 'FORMATTED_VALUE',
    dates: query.get('dateTimeRenderOption') ?? 'SERIAL_NUMBER',
    isByColumn: query.get('majorDimension') === 'COLUMNS',
  });
  const majorDimension = query.get('majorDimension') ?? 'ROWS';
  // A range without values has no member for them.
  return { range: a1(area), majorDimension, ...(values.length > 0 && { values }) };
}

function batchGet({ spreadsheet, query }: Call): Answer {
  const areas = query.getAll('ranges').map((range) => areaOf(range, spreadsheet.sheets));
  const valueRanges: unknown[] = [];
  for (const area of areas) {
    if (typeof area === 'string') return invalid(area);
    valueRanges.push(valuesOf(area, query));
  }
  return { status: 200, body: { spreadsheetId: spreadsheet.id, valueRanges } };
}

const INPUTS = ['RAW', 'USER_ENTERED'];

function appended({ spreadsheet, query, body }: Call, area: Area): Answer {
  const input = query.get('valueInputOption') ?? '';
  if (!INPUTS.includes(input)) return invalid("'valueInputOption' is required but not specified");
  const isInserted = query.get('insertDataOption') === 'INSERT_ROWS';
  const { table, written } = append(area, body.values ?? [], { isRaw: input === 'RAW', isInserted });
  changed(spreadsheet);
  const tableRange = table && { tableRange: a1(table) };
  const updates = told(spreadsheet, written, query);
  return { status: 200, body: { spreadsheetId: spreadsheet.id, ...tableRange, updates } };
}

function updated({ spreadsheet, query, body }: Call, area: Area): Answer {
  const input = query.get('valueInputOption') ?? '';
  if (!INPUTS.includes(input)) return invalid("'valueInputOption' is required but not specified");
  const written = update(area, body.values ?? [], input === 'RAW');
  if (!written)
    return invalid(`Requested writing within range [${a1(area)}], but tried writing outside of it`);
  changed(spreadsheet);
  return { status: 200, body: told(spreadsheet, written, query) };
}

function batchUpdate({ spreadsheet, query, body }: Call): Answer {
  if (!INPUTS.includes(body.valueInputOption ?? '')) return invalid("'valueInputOption' is required");
  const isRaw = body.valueInputOption === 'RAW';
  const parts: { area: Area; values: (Cell | null)[][] }[] = [];
  for (const { range, values } of body.data ?? []) {
    const area = areaOf(range, spreadsheet.sheets);
    if (typeof area === 'string') return invalid(area);
    parts.push({ area, values });
  }
  const responses = parts.map(({ area, values }) =>
    told(spreadsheet, update(area, values, isRaw) ?? area, query),
  );
  changed(spreadsheet);
  const totalUpdatedCells = responses.reduce((sum, { updatedCells }) => sum + updatedCells, 0);
  return { status: 200, body: { spreadsheetId: spreadsheet.id, totalUpdatedCells, responses } };
}

function told({ id }: Spreadsheet, area: Area, query: URLSearchParams) {
  const updatedRows = area.endRow - area.startRow;
  const updatedColumns = area.endColumn - area.startColumn;
  const counts = { updatedRows, updatedColumns, updatedCells: updatedRows * updatedColumns };
  const isWanted = query.get('includeValuesInResponse') === 'true';
  const updatedData = isWanted && { updatedData: valuesOf(area, new URLSearchParams()) };
  return { spreadsheetId: id, updatedRange: a1(area), ...counts, ...updatedData };
}
