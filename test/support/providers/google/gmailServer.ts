/**
 * A server that speaks the wire format of Gmail's REST API, as its documentation has it:
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/users/getProfile
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/list (newest first, page
 *   tokens, `q`)
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/get (formats raw, full,
 *   metadata, minimal)
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages.attachments/get
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.history/list (404 for a start
 *   that is too old)
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.labels/list
 * https://developers.google.com/workspace/gmail/api/guides/handle-errors (401, 403, 429, 5xx and their
 *   bodies)
 * Of `q` it knows after:, before: (in seconds) and is:unread.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import PostalMime from 'postal-mime';
import { listen, sendJson } from '../../network/listen.ts';

type Stored = { id: string; raw: Buffer; labels: Set<string>; internalDate: number };
type Record = {
  id: string;
  messagesAdded: { message: { id: string; threadId: string; labelIds: string[] } }[];
};

/** How every request fails. */
export type GmailFault =
  | 'unauthorized'
  | 'rateLimitExceeded'
  | 'insufficientPermissions'
  | 'tooManyRequests'
  | 'unavailable'
  | 'drop'
  | 'hang'
  | 'garbage';

export type GmailServer = {
  url: string;
  /** Accepts a mail as if it had just come; its id. */
  deliver(raw: string | Buffer, options?: { labels?: string[]; internalDate?: number }): string;
  remove(id: string): void;
  label(id: string, labels: string[]): void;
  /** Forgets the history up to now, as the real one does after a week or so. */
  expireHistory(): void;
  setFault(fault: GmailFault | undefined): void;
  /** Method, path and query of every request so far. */
  requests: string[];
  /** The bytes of all answers so far. */
  sentBytes(): number;
  close(): Promise<void>;
};

export type GmailOptions = {
  token?: string;
  emailAddress?: string;
  pageSize?: number;
  userLabels?: { id: string; name: string }[];
};

type State = {
  options: Required<GmailOptions>;
  mails: Stored[];
  history: Record[];
  historyId: number;
  oldest: number;
  fault: GmailFault | undefined;
  requests: string[];
  sent: number;
};

/** Starts it. `token` is the one that is taken; `pageSize` bounds every page, whatever is asked for. */
export async function startGmailServer(options: GmailOptions = {}): Promise<GmailServer> {
  const { token = 'good-token', emailAddress = 'ada@example.com', pageSize = 500, userLabels = [] } = options;
  const state: State = {
    options: { token, emailAddress, pageSize, userLabels },
    mails: [],
    history: [],
    historyId: 1_000,
    oldest: 1_000,
    fault: undefined,
    requests: [],
    sent: 0,
  };
  const server = await listen((request, response) => answer(state, request, response));
  return {
    url: server.url,
    requests: state.requests,
    sentBytes: () => state.sent,
    deliver: (raw, { labels = ['INBOX', 'UNREAD'], internalDate = Date.now() } = {}) => {
      const id = (0x19_0000_0000_0000n + BigInt(state.mails.length + 1)).toString(16);
      state.mails.push({ id, raw: Buffer.from(raw), labels: new Set(labels), internalDate });
      // "History IDs increase chronologically but are not contiguous".
      state.historyId += 7;
      const message = { id, threadId: id, labelIds: labels };
      state.history.push({ id: String(state.historyId), messagesAdded: [{ message }] });
      return id;
    },
    remove: (id) => {
      state.mails = state.mails.filter((mail) => mail.id !== id);
      state.historyId += 3;
    },
    label: (id, labels) => {
      for (const mail of state.mails) if (mail.id === id) mail.labels = new Set(labels);
      state.historyId += 3;
    },
    expireHistory: () => {
      state.historyId += 5;
      state.oldest = state.historyId;
    },
    setFault: (fault) => {
      state.fault = fault;
    },
    close: () => server.close(),
  };
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://gmail');
  state.requests.push(`${request.method} ${url.pathname}${url.search}`);
  if (fail(state.fault, request, response)) return;
  if (request.headers.authorization !== `Bearer ${state.options.token}`) {
    sendError(response, 401, 'authError', 'Invalid Credentials');
    return;
  }
  const found = await resource(state, url);
  if (found === undefined) sendError(response, 404, 'notFound', 'Requested entity was not found.');
  else {
    state.sent += JSON.stringify(found).length;
    sendJson(response, 200, found);
  }
}

function fail(fault: GmailFault | undefined, request: IncomingMessage, response: ServerResponse): boolean {
  switch (fault) {
    case undefined:
      return false;
    case 'unauthorized':
      sendError(response, 401, 'authError', 'Invalid Credentials');
      return true;
    case 'rateLimitExceeded':
      sendError(response, 403, 'rateLimitExceeded', 'Rate Limit Exceeded', 'usageLimits');
      return true;
    case 'insufficientPermissions':
      sendError(response, 403, 'insufficientPermissions', 'Request had insufficient authentication scopes.');
      return true;
    case 'tooManyRequests':
      response.setHeader('retry-after', '17');
      sendError(response, 429, 'rateLimitExceeded', 'User-rate limit exceeded.', 'usageLimits');
      return true;
    case 'unavailable':
      sendError(response, 503, 'backendError', 'Backend Error');
      return true;
    case 'drop':
      request.socket.destroy();
      return true;
    case 'hang':
      return true;
    case 'garbage':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>captive portal</html>');
      return true;
  }
}

