/**
 * A client of the Kubernetes API: pooled connections, time-outs, retries of what may be repeated, typed
 * errors. Watches have connections of their own, so that they cannot starve calls.
 */
import { createCaller, type CallOptions, type RequestMetric } from './caller.ts';
import type { KubeConnection } from './config.ts';
import { withQuery, type Query } from './paths.ts';
import { readingVerbs, type ReadingVerbs } from './reads.ts';
import type { KubeObject, Resource } from './resource.ts';
import { createTransport } from './transport.ts';
import { openWatch, type WatchEvent, type WatchOptions } from './watch.ts';
import { writingVerbs, type WritingVerbs } from './writes.ts';

export type ClientOptions = {
  /** Owner name of what `apply`, `create`, `replace` and `patch` write; default `windlass`. */
  fieldManager?: string;
  userAgent?: string;
  /** Bound of one attempt, headers and body, in milliseconds; default 10,000, and for lists 30,000. */
  requestTimeoutMs?: number;
  /** Connections for calls (watches have their own); default 16. */
  maxConnections?: number;
  /** Aborts every call and watch of this client. */
  signal?: AbortSignal;
  onRequest?: (metric: RequestMetric) => void;
  /**
   * Asked right before each write is sent; where it says no, nothing is sent and the call throws a
   * `NotLeadingError`. For whoever writes only as long as it leads.
   */
  mayWrite?: () => boolean;
};

type RawOptions = CallOptions & {
  query?: Query;
  body?: unknown;
  contentType?: string;
  /** Another form of the answer than plain JSON, such as a table. */
  accept?: string;
  /** May be sent again after an error of which the outcome is not known; default: GET, PUT and DELETE may. */
  idempotent?: boolean;
};

export type KubeClient = ReadingVerbs &
  WritingVerbs & {
    readonly server: string;
    /**
     * Any other path, such as `/version` or `/readyz`. Returns parsed JSON, or text when the answer is none.
     */
    raw(method: string, path: string, options?: RawOptions): Promise<unknown>;
    /**
     * One watch, until the server or the time-out ends it. Ends without an error then and when the signal is
     * aborted; throws an ApiError for refusals, ERROR events and broken connections.
     */
    watch<T extends KubeObject>(
      resource: Resource<T>,
      options: WatchOptions,
      signal: AbortSignal,
    ): AsyncIterable<WatchEvent<T>>;
    /** Ends all connections; calls under way fail. */
    close(): Promise<void>;
  };

/** Creates a client; it opens no connection before the first call. */
export function createClient(connection: KubeConnection, options: ClientOptions = {}): KubeClient {
  const { fieldManager = 'windlass', userAgent = 'windlass', maxConnections = 16 } = options;
  const transport = createTransport(connection, userAgent, maxConnections, options.mayWrite);
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
