/**
 * A server that speaks the wire format of Microsoft Graph for workbooks of Excel that are read, as its
 * documentation has it:
 * https://learn.microsoft.com/graph/api/driveitem-get, https://learn.microsoft.com/graph/api/shares-get (a
 *   file by its id, or by a URL that is encoded)
 * https://learn.microsoft.com/graph/api/resources/excel (sessions; what is not asked for with $select does
 *   not come; ranges without bounds have no values)
 * https://learn.microsoft.com/graph/api/workbook-createsession,
 *   https://learn.microsoft.com/graph/api/workbook-list-worksheets
 * https://learn.microsoft.com/graph/api/worksheet-usedrange (of a blank sheet the first cell),
 *   https://learn.microsoft.com/graph/api/worksheet-range
 * https://learn.microsoft.com/graph/api/resources/workbookrange (values, text, numberFormat, for each cell of
 *   the range)
 * https://learn.microsoft.com/graph/workbook-error-codes,
 *   https://learn.microsoft.com/graph/workbook-error-handling (codes within codes, Retry-After)
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as workingOut } from 'node:timers/promises';
import { listen, readBody, sendJson } from '../../network/listen.ts';

/** A plain value, or a number that its format shows otherwise. */
type ExcelCell =
  | string
  | number
  | boolean
  | { value: string | number | boolean; text: string; numberFormat: string };
type ExcelRows = ExcelCell[][];

type Worksheet = { id: string; name: string; rows: ExcelRows };

type Workbook = { id: string; mimeType: string; version: number; sheets: Worksheet[]; url?: string };

/** How requests fail. */
export type WorkbookFault =
  | { status: number; code: string; inner?: string; retryAfter?: number }
  | 'drop'
  | 'hang'
  | 'garbage';

export type WorkbookServer = {
  url: string;
  /** Makes a workbook of one sheet, or puts these rows in the place of what it has. */
  put(id: string, rows: ExcelRows, options?: WorkbookOptions): void;
  /** A sheet of it, to change; `touch` afterwards. */
  sheet(id: string, name?: string): Worksheet;
  addSheet(id: string, name: string, rows: ExcelRows): void;
  /** The version goes on, whatever has changed. */
  touch(id: string): void;
  remove(id: string): void;
  /** Requests whose path has `path` in it fail, once `after` of them were answered. */
  setFault(fault: WorkbookFault | undefined, options?: { after?: number; path?: string }): void;
  /** Is called before each request is answered: for what a person does meanwhile. */
  onRequest(listener: ((request: string) => void) | undefined): void;
  /** Method, path and query of every request so far. */
  requests: string[];
  /** The session of every request so far; `''` for one without. */
  sessions: string[];
  close(): Promise<void>;
};

type WorkbookOptions = { mimeType?: string; url?: string };

type State = {
  token: string;
  mostCells: number;
  workbooks: Map<string, Workbook>;
  fault: { fault: WorkbookFault | undefined; after: number; path: string };
  onRequest: ((request: string) => void) | undefined;
};

type Answer = { status: number; body: unknown; headers?: Record<string, string> };

const DRIVE = 'b!drive-1';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/**
 * Starts it. `token` is the one that is taken; `mostCells`: that a range may have; `rangeLatencyMs`: how long
 * it takes to work out a range, as large ones do.
 */
export async function startWorkbookServer({
  token = 'good-token',
  mostCells = 5_000_000,
  rangeLatencyMs = 0,
} = {}): Promise<WorkbookServer> {
  const fault = { fault: undefined, after: 0, path: '' };
  const state: State = { token, mostCells, workbooks: new Map(), fault, onRequest: undefined };
  const requests: string[] = [];
  const sessions: string[] = [];
  const server = await listen(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://graph');
    const line = `${request.method} ${decodeURIComponent(url.pathname + url.search)}`;
    requests.push(line);
    sessions.push(String(request.headers['workbook-session-id'] ?? ''));
    state.onRequest?.(line);
    if (fail(faultOf(state, line), request, response)) return;
    const body = await readBody(request);
    if (line.includes('/range(')) await workingOut(rangeLatencyMs);
    const { status, body: told } = isKnown(request, token)
      ? resource(state, `${request.method} ${url.pathname}`, { query: url.searchParams, body })
      : error(401, 'InvalidAuthenticationToken');
    sendJson(response, status, told);
  });
  const found = (id: string): Workbook => {
    const workbook = state.workbooks.get(id);
    if (!workbook) throw new Error(`there is no workbook ${id}`);
    return workbook;
  };
  return {
    url: server.url,
    requests,
    sessions,
    put: (id, rows, options) => put(state, id, rows, options),
    sheet: (id, name) => sheetOf(found(id), name),
    addSheet: (id, name, rows) => {
      const { sheets } = found(id);
      sheets.push({ id: idOf(sheets.length), name, rows });
      found(id).version += 1;
    },
    touch: (id) => void (found(id).version += 1),
    remove: (id) => void state.workbooks.delete(id),
    setFault: (kind, { after = 0, path = '' } = {}) => {
      state.fault = { fault: kind, after, path };
    },
    onRequest: (listener) => {
      state.onRequest = listener;
    },
    close: () => server.close(),
  };
}