function sendError(
  response: ServerResponse,
  code: number,
  reason: string,
  message: string,
  domain = 'global',
): void {
  sendJson(response, code, { error: { code, message, errors: [{ message, domain, reason }] } });
}

/** What is at the path; undefined: nothing. */
async function resource(state: State, url: URL): Promise<unknown> {
  const path = url.pathname.replace(/^\/gmail\/v1\/users\/me\//, '');
  const [kind, id, below, part] = path.split('/');
  if (path === 'profile') return profile(state);
  if (path === 'labels')
    return { labels: [{ id: 'INBOX', name: 'INBOX', type: 'system' }, ...state.options.userLabels] };
  if (path === 'messages') return list(state, url.searchParams);
  if (path === 'history') return history(state, url.searchParams);
  const mail = kind === 'messages' ? state.mails.find((each) => each.id === id) : undefined;
  if (!mail) return undefined;
  if (below === 'attachments') return attachment(mail, part ?? '');
  return message(mail, url.searchParams.get('format') ?? 'full', url.searchParams.getAll('metadataHeaders'));
}

function profile({ options, mails, historyId }: State) {
  const { emailAddress } = options;
  return {
    emailAddress,
    messagesTotal: mails.length,
    threadsTotal: mails.length,
    historyId: String(historyId),
  };
}

function list({ mails, options }: State, query: URLSearchParams) {
  const words = (query.get('q') ?? '').split(' ').filter(Boolean);
  const labels = query.getAll('labelIds');
  const found = mails
    .filter(
      (mail) => labels.every((label) => mail.labels.has(label)) && words.every((word) => fits(mail, word)),
    )
    .toSorted((a, b) => b.internalDate - a.internalDate || (a.id < b.id ? 1 : -1));
  const { page, next } = pageOf(found, query, options.pageSize);
  // A list without results has no member for them.
  return {
    ...(page.length > 0 && { messages: page.map(({ id }) => ({ id, threadId: id })) }),
    ...next,
    resultSizeEstimate: Math.min(found.length, 201),
  };
}

function fits({ internalDate, labels }: Stored, word: string): boolean {
  const [name, value = ''] = word.split(':');
  if (name === 'after') return Math.floor(internalDate / 1_000) > Number(value);
  if (name === 'before') return Math.floor(internalDate / 1_000) < Number(value);
  if (word === 'is:unread') return labels.has('UNREAD');
  throw new Error(`this server does not know ${word}`);
}

function history({ history, historyId, oldest, options }: State, query: URLSearchParams) {
  const start = Number(query.get('startHistoryId'));
  if (start < oldest) return undefined;
  const label = query.get('labelId');
  const found = history.filter(
    ({ id, messagesAdded }) =>
      Number(id) > start && (!label || messagesAdded.some(({ message }) => message.labelIds.includes(label))),
  );
  const { page, next } = pageOf(found, query, options.pageSize);
  return { ...(page.length > 0 && { history: page }), ...next, historyId: String(historyId) };
}

function pageOf<T>(
  all: T[],
  query: URLSearchParams,
  most: number,
): { page: T[]; next: { nextPageToken?: string } } {
  const start = Number(query.get('pageToken') ?? 0);
  const size = Math.min(Number(query.get('maxResults') ?? 100), most);
  const end = start + size;
  return { page: all.slice(start, end), next: end < all.length ? { nextPageToken: String(end) } : {} };
}

async function message(mail: Stored, format: string, wanted: string[]) {
  const head = {
    id: mail.id,
    threadId: mail.id,
    labelIds: [...mail.labels],
    internalDate: String(mail.internalDate),
    sizeEstimate: mail.raw.length,
  };
  if (format === 'raw') return { ...head, raw: mail.raw.toString('base64url') };
  if (format === 'minimal') return head;
  const { headers, attachments, text = '', html } = await PostalMime.parse(mail.raw);
  const shown = headers.map(({ originalKey: name, value }) => ({ name, value }));
  if (format === 'metadata') {
    const names = wanted.map((name) => name.toLowerCase());
    return {
      ...head,
      payload: {
        headers: shown.filter(({ name }) => names.length === 0 || names.includes(name.toLowerCase())),
      },
    };
  }
  const parts = [
    textPart('0', 'text/plain', text),
    ...(html === undefined ? [] : [textPart('1', 'text/html', html)]),
    ...attachments.map(({ filename, mimeType, content }, index) => ({
      partId: String(index + 2),
      mimeType,
      filename: filename ?? '',
      headers: [{ name: 'Content-Disposition', value: `attachment; filename="${filename}"` }],
      body: { attachmentId: `attachment-${index}`, size: Buffer.from(content as ArrayBuffer).length },
    })),
  ];
  return {
    ...head,
    payload: {
      partId: '',
      mimeType: 'multipart/mixed',
      filename: '',
      headers: shown,
      body: { size: 0 },
      parts,
    },
  };
}

function textPart(partId: string, mimeType: string, text: string) {
  const data = Buffer.from(text);
  return {
    partId,
    mimeType,
    filename: '',
    headers: [{ name: 'Content-Type', value: `${mimeType}; charset="UTF-8"` }],
    body: { size: data.length, data: data.toString('base64url') },
  };
}

async function attachment(mail: Stored, id: string) {
  const { attachments } = await PostalMime.parse(mail.raw);
  const content = attachments[Number(id.replace('attachment-', ''))]?.content;
  if (content === undefined) return undefined;
  const data = Buffer.from(content as ArrayBuffer);
  return { size: data.length, data: data.toString('base64url') };
}
