/**
 * A server that speaks the wire format of Google Drive's REST API, as its documentation has it:
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/about/get
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/files/get (404 for what the account may not see)
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/files/list (q, orderBy, page tokens)
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/changes/getStartPageToken
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/changes/list (one entry for each file, nextPageToken or newStartPageToken)
 * https://developers.google.com/workspace/drive/api/guides/handle-errors (401, 403, 404, 410, 429, 5xx and their bodies)
 * Of `q` it knows `'ID' in parents`, `trashed = false`, `mimeType = '…'`, `mimeType != '…'`, joined by `and`. `fields` is not looked at.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, sendJson } from './listen.ts';

const FOLDER = 'application/vnd.google-apps.folder';

/** How every request fails, or those whose path holds a text. */
export type DriveFault =
  | 'unauthorized'
  | 'rateLimitExceeded'
  | 'insufficientPermissions'
  | 'forbidden'
  | 'notFound'
  | 'gone'
  | 'tooManyRequests'
  | 'unavailable'
  | 'drop'
  | 'hang'
  | 'garbage';

type StoredFile = {
  id: string;
  name: string;
  mimeType: string;
  parents: string[];
  createdTime: string;
  modifiedTime: string;
  md5Checksum?: string;
  size?: string;
  webViewLink?: string;
  trashed: boolean;
};

export type DriveServer = {
  url: string;
  /** Puts a file or folder there, or changes it; its id. Without changes it is as if somebody had shared it. */
  put(file: Partial<StoredFile> & { id: string }): string;
  /** Puts other content into it. */
  write(id: string): void;
  /** Has it removed for good, or out of sight. */
  remove(id: string): void;
  /** Takes none of the tokens that it gave so far. */
  expireTokens(): void;
  setFault(fault: DriveFault | undefined, within?: string): void;
  /** Method, path and query of every request so far. */
  requests: string[];
  close(): Promise<void>;
};

export type DriveOptions = { token?: string; owner?: string; pageSize?: number };

type State = {
  token: string;
  owner: string;
  pageSize: number;
  files: Map<string, StoredFile>;
  changes: { number: number; fileId: string }[];
  count: number;
  oldest: number;
  era: number;
  fault: { fault: DriveFault; within: string } | undefined;
  requests: string[];
};

/** Starts it. `token` is the one that is taken; `pageSize` bounds every page, whatever is asked for. */
export async function startDriveServer(options: DriveOptions = {}): Promise<DriveServer> {
  const { token = 'good-token', owner = '0123', pageSize = 1_000 } = options;
  const state: State = {
    token,
    owner,
    pageSize,
    files: new Map(),
    changes: [],
    count: 100,
    oldest: 100,
    era: 0,
    fault: undefined,
    requests: [],
  };
  const server = await listen((request, response) => answer(state, request, response));
  const changed = (fileId: string): string => {
    state.count += 1;
    state.changes = [
      ...state.changes.filter((each) => each.fileId !== fileId),
      { number: state.count, fileId },
    ];
    return fileId;
  };
  state.files.set('root-folder', stored({ id: 'root-folder', mimeType: FOLDER, parents: [] }));
  return {
    url: server.url,
    requests: state.requests,
    put: (file) => {
      state.files.set(file.id, { ...(state.files.get(file.id) ?? stored(file)), ...file });
      return changed(file.id);
    },
    write: (id) => {
      const file = state.files.get(id) ?? stored({ id });
      const modifiedTime = new Date().toISOString();
      state.files.set(id, { ...file, modifiedTime, md5Checksum: `${file.md5Checksum ?? ''}+` });
      changed(id);
    },
    remove: (id) => {
      state.files.delete(id);
      changed(id);
    },
    expireTokens: () => {
      state.count += 10;
      state.oldest = state.count;
      state.era += 1;
    },
    setFault: (fault, within = '') => {
      state.fault = fault && { fault, within };
    },
    close: () => server.close(),
  };
}

function stored(file: Partial<StoredFile> & { id: string }): StoredFile {
  const now = new Date().toISOString();
  return {
    name: file.id,
    mimeType: 'text/plain',
    parents: ['root-folder'],
    createdTime: now,
    modifiedTime: now,
    trashed: false,
    ...(file.mimeType?.startsWith('application/vnd.google-apps') ? {} : { size: '3', md5Checksum: 'first' }),
    ...file,
  };
}

