/**
 * A client of the Kubernetes API: pooled connections, time-outs, retries of what may be repeated, typed
 * errors. Watches have connections of their own, so that they cannot starve calls.
 */
import { createCaller, type CallOptions, type RequestMetric } from './caller.ts';
import type { KubeConnection } from './config.ts';
import { withQuery, type Query } from './paths.ts';
import { readingVerbs } from './reads.ts';
import type { KubeList, KubeObject, ObjectMeta, ObjectRef, Resource } from './resource.ts';
import { createTransport } from './transport.ts';
import { openWatch, type WatchEvent, type WatchOptions } from './watch.ts';
import { writingVerbs } from './writes.ts';

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
   * `FencedError`. For whoever writes only as long as it leads.
   */
  mayWrite?: () => boolean;
};

export type ListOptions = CallOptions & {
  /** All namespaces when left out. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
};

export type WriteOptions = CallOptions & { fieldManager?: string; dryRun?: boolean };

export type ApplyOptions = WriteOptions & {
  /** Take fields from other managers; default true. */
  force?: boolean;
  subresource?: 'status';
};

type PatchOptions = WriteOptions & { type: 'merge' | 'json' | 'strategic'; subresource?: string };

export type DeleteOptions = CallOptions & {
  propagation?: 'Foreground' | 'Background' | 'Orphan';
  preconditions?: { uid?: string; resourceVersion?: string };
  gracePeriodSeconds?: number;
};

/** An object to write: apiVersion and kind are filled in from the resource, whatever else may be left out. */
export type Manifest<T extends KubeObject> = Partial<Omit<T, 'metadata'>> & { metadata: ObjectMeta };

/** An object to create: the server may make its name (`generateName`), or take it without one (reviews). */
export type Draft<T extends KubeObject> = Partial<Omit<T, 'metadata'>> & { metadata?: Partial<ObjectMeta> };

type RawOptions = CallOptions & {
  query?: Query;
  body?: unknown;
  contentType?: string;
  /** Another form of the answer than plain JSON, such as a table. */
  accept?: string;
  /** May be sent again after an error of which the outcome is not known; default: GET, PUT and DELETE may. */
  idempotent?: boolean;
};

export type KubeClient = {
  readonly server: string;
  /** Throws an ApiError with status 404 when there is none. */
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  /** Undefined when there is none. */
  find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: CallOptions,
  ): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** All pages of 500. Starts anew when the list expired on the way. */
  listAll<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** Never repeated when it may have been processed. */
  create<T extends KubeObject>(resource: Resource<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  /** PUT: with a resourceVersion in the object it fails with a conflict if somebody else wrote meanwhile. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    object: Manifest<T>,
    options?: WriteOptions & { subresource?: 'status' },
  ): Promise<T>;
  /** Server-side apply; creates the object when there is none. */
  apply<T extends KubeObject>(resource: Resource<T>, object: Manifest<T>, options?: ApplyOptions): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    body: unknown,
    options: PatchOptions,
  ): Promise<T>;
  /** True if it was there, false if it was gone already. Throws a conflict when a precondition fails. */
  delete(resource: Resource, ref: ObjectRef, options?: DeleteOptions): Promise<boolean>;
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
