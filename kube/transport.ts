/**
 * One HTTP exchange with the API server: pooled connections, bounded in time, and every failure an ApiError.
 * Calls and watches use separate pools, since a watch keeps its connection for as long as it lasts.
 */
import type { Dispatcher } from 'undici';
import type { KubeConnection } from './config.ts';
import { ApiError } from './errors.ts';
import { Agent } from './httpAgent.ts';
import { NotLeadingError, refuseWritesUnless } from './leaderOnly.ts';
import { parseRetryAfter } from './retry.ts';

export type Exchange = {
  method: string;
  /** With query. */
  path: string;
  body?: string | undefined;
  contentType?: string | undefined;
  accept?: string | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Bound of the wait for headers, and then of the body, in milliseconds. Waiting for a connection is not
   * counted.
   */
  timeoutMs: number;
};

type Answer = { status: number; text: string };

export type Transport = {
  /** Throws an ApiError for every status from 300 on. */
  send(exchange: Exchange): Promise<Answer>;
  /** The body as it arrives, on the watches' pool. The caller bounds its duration with the signal. */
  stream(exchange: Exchange): Promise<AsyncIterable<Buffer>>;
  close(): Promise<void>;
};

const connectTimeoutMs = 5_000;
/**
 * Longer than the pause between two calls of a quiet program, half a minute, so that it does not shake hands
 * each time. The API server closes connections that are idle for 90 s.
 */
const keepAliveMs = 60_000;
/** When the kernel begins to ask an idle connection whether it still exists. */
const probeAfterMs = 30_000;
/** Errors of connecting: nothing was sent. */
const notSentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export function createTransport(
  connection: KubeConnection,
  userAgent: string,
  maxConnections: number,
  mayWrite?: () => boolean,
): Transport {
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/+$/, '');
  const shared = { allowH2: false, keepAliveTimeout: keepAliveMs, connect: connectOptions(connection) };
  const calls = new Agent({ ...shared, connections: maxConnections });
  const fencedCalls = mayWrite === undefined ? calls : calls.compose(refuseWritesUnless(mayWrite));
  const watches = new Agent(shared);

  async function headers(exchange: Exchange): Promise<Record<string, string>> {
    const token = await connection.auth.token?.();
    return {
      accept: exchange.accept ?? 'application/json',
      'user-agent': userAgent,
      ...(exchange.body !== undefined && { 'content-type': exchange.contentType ?? 'application/json' }),
      ...(token !== undefined && token !== '' && { authorization: `Bearer ${token}` }),
    };
  }

  async function open(
    agent: Dispatcher,
    exchange: Exchange,
    bodyTimeout: number,
  ): Promise<Dispatcher.ResponseData> {
    return agent.request({
      origin,
      path: prefix + exchange.path,
      method: exchange.method,
      headers: await headers(exchange),
      body: exchange.body ?? null,
      headersTimeout: exchange.timeoutMs,
      bodyTimeout,
      signal: exchange.signal ?? null,
    });
  }

  return {
    send: async (exchange) => {
      try {
        const response = await open(fencedCalls, exchange, exchange.timeoutMs);
        return await readAnswer(exchange, response);
      } catch (error) {
        throw asApiError(exchange, error);
      }
    },
    stream: async (exchange) => {
      try {
        const response = await open(watches, exchange, 0);
        if (response.statusCode >= 300) await readAnswer(exchange, response);
        return chunks(exchange, response.body);
      } catch (error) {
        throw asApiError(exchange, error);
      }
    },
    close: async () => {
      await Promise.all([calls.destroy(), watches.destroy()]);
    },
  };
}

function connectOptions(connection: KubeConnection): object {
  return { ...reachOptions(connection), cert: connection.auth.cert, key: connection.auth.key };
}

/** How the API server is reached and known, and nothing of who we are. */
export function reachOptions(connection: Omit<KubeConnection, 'auth'>): object {
  return {
    ca: connection.ca,
    ...(connection.serverName !== undefined && { servername: connection.serverName }),
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
    timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
  };
}

async function* chunks(exchange: Exchange, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw asApiError(exchange, error);
  }
}

async function readAnswer(exchange: Exchange, response: Dispatcher.ResponseData): Promise<Answer> {
  const { body, statusCode } = response;
  const overdue = setTimeout(
    () => body.destroy(new Error('The answer did not end in time')),
    exchange.timeoutMs,
  );
  try {
    const text = await body.text();
    if (statusCode >= 300) throw refusal(exchange, response, text);
    return { status: statusCode, text };
  } finally {
    clearTimeout(overdue);
  }
}

function refusal(exchange: Exchange, response: Dispatcher.ResponseData, text: string): ApiError {
  const status = response.statusCode;
  const header = response.headers['retry-after'];
  const retryAfterMs = parseRetryAfter(typeof header === 'string' ? header : undefined, new Date());
  const said = parseStatus(text);
  return new ApiError({
    status,
    reason: said?.reason ?? '',
    message: `${describe(exchange)}: ${status} ${withoutValues(said?.message ?? text.slice(0, 200))}`.trim(),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/**
 * The server quotes the values that it refuses, and with them what users wrote: the message keeps field and
 * rule alone. (`field.Error` in k8s.io/apimachinery: a string in quotes, or JSON.)
 */
function withoutValues(message: string): string {
  return message
    .replaceAll(/((?:Invalid|Unsupported|Duplicate) value|Not found): "(?:[^"\\]|\\.)*"/g, '$1: …')
    .replaceAll(/((?:Invalid|Unsupported|Duplicate) value): [{[][^]*(?=: )/g, '$1: …');
}

/** A `metav1.Status`, which the server sends as the body of a refusal and as the object of an ERROR event. */
export type StatusBody = {
  code?: number;
  reason?: string;
  message?: string;
  details?: { retryAfterSeconds?: number };
};

function parseStatus(text: string): StatusBody | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What was thrown as an ApiError, but for what stays what it is: the abort of a signal, and what was not to
 * be sent.
 */
function asApiError(exchange: Exchange, error: unknown): unknown {
  if (error instanceof ApiError || error instanceof NotLeadingError) return error;
  if (exchange.signal?.aborted === true) return exchange.signal.reason;
  const code = codeOf(error);
  return new ApiError({
    status: 0,
    reason: code,
    message: `${describe(exchange)}: no answer from the API server (${code})`,
    notSent: notSentCodes.has(code),
    cause: error,
  });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Verb and path without the query, which may hold long selectors. */
function describe(exchange: { method: string; path: string }): string {
  return `${exchange.method} ${exchange.path.split('?', 1)[0] ?? ''}`;
}