function answer(state: State, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://drive');
  state.requests.push(`${request.method} ${url.pathname}${url.search}`);
  const { fault } = state;
  if (fault && url.pathname.includes(fault.within)) return fail(fault.fault, request, response);
  if (request.headers.authorization !== `Bearer ${state.token}`)
    return sendError(response, 401, 'authError', 'Invalid Credentials');
  const path = url.pathname.replace(/^\/drive\/v3\//, '');
  if (path === 'about') return sendJson(response, 200, { user: { permissionId: state.owner } });
  if (path === 'files') return sendFiles(state, url.searchParams, response);
  if (path === 'changes/startPageToken')
    return sendJson(response, 200, { kind: 'drive#startPageToken', startPageToken: String(state.count + 1) });
  if (path === 'changes') return sendChanges(state, url.searchParams, response);
  const id = decodeURIComponent(path.replace(/^files\//, ''));
  const file = state.files.get(id === 'root' ? 'root-folder' : id);
  if (file) sendJson(response, 200, file);
  else sendError(response, 404, 'notFound', `File not found: ${id}.`);
}

const CODES: Partial<Record<DriveFault, [number, string, string]>> = {
  unauthorized: [401, 'authError', 'Invalid Credentials'],
  rateLimitExceeded: [403, 'userRateLimitExceeded', 'User Rate Limit Exceeded'],
  insufficientPermissions: [
    403,
    'insufficientPermissions',
    'Request had insufficient authentication scopes.',
  ],
  forbidden: [403, 'appNotAuthorizedToFile', 'The app is not authorized'],
  notFound: [404, 'notFound', 'File not found: .'],
  gone: [410, 'updatedMinTooLongAgo', 'Sync token is no longer valid'],
  tooManyRequests: [429, 'rateLimitExceeded', 'Rate Limit Exceeded'],
  unavailable: [503, 'backendError', 'Backend Error'],
};

function fail(fault: DriveFault, request: IncomingMessage, response: ServerResponse): void {
  const found = CODES[fault];
  if (found) {
    if (fault === 'tooManyRequests') response.setHeader('retry-after', '17');
    sendError(response, ...found);
  } else if (fault === 'drop') request.socket.destroy();
  else if (fault === 'garbage') response.writeHead(200).end('<html>captive portal</html>');
}

function sendError(response: ServerResponse, code: number, reason: string, message: string): void {
  sendJson(response, code, { error: { code, message, errors: [{ message, domain: 'global', reason }] } });
}

function sendFiles(state: State, query: URLSearchParams, response: ServerResponse): void {
  const [era, start] = (query.get('pageToken') ?? `${state.era}:0`).split(':').map(Number);
  if (era !== state.era) return sendError(response, 400, 'invalid', 'Invalid Value');
  const words = (query.get('q') ?? '').split(' and ');
  const found = [...state.files.values()]
    .filter((file) => words.every((word) => fits(file, word)))
    .toSorted((a, b) => (a.createdTime < b.createdTime ? -1 : 1));
  const end = (start ?? 0) + Math.min(Number(query.get('pageSize') ?? 100), state.pageSize);
  sendJson(response, 200, {
    kind: 'drive#fileList',
    incompleteSearch: false,
    files: found.slice(start, end),
    ...(end < found.length && { nextPageToken: `${state.era}:${end}` }),
  });
}

function fits(file: StoredFile, word: string): boolean {
  if (word === 'trashed = false') return !file.trashed;
  const [, parent] = /^'(.+)' in parents$/.exec(word) ?? [];
  if (parent !== undefined) return file.parents.includes(parent);
  const [, operator, type] = /^mimeType (=|!=) '(.+)'$/.exec(word) ?? [];
  if (type === undefined) throw new Error(`this server does not know ${word}`);
  return (file.mimeType === type) === (operator === '=');
}

function sendChanges(state: State, query: URLSearchParams, response: ServerResponse): void {
  const start = Number(query.get('pageToken'));
  if (start <= state.oldest && state.era > 0)
    return sendError(response, 410, 'updatedMinTooLongAgo', 'Sync token is no longer valid');
  const all = state.changes.filter(({ number }) => number >= start);
  const page = all.slice(0, Math.min(Number(query.get('pageSize') ?? 100), state.pageSize));
  const last = page.at(-1)?.number ?? 0;
  sendJson(response, 200, {
    kind: 'drive#changeList',
    changes: page.map(({ fileId }) => changeOf(fileId, state.files.get(fileId))),
    ...(page.length < all.length
      ? { nextPageToken: String(last + 1) }
      : { newStartPageToken: String(state.count + 1) }),
  });
}

function changeOf(fileId: string, file: StoredFile | undefined) {
  const common = { kind: 'drive#change', changeType: 'file', time: new Date().toISOString(), fileId };
  return file ? { ...common, removed: false, file } : { ...common, removed: true };
}
