/**
 * Forwards requests to the API server with the token of the caller, never with an identity of this program.
 * Of the connection it uses only the address of the API server and the trusted certificate authorities.
 */
import type { KubeConnection } from './config.ts';
import { ApiError } from './errors.ts';
import { Agent } from './httpAgent.ts';
import { reachOptions } from './transport.ts';

export type PassedRequest = {
  method: string;
  /** With query. */
  path: string;
  /** The token of the caller. A request without one is not sent. */
  token: string;
  accept: string;
  acceptEncoding?: string | undefined;
  body?: Uint8Array | undefined;
  contentType?: string | undefined;
  /** Aborts the request and the reading of its answer. */
  signal: AbortSignal;
  /**
   * The longest pause in the body of an answer, in milliseconds; 0: unlimited, for watches.
   */
  silenceMs: number;
};

export type PassedAnswer = {
  status: number;
  header: (name: string) => string | undefined;
  /** Read with back-pressure. Leaving the iteration aborts the exchange. */
  body: AsyncIterable<Buffer>;
};

export type PassThrough = {
  /**
   * Returns the answer, whatever its status. Throws an ApiError with status 0 without an answer, or the
   * reason of the aborted signal. The caller must read or leave the body, or abort the signal.
   */
  send: (request: PassedRequest) => Promise<PassedAnswer>;
  close: () => Promise<void>;
};

/** Longer than the timeout of requests in the API server. */
const HEADERS_MS = 65_000;
const KEEP_ALIVE_MS = 30_000;

/** Connects with the first request. */
export function createPassThrough(connection: Omit<KubeConnection, 'auth'>, userAgent: string): PassThrough {
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/+$/, '');
  const agent = new Agent({
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_MS,
    connect: reachOptions(connection),
  });

  async function send(request: PassedRequest): Promise<PassedAnswer> {
    const { statusCode, headers, body } = await agent.request({
      origin,
      path: prefix + request.path,
      method: request.method,
      headers: headersOf(request, userAgent),
      body: request.body ?? null,
      bodyTimeout: request.silenceMs,
      signal: request.signal,
    });
    return {
      status: statusCode,
      header: (name) => [headers[name]].flat()[0],
      body: chunks(request, body),
    };
  }

  return {
    send: async (request) => {
      if (request.token === '') throw new Error('A forwarded request needs a token.');
      try {
        return await send(request);
      } catch (error) {
        throw failureOf(request, error);
      }
    },
    close: () => agent.destroy(),
  };
}

async function* chunks(request: PassedRequest, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw failureOf(request, error);
  }
}

function failureOf({ method, signal }: PassedRequest, cause: unknown): unknown {
  if (signal.aborted) return signal.reason;
  const message = `${method}: no answer from the API server, or not all of it`;
  return new ApiError({ status: 0, reason: 'NoAnswer', message, cause });
}

function headersOf(request: PassedRequest, userAgent: string): Record<string, string> {
  const { token, accept, acceptEncoding, contentType } = request;
  return {
    authorization: `Bearer ${token}`,
    accept,
    'user-agent': userAgent,
    ...(acceptEncoding !== undefined && { 'accept-encoding': acceptEncoding }),
    ...(contentType !== undefined && { 'content-type': contentType }),
  };
}
