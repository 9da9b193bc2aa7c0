/**
 * A server that speaks the wire format of Microsoft Graph for a OneDrive, as its documentation has it:
 * https://learn.microsoft.com/graph/api/drive-get
 * https://learn.microsoft.com/graph/api/driveitem-get (404 itemNotFound)
 * https://learn.microsoft.com/graph/api/driveitem-delta (all items first, then what changed; nextLink and
 *   deltaLink; 410 resyncRequired)
 * https://learn.microsoft.com/graph/errors, https://learn.microsoft.com/graph/throttling (codes, Retry-After)
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, sendJson } from '../../network/listen.ts';

/** How every request fails, or those whose path holds a text. */
export type GraphFault =
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'gone'
  | 'tooManyRequests'
  | 'unavailable'
  | 'drop'
  | 'hang'
  | 'garbage'
  | 'otherHost';

type Item = {
  id: string;
  name: string;
  cTag: string;
  lastModifiedDateTime: string;
  parentReference: { id: string };
  file?: { mimeType: string };
  folder?: object;
  size?: number;
  webUrl?: string;
  deleted?: object;
};

export type GraphServer = {
  url: string;
  /** Puts a file or folder there, or changes it. */
  put(item: Partial<Item> & { id: string; parent?: string }): void;
  /** Puts other content into it. */
  write(id: string): void;
  remove(id: string): void;
  /** Takes none of the tokens that it gave so far. */
  expireTokens(): void;
  setFault(fault: GraphFault | undefined, within?: string): void;
  /** Method, path and query of every request so far. */
  requests: string[];
  close(): Promise<void>;
};

export type GraphOptions = { token?: string; driveId?: string; pageSize?: number };

type State = {
  items: Map<string, Item>;
  /** By id, in the order of the last change. */
  changes: Map<string, { number: number; deleted: boolean }>;
  count: number;
  era: number;
};

/** Starts it. `token` is the one that is taken. */
export async function startGraphServer(options: GraphOptions = {}): Promise<GraphServer> {
  const { token = 'good-token', driveId = 'b!drive', pageSize = 200 } = options;
  const state: State = { items: new Map(), changes: new Map(), count: 0, era: 0 };
  const requests: string[] = [];
  let fault: { fault: GraphFault; within: string } | undefined;
  const changed = (id: string, deleted: boolean) => {
    state.changes.delete(id);
    state.changes.set(id, { number: (state.count += 1), deleted });
  };
  const server = await listen((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    if (fault && url.pathname.includes(fault.within)) return fail(fault.fault, request, response);
    if (request.headers.authorization !== `Bearer ${token}`)
      return sendError(response, 401, 'InvalidAuthenticationToken');
    const path = url.pathname.replace(/^\/v1\.0\/me\/drive\/?/, '');
    if (path === '') return sendJson(response, 200, { id: driveId });
    if (path === 'root/delta') return sendDelta(state, url, { response, pageSize });
    const item = state.items.get(
      path === 'root' ? 'root-id' : decodeURIComponent(path.replace('items/', '')),
    );
    if (item) sendJson(response, 200, item);
    else sendError(response, 404, 'itemNotFound');
  });
  const put: GraphServer['put'] = ({ parent = 'root-id', ...item }) => {
    const before = state.items.get(item.id);
    const kind = item.folder ? { folder: item.folder } : { file: { mimeType: 'text/plain' }, size: 3 };
    state.items.set(item.id, {
      name: item.id,
      cTag: 'c:1',
      lastModifiedDateTime: new Date().toISOString(),
      parentReference: { id: parent },
      ...(before ?? kind),
      ...item,
      ...(before && parent !== 'root-id' && { parentReference: { id: parent } }),
    });
    changed(item.id, false);
  };
  put({ id: 'root-id', name: 'root', folder: {} });
  return {
    url: server.url,
    requests,
    put,
    write: (id) => put({ id, cTag: `c:${state.count + 2}`, lastModifiedDateTime: new Date().toISOString() }),
    remove: (id) => {
      state.items.delete(id);
      changed(id, true);
    },
    expireTokens: () => void (state.era += 1),
    setFault: (kind, within = '') => {
      fault = kind && { fault: kind, within };
    },
    close: () => server.close(),
  };
}

type Page = { response: ServerResponse; pageSize: number };

/** A token is the era, whether all is listed, and the number of the last change that was sent. */
function sendDelta(state: State, url: URL, { response, pageSize }: Page): void {
  const token = url.searchParams.get('token') ?? `${state.era}.all.0`;
  const [era, kind, after] = token.split('.');
  if (era !== String(state.era)) return sendError(response, 410, 'resyncRequired');
  const found = [...state.changes].filter(
    ([, { number, deleted }]) => number > Number(after) && !(deleted && kind === 'all'),
  );
  const page = found.slice(0, pageSize);
  const last = page.at(-1)?.[1].number ?? after;
  const isPart = page.length < found.length;
  const next = `${url.origin}/v1.0/me/drive/root/delta?token=${era}.${isPart ? kind : 'changes'}.${last}`;
  sendJson(response, 200, {
    value: page.map(([id]) => state.items.get(id) ?? { id, deleted: { state: 'deleted' } }),
    [isPart ? '@odata.nextLink' : '@odata.deltaLink']: next,
  });
}

const CODES: Partial<Record<GraphFault, [number, string]>> = {
  unauthorized: [401, 'InvalidAuthenticationToken'],
  forbidden: [403, 'accessDenied'],
  notFound: [404, 'itemNotFound'],
  gone: [410, 'resyncRequired'],
  tooManyRequests: [429, 'activityLimitReached'],
  unavailable: [503, 'serviceNotAvailable'],
};

function fail(fault: GraphFault, request: IncomingMessage, response: ServerResponse): void {
  const found = CODES[fault];
  if (found) {
    if (fault === 'tooManyRequests') response.setHeader('retry-after', '17');
    sendError(response, ...found);
  } else if (fault === 'drop') request.socket.destroy();
  else if (fault === 'garbage') response.writeHead(200).end('<html>captive portal</html>');
  else if (fault === 'otherHost')
    sendJson(response, 200, { value: [], '@odata.deltaLink': 'http://127.0.0.1:1/steal?token=1' });
}

function sendError(response: ServerResponse, status: number, code: string): void {
  sendJson(response, status, { error: { code, message: code, innerError: { 'request-id': '1' } } });
}
