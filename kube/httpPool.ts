/** What the transport needs of an HTTP client: connections to one server, kept for the next request. */
import type { Readable } from 'node:stream';

export type PoolOptions = {
  /** `http://` or `https://`, host and port. */
  origin: string;
  /** How the server is known, and how it knows us: options of `tls.connect`. */
  tls: object;
  /** Further requests wait. Default: unlimited. */
  maxConnections?: number | undefined;
  /** The time limit for connecting, including the TLS handshake, in milliseconds. Default: `CONNECT_MS`. */
  connectMs?: number | undefined;
  /** Called when a request has a connection, right before it is sent. What it throws ends the request. */
  beforeSent?: ((method: string) => void) | undefined;
};

export type PooledRequest = {
  method: string;
  /** With query. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Ends the request, and the reading of its answer, with its reason. */
  signal: AbortSignal | undefined;
  /** Bound of the wait for headers, from the moment when the request is sent, in milliseconds. */
  headersMs: number;
};

export type PooledAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Leaving its iteration ends the exchange. */
  body: Readable;
  /** Reads the whole body. */
  text(): Promise<string>;
};

export type HttpPool = {
  /**
   * The answer, as soon as its headers are there.
   * @throws NotSentError where there is no connection; what ended the request otherwise
   */
  request(request: PooledRequest): Promise<PooledAnswer>;
  /** Closes all connections; requests in progress fail. */
  close(): Promise<void>;
};

/** Connects with the first request. */
export type CreatePool = (options: PoolOptions) => HttpPool;

/** The request failed before a byte of it was sent. The cause says why. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';

  constructor(cause: unknown) {
    super('The request was not sent.', { cause });
  }
}

export const CONNECT_MS = 5_000;
/**
 * Longer than the pause between two calls of a quiet program, half a minute, so that it does not shake hands
 * each time. The API server closes connections that are idle for 90 s.
 */
export const KEEP_ALIVE_MS = 60_000;
/** When the kernel begins to ask an idle connection whether it still exists. */
export const PROBE_AFTER_MS = 30_000;
