/**
 * One HTTP exchange with the API server: pooled connections, bounded in time, and every failure an ApiError.
 * Calls and watches use separate pools, since a watch keeps its connection for as long as it lasts.
 */
import type { KubeConnection } from './config.ts';
import { ApiError } from './errors.ts';
import {
  CONNECT_MS,
  NotSentError,
  PROBE_AFTER_MS,
  type CreatePool,
  type HttpPool,
  type PooledAnswer,
} from './httpPool.ts';
import { NotLeadingError, refuseWriteUnless } from './leaderOnly.ts';
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

type TransportOptions = {
  userAgent: string;
  /** Of calls. */
  maxConnections: number;
  /** Whether a write may be sent at this moment. */
  mayWrite?: (() => boolean) | undefined;
  createPool: CreatePool;
};

export function createTransport(
  connection: KubeConnection,
  { userAgent, maxConnections, mayWrite, createPool }: TransportOptions,
): Transport {
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/+$/, '');
  const { cert, key } = connection.auth;
  const shared = { origin, tls: { ...trustOptions(connection), cert, key } };
  const beforeSent = mayWrite && ((method: string) => refuseWriteUnless(mayWrite, method));
  const calls = createPool({ ...shared, maxConnections, beforeSent });
  const watches = createPool(shared);

  async function headers({ accept, body, contentType }: Exchange): Promise<Record<string, string>> {
    const token = await connection.auth.token?.();
    return {
      accept: accept ?? 'application/json',
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
      ...(token !== undefined && token !== '' && { authorization: `Bearer ${token}` }),
    };
  }

  async function open(pool: HttpPool, exchange: Exchange): Promise<PooledAnswer> {
    const { method, path, body, signal, timeoutMs } = exchange;
    return pool.request({
      method,
      path: prefix + path,
      headers: await headers(exchange),
      body,
      signal,
      headersMs: timeoutMs,
    });
  }

  return {
    send: async (exchange) => {
      try {
        return await readAnswer(exchange, await open(calls, exchange));
      } catch (error) {
        throw asApiError(exchange, error);
      }
    },
    stream: async (exchange) => {
      try {
        const response = await open(watches, exchange);
        if (response.status >= 300) await readAnswer(exchange, response);
        return chunks(exchange, response.body);
      } catch (error) {
        throw asApiError(exchange, error);
      }
    },
    close: async () => {
      await Promise.all([calls.close(), watches.close()]);
    },
  };
}

/** How the API server is reached and known, and nothing of who we are: options of undici's connections. */
export function reachOptions(connection: Omit<KubeConnection, 'auth'>): object {
  return {
    ...trustOptions(connection),
    timeout: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
  };
}

function trustOptions(connection: Omit<KubeConnection, 'auth'>): object {
  return {
    ca: connection.ca,
    ...(connection.serverName !== undefined && { servername: connection.serverName }),
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
  };
}

async function* chunks(exchange: Exchange, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw asApiError(exchange, error);
  }
}

async function readAnswer(exchange: Exchange, answer: PooledAnswer): Promise<Answer> {
  const { status, headers } = answer;
  const overdue = setTimeout(
    () => answer.body.destroy(new Error('The answer did not end in time')),
    exchange.timeoutMs,
  );
  try {
    const text = await answer.text();
    if (status >= 300) throw refusal(exchange, { status, retryAfter: headers['retry-after'], text });
    return { status, text };
  } finally {
    clearTimeout(overdue);
  }
}

type Refused = Answer & { retryAfter: string | string[] | undefined };

function refusal(exchange: Exchange, { status, text, retryAfter }: Refused): ApiError {
  const header = typeof retryAfter === 'string' ? retryAfter : undefined;
  const retryAfterMs = parseRetryAfter(header, new Date());
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
  const isNotSent = error instanceof NotSentError;
  const cause = isNotSent ? error.cause : error;
  const code = codeOf(cause);
  return new ApiError({
    status: 0,
    reason: code,
    message: `${describe(exchange)}: no answer from the API server (${code})`,
    notSent: isNotSent,
    cause,
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
