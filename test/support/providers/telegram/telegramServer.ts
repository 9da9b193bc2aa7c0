/**
 * A server that speaks the wire format of Telegram's Bot API, as its documentation has it:
 * https://core.telegram.org/bots/api#making-requests (the token in the path; parameters as JSON, form or
 *   query; `ok`, `result`, `description`, `error_code`, `parameters.retry_after`)
 * https://core.telegram.org/bots/api#getme
 * https://core.telegram.org/bots/api#setwebhook (`url`, `secret_token`, `allowed_updates`,
 *   `drop_pending_updates`, `max_connections`)
 * https://core.telegram.org/bots/api#deletewebhook and #getwebhookinfo (of the secret it says nothing)
 * https://core.telegram.org/bots/api#sendmessage (`chat_id`, `text` of 1 to 4096 characters, `parse_mode`)
 * https://core.telegram.org/bots/webhooks (what it delivers, and the header X-Telegram-Bot-Api-Secret-Token)
 * https://core.telegram.org/bots/api#using-a-local-bot-api-server (which takes URLs without TLS, on any port)
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson } from '../../network/listen.ts';

/** How every request fails. */
export type TelegramFault =
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'tooManyRequests'
  | 'unavailable'
  | 'drop'
  | 'hang'
  | 'garbage';

type Webhook = {
  url: string;
  secretToken: string | undefined;
  allowedUpdates: string[] | undefined;
  pending: object[];
  lastError?: { date: number; message: string };
};

type SentMessage = { chatId: number | string; text: string; parseMode: string | undefined };

export type TelegramServer = {
  url: string;
  /** The bot's webhook as it is registered; its `url` is empty where none is. */
  webhook(token?: string): Webhook;
  /** What somebody else does to the bot with the token. */
  register(webhook: Partial<Webhook>, token?: string): void;
  /**
   * Sends the bot an update: delivered at once where a webhook is registered, else it waits. The status that
   * the webhook answered with; undefined where nothing was delivered.
   */
  deliver(update: object, token?: string): Promise<number | undefined>;
  setFault(fault: TelegramFault | undefined): void;
  /** The method of each request so far, and its parameters. */
  calls: { method: string; parameters: Record<string, unknown> }[];
  sent: SentMessage[];
  close(): Promise<void>;
};

export const TELEGRAM_TOKEN = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
/** What `tooManyRequests` asks to wait. */
const RETRY_AFTER_SECONDS = 17;
const LONGEST_TEXT = 4096;
const PORTS = new Set(['', '80', '88', '443', '8443']);

export type TelegramOptions = {
  /** The tokens that it knows a bot for. */
  tokens?: string[];
  /** True: it knows a bot for every number, whose token ends as that of TELEGRAM_TOKEN does. */
  anyNumber?: boolean;
  /** True: it takes URLs without TLS, as a Bot API server of one's own does. */
  isLocal?: boolean;
  port?: number;
  host?: string;
};

type State = Pick<TelegramServer, 'calls' | 'sent'> & {
  webhooks: Map<string, Webhook>;
  anyNumber: boolean;
  isLocal: boolean;
  fault: TelegramFault | undefined;
};

/** Starts it. */
export async function startTelegramServer({
  tokens = [TELEGRAM_TOKEN],
  anyNumber = false,
  isLocal = false,
  port = 0,
  host = '127.0.0.1',
}: TelegramOptions = {}): Promise<TelegramServer> {
  const webhooks = new Map(tokens.map((token) => [token, none()]));
  const state: State = { webhooks, anyNumber, isLocal, fault: undefined, calls: [], sent: [] };
  const server = await listen((request, response) => answer(state, request, response), { port, host });
  const of = (token: string): Webhook => {
    const webhook = webhookOf(state, token);
    if (!webhook) throw new Error('there is no such bot');
    return webhook;
  };
  return {
    url: server.url,
    calls: state.calls,
    sent: state.sent,
    webhook: (token = TELEGRAM_TOKEN) => of(token),
    register: (webhook, token = TELEGRAM_TOKEN) => void Object.assign(of(token), webhook),
    deliver: (update, token = TELEGRAM_TOKEN) => deliver(of(token), update),
    setFault: (fault) => {
      state.fault = fault;
    },
    close: () => server.close(),
  };
}

