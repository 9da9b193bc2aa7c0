/**
 * A cache of all objects of a kind, updated by a list-watch that recovers from failures. While the API server
 * is unavailable it keeps the last state. Objects are shared and must not be changed.
 */
import type { KubeClient } from './client.ts';
import { systemClock, type Clock } from './clock.ts';
import type { Log } from './log.ts';
import { runReflector, type ReflectorOutcome } from './reflector.ts';
import { objectKey, type KubeObject, type Resource } from './resource.ts';
import { createStore, type IndexFunction, type Store } from './store.ts';
import { createWriteGuard, type WriteGuard } from './writeGuard.ts';

export type Change<T extends KubeObject> =
  | { type: 'added'; object: T }
  | { type: 'updated'; object: T; old: T }
  | { type: 'deleted'; object: T };

export type CacheOptions<T extends KubeObject> = {
  client: Pick<KubeClient, 'listAll' | 'watch' | 'find'>;
  resource: Resource<T>;
  /** All namespaces when left out. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  indexes?: Record<string, IndexFunction<T>>;
  /**
   * Reduces an object before it is cached; by default drops `managedFields`. It must keep name, namespace,
   * uid and resourceVersion.
   */
  transform?: (object: T) => T;
  onOutcome?: (outcome: ReflectorOutcome) => void;
  /** Returns the whole seconds that the next watch lasts; default: 18 to 23, by itself. */
  watchSeconds?: () => number;
  log: Log;
  clock?: Clock;
};

export type Cache<T extends KubeObject> = {
  readonly resource: Resource<T>;
  /** Runs the list-watch until the signal is aborted, then resolves. Call it once. */
  start(signal: AbortSignal): Promise<void>;
  /** Resolves with the first complete list; rejects with the signal's reason if it is aborted before. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  get(namespace: string | undefined, name: string): T | undefined;
  list(namespace?: string): T[];
  byIndex(index: string, key: string): T[];
  /**
   * Calls the handler for every later change, and at once with `added` for every cached object. Errors of
   * handlers are logged. Returns a function that removes the handler.
   */
  onChange(handler: (change: Change<T>) => void): () => void;
  /**
   * Milliseconds since the server last confirmed that the cache is complete; Infinity before the first list.
   */
  lastSyncAgeMs(): number;
  /** Remembers a written version until the watch has delivered it, at most one minute. */
  noteWrite(object: T): void;
  /**
   * Whether this copy is older than a written version. Then read it from the server, or retry later.
   */
  isStale(object: T): boolean;
  /** The object from the cache, or from the server if the cached one is older than a written version. */
  getFresh(namespace: string | undefined, name: string): Promise<T | undefined>;
};

export function createCache<T extends KubeObject>(options: CacheOptions<T>): Cache<T> {
  const { client, resource, log, clock = systemClock, transform = withoutManagedFields } = options;
  const store = createStore<T>(guardedIndexes(options.indexes ?? {}, log));
  const guard = createWriteGuard(clock);
  const handlers = new Set<(change: Change<T>) => void>();
  const synced = Promise.withResolvers<void>();
  // Without a waiter, the rejection must not end the process.
  synced.promise.catch(() => undefined);
  let hasSynced = false;
  let provenAt = -Infinity;

  function notify(handler: (change: Change<T>) => void, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      log.error({ resource: resource.plural, err: error }, 'change handler failed');
    }
  }

  const emit = (change: Change<T>): void => handlers.forEach((handler) => notify(handler, change));

  function onList(items: T[], startedAt: number): void {
    const changes = replaceAll(store, items.map(transform));
    for (const object of items) guard.delivered(object, false);
    guard.listed(startedAt);
    hasSynced = true;
    changes.forEach(emit);
    synced.resolve();
  }

  function onWatchEvent(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    guard.delivered(object, type === 'DELETED');
    const changes = type === 'DELETED' ? removeOne(store, object) : putOne(store, transform(object));
    changes.forEach(emit);
  }

  return {
    resource,
    start: async (signal) => {
      signal.addEventListener('abort', () => synced.reject(signal.reason), { once: true });
      const onProof = (): void => {
        provenAt = clock.now();
      };
      await runReflector<T>({ ...options, onList, onChange: onWatchEvent, onProof }, signal);
    },
    synced: synced.promise,
    hasSynced: () => hasSynced,
    get: (namespace, name) => store.get(refOf(namespace, name)),
    list: (namespace) => store.list(namespace),
    byIndex: (index, key) => store.byIndex(index, key),
    onChange: (handler) => {
      handlers.add(handler);
      for (const object of store.list()) notify(handler, { type: 'added', object });
      return () => handlers.delete(handler);
    },
    lastSyncAgeMs: () => clock.now() - provenAt,
    noteWrite: (object) => guard.note(object, store.get(object.metadata)),
    isStale: (object) => guard.isOlder(object),
    getFresh: async (namespace, name) => {
      const ref = refOf(namespace, name);
      const cached = store.get(ref);
      return isBehind(guard, cached, objectKey(ref)) ? client.find(resource, ref) : cached;
    },
  };
}

function isBehind(guard: WriteGuard, cached: KubeObject | undefined, key: string): boolean {
  return cached === undefined ? guard.isPending(key) : guard.isOlder(cached);
}

function refOf(namespace: string | undefined, name: string): { namespace?: string; name: string } {
  return namespace === undefined || namespace === '' ? { name } : { namespace, name };
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Handlers are called after the whole list is stored, so that they see all of it. */
function replaceAll<T extends KubeObject>(store: Store<T>, items: T[]): Change<T>[] {
  const gone = new Set(store.keys());
  const changes = items.flatMap((object) => {
    gone.delete(objectKey(object.metadata));
    return putOne(store, object);
  });
  for (const key of gone) changes.push(...removeKey(store, key));
  return changes;
}

function putOne<T extends KubeObject>(store: Store<T>, object: T): Change<T>[] {
  const old = store.put(object);
  if (old === undefined) return [{ type: 'added', object }];
  // The object was deleted and created again: handlers that count objects must see both.
  if (old.metadata.uid !== object.metadata.uid) {
    return [
      { type: 'deleted', object: old },
      { type: 'added', object },
    ];
  }
  return old.metadata.resourceVersion === object.metadata.resourceVersion
    ? []
    : [{ type: 'updated', object, old }];
}

function removeOne<T extends KubeObject>(store: Store<T>, object: T): Change<T>[] {
  const old = store.remove(object.metadata);
  return old === undefined ? [] : [{ type: 'deleted', object: old }];
}

function removeKey<T extends KubeObject>(store: Store<T>, key: string): Change<T>[] {
  const slash = key.indexOf('/');
  const ref = slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
  const old = store.remove(ref);
  return old === undefined ? [] : [{ type: 'deleted', object: old }];
}

/** Wraps index functions: one that throws for an object indexes it under no key. */
function guardedIndexes<T extends KubeObject>(
  indexes: Record<string, IndexFunction<T>>,
  log: Log,
): Record<string, IndexFunction<T>> {
  const guarded = Object.entries(indexes).map(([name, keysOf]): [string, IndexFunction<T>] => [
    name,
    (object) => {
      try {
        return keysOf(object);
      } catch (error) {
        log.error({ index: name, object: objectKey(object.metadata), err: error }, 'index function failed');
        return [];
      }
    },
  ]);
  return Object.fromEntries(guarded);
}
