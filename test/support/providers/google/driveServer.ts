/**
 * A server that speaks the wire format of Google Drive's REST API, as its documentation has it:
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/about/get
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/files/get (404 for what the account may
 *   not see)
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/files/list (q, orderBy, page tokens)
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/changes/getStartPageToken
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/changes/list (one entry for each file,
 *   nextPageToken or newStartPageToken)
 * https://developers.google.com/workspace/drive/api/guides/manage-uploads#multipart (create and update)
 * https://developers.google.com/workspace/drive/api/guides/manage-downloads (alt=media, export; 403 for media
 *   of Google's own documents)
 * https://developers.google.com/workspace/drive/api/guides/handle-errors (401, 403, 404, 410, 429, 5xx and
 *   their bodies)
 * https://developers.google.com/workspace/drive/api/guides/enable-shareddrives (`driveId`, `corpora`)
 * Of `q` it knows `'ID' in parents`, `name = '…'`, `trashed = false`, `mimeType = '…'`, `mimeType != '…'` and
 * `appProperties has { key='…' and value='…' }`, joined by `and`. `fields` is ignored.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, sendJson } from '../../network/listen.ts';

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
  /** The shared drive that it lies in. */
  driveId?: string;
  createdTime: string;
  modifiedTime: string;
  md5Checksum?: string;
  size?: string;
  webViewLink?: string;
  appProperties?: Record<string, string>;
  trashed: boolean;
};

export type DriveServer = {
  url: string;
  /**
   * Puts a file or folder there, or changes it; its id. Without changes it is as if somebody had shared it.
   */
  put(file: Partial<StoredFile> & { id: string }): string;
  /** Puts other content into it. */
  write(id: string): void;
  /** Has it removed for good, or out of sight. */
  remove(id: string): void;
  /** Takes none of the tokens that it gave so far. */
  expireTokens(): void;
  setFault(fault: DriveFault | undefined, within?: string): void;
  /** What is in a file. */
  content(id: string): string | undefined;
  files: ReadonlyMap<string, StoredFile>;
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
  contents: Map<string, Buffer>;
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
    contents: new Map(),
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
    files: state.files,
    content: (id) => state.contents.get(id)?.toString('utf8'),
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

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
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
    return sendJson(response, 200, {
      kind: 'drive#startPageToken',
      startPageToken: `${placeOf(url.searchParams)}${state.count + 1}`,
    });
  if (path === 'changes') return sendChanges(state, url.searchParams, response);
  if (path.startsWith('/upload/')) return upload(state, request, { path, response });
  sendFile(state, url, { path, response });
}

function sendFile(
  state: State,
  { searchParams }: URL,
  { path, response }: { path: string; response: ServerResponse },
): void {
  const [, encodedId = '', exported] = path.split('/');
  const id = decodeURIComponent(encodedId);
  const file = state.files.get(id === 'root' ? 'root-folder' : id);
  if (!file) return sendError(response, 404, 'notFound', `File not found: ${id}.`);
  const isMedia = searchParams.get('alt') === 'media';
  if (isMedia && file.mimeType.startsWith('application/vnd.google-apps'))
    sendError(response, 403, 'fileNotDownloadable', 'Only files with binary content can be downloaded.');
  else if (isMedia || exported === 'export') response.writeHead(200).end(state.contents.get(id));
  else sendJson(response, 200, file);
}

async function upload(
  state: State,
  request: IncomingMessage,
  { path, response }: { path: string; response: ServerResponse },
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const boundary = /boundary=(.+)$/.exec(request.headers['content-type'] ?? '')?.[1] ?? '';
  const [, head = '', media = ''] = Buffer.concat(chunks).toString('latin1').split(`--${boundary}`);
  const bodyOf = (part: string) => Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4, -2), 'latin1');
  const metadata = JSON.parse(bodyOf(head).toString('utf8')) as Partial<StoredFile>;
  const known = state.files.get(decodeURIComponent(path.split('/')[5] ?? ''));
  const parent = metadata.parents?.[0] ?? 'root-folder';
  if (!known && !state.files.has(parent))
    return sendError(response, 404, 'notFound', `File not found: ${parent}.`);
  const id = known?.id ?? `uploaded-${state.files.size}`;
  const content = bodyOf(media);
  state.contents.set(id, content);
  const file = { ...stored({ id }), ...known, ...metadata, id, size: String(content.length) };
  state.files.set(id, { ...file, webViewLink: `https://drive.google.com/file/d/${id}/view` });
  sendJson(response, 200, state.files.get(id));
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
  // The word before a value is part of what is asked of properties.
  const words = (query.get('q') ?? '').split(/ and (?!value=)/);
  const driveId = query.get('corpora') === 'drive' ? query.get('driveId') : undefined;
  const found = [...state.files.values()]
    .filter((file) => driveId === undefined || file.driveId === driveId)
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
  const [, name] = /^name = '(.*)'$/.exec(word) ?? [];
  if (name !== undefined) return file.name === name.replaceAll(/\\(.)/g, '$1');
  const [, key = '', value] = /^appProperties has \{ key='(.+)' and value='(.+)' \}$/.exec(word) ?? [];
  if (value !== undefined) return file.appProperties?.[key] === value;
  const [, parent] = /^'(.+)' in parents$/.exec(word) ?? [];
  if (parent !== undefined) return file.parents.includes(parent === 'root' ? 'root-folder' : parent);
  const [, operator, type] = /^mimeType (=|!=) '(.+)'$/.exec(word) ?? [];
  if (type === undefined) throw new Error(`this server does not know ${word}`);
  return (file.mimeType === type) === (operator === '=');
}

/** A shared drive has changes and tokens of its own. */
function placeOf(query: URLSearchParams): string {
  const driveId = query.get('driveId');
  return driveId === null ? '' : `${driveId}:`;
}

function sendChanges(state: State, query: URLSearchParams, response: ServerResponse): void {
  const [place, token] = [placeOf(query), query.get('pageToken') ?? ''];
  const start = token.startsWith(place) ? Number(token.slice(place.length)) : Number.NaN;
  if (Number.isNaN(start)) return sendError(response, 400, 'invalid', 'Invalid Value');
  if (start <= state.oldest && state.era > 0)
    return sendError(response, 410, 'updatedMinTooLongAgo', 'Sync token is no longer valid');
  const lies = (fileId: string) => place === '' || `${state.files.get(fileId)?.driveId}:` === place;
  const all = state.changes.filter(({ number, fileId }) => number >= start && lies(fileId));
  const page = all.slice(0, Math.min(Number(query.get('pageSize') ?? 100), state.pageSize));
  const last = page.at(-1)?.number ?? 0;
  sendJson(response, 200, {
    kind: 'drive#changeList',
    changes: page.map(({ fileId }) => changeOf(fileId, state.files.get(fileId))),
    ...(page.length < all.length
      ? { nextPageToken: `${place}${last + 1}` }
      : { newStartPageToken: `${place}${state.count + 1}` }),
  });
}

function changeOf(fileId: string, file: StoredFile | undefined) {
  const common = { kind: 'drive#change', changeType: 'file', time: new Date().toISOString(), fileId };
  return file ? { ...common, removed: false, file } : { ...common, removed: true };
}