const isKnown = ({ headers }: IncomingMessage, token: string) => headers.authorization === `Bearer ${token}`;

const idOf = (number: number) => `{00000000-0001-0000-0${number}00-000000000000}`;

function put({ workbooks }: State, id: string, rows: ExcelRows, options: WorkbookOptions = {}): void {
  const before = workbooks.get(id);
  if (before) {
    sheetOf(before).rows = rows;
    before.version += 1;
    return;
  }
  const sheets = [{ id: idOf(0), name: 'Sheet1', rows }];
  workbooks.set(id, { id, mimeType: XLSX, version: 1, sheets, ...options });
}

function sheetOf({ sheets }: Workbook, name?: string): Worksheet {
  const sheet = name === undefined ? sheets[0] : sheets.find((each) => each.name === name);
  if (!sheet) throw new Error(`there is no sheet ${name}`);
  return sheet;
}

function faultOf(state: State, line: string): WorkbookFault | undefined {
  const { fault, path } = state.fault;
  if (fault === undefined || !line.includes(path)) return undefined;
  if (state.fault.after === 0) return fault;
  state.fault.after -= 1;
  return undefined;
}

function fail(fault: WorkbookFault | undefined, request: IncomingMessage, response: ServerResponse): boolean {
  if (typeof fault === 'object') {
    const { status, code, inner, retryAfter } = fault;
    const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    sendJson(response, status, error(status, code, inner).body, headers);
  } else if (fault === 'drop') request.socket.destroy();
  else if (fault === 'garbage')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>captive portal</html>');
  return fault !== undefined;
}

function error(status: number, code: string, inner?: string): Answer {
  const within = { date: '2026-03-02T05:30:00', 'request-id': '1', 'client-request-id': '1' };
  const innerError = inner === undefined ? within : { code: inner, message: `Why: ${inner}.`, ...within };
  return { status, body: { error: { code, message: `What: ${code}.`, innerError } } };
}

const missing = () => error(404, 'itemNotFound');

type Asked = { query: URLSearchParams; body: string };

function resource(state: State, line: string, asked: Asked): Answer {
  const [, item] = /^GET \/v1\.0\/me\/drive\/items\/([^/]+)$/.exec(line) ?? [];
  if (item !== undefined) return itemOf(state.workbooks.get(decodeURIComponent(item)), asked);
  const [, share] = /^GET \/v1\.0\/shares\/u!([\w-]+)\/driveItem$/.exec(line) ?? [];
  if (share !== undefined) {
    const url = Buffer.from(share, 'base64url').toString();
    return itemOf(
      [...state.workbooks.values()].find((each) => each.url === url),
      asked,
    );
  }
  const [, method, drive, id, rest = ''] =
    /^(\w+) \/v1\.0\/drives\/([^/]+)\/items\/([^/]+)\/workbook\/(.+)$/.exec(line) ?? [];
  const workbook = drive === DRIVE && state.workbooks.get(decodeURIComponent(id ?? ''));
  if (!workbook) return missing();
  if (`${method} ${rest}` === 'POST createSession') return sessionOf(asked);
  if (method !== 'GET') return error(405, 'methodNotAllowed');
  return rest === 'worksheets'
    ? { status: 200, body: { value: listOf(workbook, asked) } }
    : cellsOf(state, workbook, decodeURIComponent(rest), asked);
}

function itemOf(workbook: Workbook | undefined, { query }: Asked): Answer {
  if (!workbook) return missing();
  const { id, mimeType, version } = workbook;
  const item = {
    '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#items/$entity',
    id,
    name: 'Orders.xlsx',
    cTag: `"c:{86EB4C8E-D20D-46B9-AD41-23B8868DDA8A},${version}"`,
    eTag: `"{86EB4C8E-D20D-46B9-AD41-23B8868DDA8A},${version}"`,
    ...(mimeType === '' ? { folder: { childCount: 2 } } : { file: { mimeType } }),
    parentReference: { driveType: 'business', driveId: DRIVE, id: '01ROOT' },
  };
  return { status: 200, body: selected(item, query) };
}