function none(pending: object[] = []): Webhook {
  return { url: '', secretToken: undefined, allowedUpdates: undefined, pending };
}

/** That of the bot with this token; undefined where there is no such bot. */
function webhookOf({ webhooks, anyNumber }: State, token: string): Webhook | undefined {
  if (anyNumber && !webhooks.has(token) && token === tokenOf(Number.parseInt(token, 10)))
    webhooks.set(token, none());
  return webhooks.get(token);
}

/** The token of the bot with that number, where there is one for every number. */
export function tokenOf(bot: number): string {
  return TELEGRAM_TOKEN.replace(/^\d+/, String(bot));
}

async function deliver(webhook: Webhook, update: object): Promise<number | undefined> {
  const { url, secretToken } = webhook;
  webhook.pending.push(update);
  if (url === '') return undefined;
  const { status } = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(secretToken !== undefined && { 'x-telegram-bot-api-secret-token': secretToken }),
    },
    body: JSON.stringify(update),
  });
  if (status >= 200 && status < 300) webhook.pending.pop();
  else webhook.lastError = { date: seconds(), message: `Wrong response from the webhook: ${status}` };
  return status;
}

function seconds(): number {
  return Math.floor(Date.now() / 1_000);
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://telegram');
  const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(decodeURIComponent(url.pathname)) ?? [];
  const parameters = await parametersOf(request, url);
  state.calls.push({ method, parameters });
  if (fail(state.fault, request, response)) return;
  const webhook = webhookOf(state, token);
  // Telegram answers 404 if the token is malformed.
  if (!/^\d+:[\w-]{30,}$/.test(token)) refuse(response, 404, 'Not Found');
  else if (!webhook) refuse(response, 401, 'Unauthorized');
  else perform({ state, token, webhook, method, parameters }, response);
}

async function parametersOf(request: IncomingMessage, url: URL): Promise<Record<string, unknown>> {
  const text = await readBody(request);
  const type = request.headers['content-type'] ?? '';
  const inQuery = Object.fromEntries(url.searchParams);
  if (type.startsWith('application/json') && text !== '')
    return { ...inQuery, ...(JSON.parse(text) as Record<string, unknown>) };
  return { ...inQuery, ...Object.fromEntries(new URLSearchParams(text)) };
}

