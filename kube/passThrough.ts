/**
 * Passes requests on to the API server in the name of whoever sent them: with the token that comes with each
 * request, and never with an identity of ours. Of our connection it knows where the API server is and whom it
 * trusts, nothing else.
 */
import { Agent } from 'undici';
import type { KubeConnection } from './config.ts';
import { ApiError } from './errors.ts';
import { reachOptions } from './transport.ts';

export type PassedRequest = {
  method: string;
  /** With query. */
  path: string;
  /** The caller's. A request without one is not sent. */
  token: string;
  accept: string;
  acceptEncoding?: string | undefined;
  body?: Uint8Array | undefined;
  contentType?: string | undefined;
  /** Ends the request, and the reading of its answer. */
  signal: AbortSignal;
  /**
   * How long nothing may come of an answer that has begun, in milliseconds; 0: as long as it likes, for
   * watches.
   */
  silenceMs: number;
};

export type PassedAnswer = {
  status: number;
  header: (name: string) => string | undefined;
  /** Read as fast as it is taken, and no faster. Ends the exchange when it is left. */
  body: AsyncIterable<Buffer>;
};

export type PassThrough = {
  /**
   * The answer, whatever its status. Throws an ApiError with status 0 if none came, or the reason of the
   * signal. The body must be read or left, or the signal aborted.
   */
  send: (request: PassedRequest) => Promise<PassedAnswer>;
  close: () => Promise<void>;
};

/** Above the time that the API server gives a request. */
const HEADERS_MS = 65_000;
const KEEP_ALIVE_MS = 30_000;

/** Opens no connection before the first request. */
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
      if (request.token === '') throw new Error('Nobody to pass a request on for.');
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