function selected(resource: object, query: URLSearchParams): object {
  const names = query.get('$select')?.split(',');
  const isAsked = (name: string) => name.startsWith('@') || !names || names.includes(name);
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isAsked(name)));
}

function sessionOf({ body }: Asked): Answer {
  const { persistChanges } = JSON.parse(body) as { persistChanges: boolean };
  // The access may read alone.
  if (persistChanges) return error(403, 'accessDenied');
  return { status: 201, body: { id: 'cluster=US1&session=12.1', persistChanges } };
}

/** Nothing is said of their order but their positions. */
function listOf({ sheets }: Workbook, { query }: Asked): object[] {
  return sheets
    .map(({ id, name }, position) => {
      const about = { '@odata.id': `/worksheets(${id})`, id, name, position, visibility: 'Visible' };
      return selected(about, query);
    })
    .toReversed();
}

function cellsOf({ mostCells }: State, { sheets }: Workbook, path: string, { query }: Asked): Answer {
  const [, name, call] = /^worksheets\/([^/]+)\/(.+)$/.exec(path) ?? [];
  const sheet = sheets.find((each) => each.id === name || each.name === name);
  if (!sheet) return error(404, 'itemNotFound', 'notFoundUncategorized');
  const area = call === 'usedRange(valuesOnly=true)' ? usedOf(sheet) : areaOf(call ?? '');
  if (!area) return error(400, 'invalidRequest', 'badRequestUncategorized');
  const isGiven = /values|text/.test(query.get('$select') ?? 'values');
  if (isGiven && area.rowCount * area.columnCount > mostCells)
    return error(400, 'invalidRequest', 'rangeExceedsLimit');
  const grid = (of: (cell: ExcelCell) => unknown) =>
    Array.from({ length: area.rowCount }, (_row, y) =>
      Array.from({ length: area.columnCount }, (_cell, x) =>
        of(sheet.rows[area.rowIndex + y]?.[area.columnIndex + x] ?? ''),
      ),
    );
  const range = {
    ...area,
    values: grid((cell) => (typeof cell === 'object' ? cell.value : cell)),
    text: grid((cell) => (typeof cell === 'object' ? cell.text : textOf(cell))),
    numberFormat: grid((cell) => (typeof cell === 'object' ? cell.numberFormat : 'General')),
  };
  return { status: 200, body: selected(range, query) };
}

const textOf = (cell: string | number | boolean) =>
  typeof cell === 'boolean' ? String(cell).toUpperCase() : String(cell);

type Area = { rowIndex: number; columnIndex: number; rowCount: number; columnCount: number };

function usedOf({ rows }: Worksheet): Area {
  const used = rows.map((row) => [row.findIndex(isFilled), row.findLastIndex(isFilled)] as const);
  const first = used.findIndex(([left]) => left >= 0);
  if (first < 0) return { rowIndex: 0, columnIndex: 0, rowCount: 1, columnCount: 1 };
  const last = used.findLastIndex(([left]) => left >= 0);
  let [columnIndex, end] = [Infinity, 0];
  for (const [left, right] of used) {
    if (left >= 0) columnIndex = Math.min(columnIndex, left);
    end = Math.max(end, right + 1);
  }
  return { rowIndex: first, columnIndex, rowCount: last - first + 1, columnCount: end - columnIndex };
}

const isFilled = (cell: ExcelCell) => cell !== '';

function areaOf(call: string): Area | undefined {
  const [, left = '', top, right = '', bottom] =
    /^range\(address='([A-Z]{1,3})(\d+):([A-Z]{1,3})(\d+)'\)$/.exec(call) ?? [];
  if (top === undefined) return undefined;
  const [rowIndex, columnIndex] = [Number(top) - 1, columnOf(left)];
  const area = {
    rowIndex,
    columnIndex,
    rowCount: Number(bottom) - rowIndex,
    columnCount: columnOf(right) + 1 - columnIndex,
  };
  return area.rowCount > 0 && area.columnCount > 0 ? area : undefined;
}

/** From A, the first, which is 0. */
function columnOf(letters: string): number {
  let number = 0;
  for (const letter of letters) number = number * 26 + letter.charCodeAt(0) - 64;
  return number - 1;
}