function fail(fault: TelegramFault | undefined, request: IncomingMessage, response: ServerResponse): boolean {
  switch (fault) {
    case undefined:
      return false;
    case 'unauthorized':
      return refuse(response, 401, 'Unauthorized');
    case 'forbidden':
      return refuse(response, 403, 'Forbidden: bot was blocked by the user');
    case 'notFound':
      return refuse(response, 404, 'Not Found');
    case 'tooManyRequests': {
      const parameters = { retry_after: RETRY_AFTER_SECONDS };
      return refuse(response, 429, `Too Many Requests: retry after ${RETRY_AFTER_SECONDS}`, { parameters });
    }
    case 'unavailable':
      return refuse(response, 502, 'Bad Gateway');
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

function refuse(response: ServerResponse, code: number, description: string, more: object = {}): true {
  sendJson(response, code, { ok: false, error_code: code, description, ...more });
  return true;
}

type Call = {
  state: State;
  token: string;
  webhook: Webhook;
  method: string;
  parameters: Record<string, unknown>;
};

function perform(call: Call, response: ServerResponse): void {
  const said = resultOf(call);
  if (typeof said === 'string') refuse(response, said === 'Not Found' ? 404 : 400, said);
  else sendJson(response, 200, { ok: true, ...said });
}

/** What is answered, or the description of the error. */
function resultOf(call: Call): { result: unknown; description?: string } | string {
  switch (call.method.toLowerCase()) {
    case 'getme':
      return { result: { id: idOf(call), is_bot: true, first_name: 'Shop', username: 'shop_bot' } };
    case 'getwebhookinfo':
      return { result: infoOf(call.webhook) };
    case 'setwebhook':
      return setWebhook(call);
    case 'deletewebhook':
      return deleteWebhook(call);
    case 'sendmessage':
      return sendMessage(call);
    default:
      return 'Not Found';
  }
}

function idOf({ token }: Call): number {
  return Number(token.split(':')[0]);
}

function infoOf({ url, allowedUpdates, pending, lastError }: Webhook) {
  return {
    url,
    has_custom_certificate: false,
    pending_update_count: pending.length,
    ...(url !== '' && { max_connections: 40, ip_address: '203.0.113.7' }),
    ...(lastError && { last_error_date: lastError.date, last_error_message: lastError.message }),
    ...(allowedUpdates && { allowed_updates: allowedUpdates }),
  };
}

function setWebhook({ state, webhook, parameters }: Call): ReturnType<typeof resultOf> {
  const { url = '', secret_token: secretToken, drop_pending_updates: drop } = parameters;
  if (typeof url !== 'string' || url === '') return deleteWebhook({ webhook, parameters });
  const bad = (why: string) => `Bad Request: bad webhook: ${why}`;
  if (!URL.canParse(url)) return bad('invalid webhook URL specified');
  const { protocol, port } = new URL(url);
  if (!state.isLocal && protocol !== 'https:') return bad('An HTTPS URL must be provided for webhook');
  if (!state.isLocal && !PORTS.has(port))
    return bad('Webhook can be set up only on ports 80, 88, 443 or 8443');
  const isSecret = typeof secretToken === 'string' && /^[\w-]{1,256}$/.test(secretToken);
  if (secretToken !== undefined && !isSecret)
    return 'Bad Request: secret token contains unallowed characters';
  const allowed = listOf(parameters['allowed_updates']);
  if (isTrue(drop)) webhook.pending = [];
  webhook.url = url;
  webhook.secretToken = isSecret ? secretToken : undefined;
  // "If not specified, the previous setting will be used."
  if (allowed) webhook.allowedUpdates = allowed;
  delete webhook.lastError;
  return { result: true, description: 'Webhook was set' };
}

/** In JSON a list; else the text of one. */
function listOf(value: unknown): string[] | undefined {
  const list: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  return Array.isArray(list) ? list.map(String) : undefined;
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true' || value === 'True';
}

function deleteWebhook({
  webhook,
  parameters,
}: Pick<Call, 'webhook' | 'parameters'>): ReturnType<typeof resultOf> {
  const isThere = webhook.url !== '';
  const pending = isTrue(parameters['drop_pending_updates']) ? [] : webhook.pending;
  Object.assign(webhook, none(pending));
  delete webhook.lastError;
  return { result: true, description: isThere ? 'Webhook was deleted' : 'Webhook is already deleted' };
}

function sendMessage({ state, parameters }: Call): ReturnType<typeof resultOf> {
  const { chat_id: chatId, text, parse_mode: parseMode } = parameters;
  if (typeof chatId !== 'number' && typeof chatId !== 'string') return 'Bad Request: chat_id is empty';
  if (chatId === '' || chatId === 0) return 'Bad Request: chat not found';
  if (typeof text !== 'string' || text.trim() === '') return 'Bad Request: message text is empty';
  if (text.length > LONGEST_TEXT) return 'Bad Request: message is too long';
  if (parseMode === 'MarkdownV2') {
    // https://core.telegram.org/bots/api#markdownv2-style: these must be escaped wherever they mean nothing.
    const reserved = /(?<!\\)[#+\-={}.!]/.exec(text);
    if (reserved)
      return `Bad Request: can't parse entities: Character '${reserved[0]}' is reserved and must be escaped with the preceding '\\'`;
  }
  state.sent.push({ chatId, text, parseMode: typeof parseMode === 'string' ? parseMode : undefined });
  const chat = { id: chatId, type: 'private' };
  return { result: { message_id: state.sent.length, date: seconds(), chat, text } };
}
