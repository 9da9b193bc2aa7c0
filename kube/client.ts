/**
 * A client of the Kubernetes API: pooled connections, timeouts, retries of repeatable calls, typed errors.
 * Watches use their own connections, so that they cannot starve calls.
 */
import { createCaller, type CallOptions, type RequestMetric } from './caller.ts';
import type { KubeConnection } from './config.ts';
import type { CreatePool } from './httpPool.ts';
import { withQuery, type Query } from './paths.ts';
import { readingVerbs, type ReadingVerbs } from './reads.ts';
import type { KubeObject, Resource } from './resource.ts';
import { createNodePool } from './nodePool.ts';
import { createTransport } from './transport.ts';
import { openWatch, type WatchEvent, type WatchOptions } from './watch.ts';
import { writingVerbs, type WritingVerbs } from './writes.ts';

export type ClientOptions = {
  /** The field manager of writes; default `windlass`. */
  fieldManager?: string;
  userAgent?: string;
  /** Timeout of one attempt, headers and body, in milliseconds; default 10,000, for lists 30,000. */
  requestTimeoutMs?: number;
  /** How often a call is retried after a repeatable error, unless it says otherwise; default 4. */
  retries?: number;
  /** Connections for calls (watches have their own); default 16. */
  maxConnections?: number;
  /** Aborts every call and watch of this client. */
  signal?: AbortSignal;
  onRequest?: (metric: RequestMetric) => void;
  /**
   * Called right before each write is sent. If it returns false, the write is not sent and throws a
   * `NotLeadingError`. For programs that write only while they lead.
   */
  mayWrite?: () => boolean;
  /** The HTTP client. Default: that of Node, which suits programs that make few requests. */
  createPool?: CreatePool;
};

type RawOptions = CallOptions & {
  query?: Query;
  body?: unknown;
  contentType?: string;
  /** The media type of the answer, if not plain JSON, such as a table. */
  accept?: string;
  /** Whether the call may be repeated after an ambiguous error. Default: for GET, PUT and DELETE. */
  idempotent?: boolean;
};

export type KubeClient = ReadingVerbs &
  WritingVerbs & {
    readonly server: string;
    /**
     * Calls another path, such as `/version` or `/readyz`. Returns parsed JSON, or text if the answer is not
     * JSON.
     */
    raw(method: string, path: string, options?: RawOptions): Promise<unknown>;
    /**
     * One watch, until the server or the timeout ends it or the signal is aborted. Throws an ApiError for
     * refusals, ERROR events and broken connections.
     */
    watch<T extends KubeObject>(
      resource: Resource<T>,
      options: WatchOptions,
      signal: AbortSignal,
    ): AsyncIterable<WatchEvent<T>>;
    /** Closes all connections; calls in progress fail. */
    close(): Promise<void>;
  };

/** Creates a client, which connects with the first call. */
export function createClient(connection: KubeConnection, options: ClientOptions = {}): KubeClient {
  const { fieldManager = 'windlass', userAgent = 'windlass', maxConnections = 16 } = options;
  const { mayWrite, createPool = createNodePool } = options;
  const transport = createTransport(connection, { userAgent, maxConnections, mayWrite, createPool });
  const caller = createCaller(transport, options);
  return {
    server: connection.server,
    ...readingVerbs(caller),
    ...writingVerbs(caller, fieldManager),
    raw: async (method, path, raw = {}) =>
      parseBody(
        await caller.call({
          verb: method.toLowerCase(),
          resource: 'raw',
          method,
          path: withQuery(path, raw.query ?? {}),
          body: raw.body,
          contentType: raw.contentType,
          accept: raw.accept,
          idempotent: raw.idempotent ?? ['GET', 'HEAD', 'PUT', 'DELETE'].includes(method),
          options: raw,
        }),
      ),
    watch: (resource, watch, signal) => openWatch(caller, resource, watch, signal),
    close: () => transport.close(),
  };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
