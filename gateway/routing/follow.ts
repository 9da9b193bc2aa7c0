/**
 * Follows the WebhookRoutes of the API server and keeps the table up to date. While the API server is
 * unavailable, the last table stays. A route is served together with its verification keys: while new keys
 * are read, the old route stays in place, so that rotating secrets refuses nobody. If they cannot be read,
 * the new route refuses everybody until they can.
 */
import { GROUP, VERSION } from '../../api/group.ts';
import { WEBHOOK_ROUTE, type WebhookRoute } from '../../api/kinds.ts';
import { createCache, type Cache, type Change } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Log } from '../../kube/log.ts';
import { namespacedResource, objectKey, type KubeObject } from '../../kube/resource.ts';
import { type RouteTable, keyEntryOf } from './table.ts';
import { createKeyReader, type Keys, type KeyReaderOptions, type Wanted } from './keyReader.ts';

export const webhookRoutes = namespacedResource<WebhookRoute>(
  GROUP,
  VERSION,
  WEBHOOK_ROUTE.kind,
  WEBHOOK_ROUTE.plural,
);

export type FollowOptions = {
  client: Pick<KubeClient, 'listAll' | 'watch' | 'find'>;
  /** Empty: all namespaces. */
  namespaces: readonly string[];
  table: RouteTable;
  /** Called after each change of the table. */
  onChange: () => void;
  log: Log;
  signal: AbortSignal;
};

export type Followed = {
  /**
   * Resolves when the table is complete for the first time, with all readable keys; rejects if aborted
   * before.
   */
  synced: Promise<void>;
  /**
   * Milliseconds since the API server last confirmed that no route is missing; Infinity before the first
   * time.
   */
  ageMs: () => number;
};

export function followRoutes({ client, namespaces, table, onChange, log, signal }: FollowOptions): Followed {
  const feed = createRouteFeed({ client, table, onChange, log, signal });
  const apply = (change: Change<WebhookRoute>): void => {
    if (change.type === 'deleted') feed.remove(change.object);
    else feed.put(change.object);
  };
  const follow = (namespace: string | undefined): Cache<WebhookRoute> => {
    const cache = createCache<WebhookRoute>({
      client,
      resource: webhookRoutes,
      log,
      ...(namespace !== undefined && { namespace }),
    });
    cache.onChange(apply);
    cache.start(signal).catch((error: unknown) => log.error({ err: error }, 'following routes failed'));
    return cache;
  };
  const caches = namespaces.length === 0 ? [follow(undefined)] : namespaces.map(follow);
  return {
    synced: Promise.all(caches.map((cache) => cache.synced)).then(() => feed.settled()),
    ageMs: () => Math.max(...caches.map((cache) => cache.lastSyncAgeMs())),
  };
}

export type RouteFeed = {
  put: (object: KubeObject) => void;
  remove: (object: KubeObject) => void;
  /** Resolves when no keys are being read. */
  settled: () => Promise<void>;
};

export type RouteFeedOptions = KeyReaderOptions & {
  table: RouteTable;
  /** Called after each change of the table. */
  onChange: () => void;
};

export function createRouteFeed({ table, onChange, ...options }: RouteFeedOptions): RouteFeed {
  const reader = createKeyReader(options);
  const known = new Map<string, { entry: string; keys: Keys }>();
  const missing = new Map<string, Wanted>();

  function serve(object: KubeObject, keys?: Keys): void {
    const { namespace, name } = object.metadata;
    if (!table.put(object, keys)) options.log.warn({ namespace, name }, 'ignored invalid WebhookRoute');
    onChange();
  }

  function serveWithKeys(object: KubeObject, entry: string): void {
    const key = objectKey(object.metadata);
    let isClosed = !table.has(object);
    if (isClosed) serve(object);
    const wanted: Wanted = {
      namespace: object.metadata.namespace ?? '',
      entry,
      onRead: (keys) => {
        if (keys !== undefined) {
          missing.delete(key);
          known.set(key, { entry, keys });
          serve(object, keys);
        } else if (!isClosed) {
          isClosed = true;
          serve(object);
        }
      },
    };
    missing.set(key, wanted);
    reader.want(wanted);
  }

  function dropWanted(key: string): void {
    const wanted = missing.get(key);
    if (wanted !== undefined) reader.drop(wanted);
    missing.delete(key);
  }

  return {
    put: (object) => {
      const key = objectKey(object.metadata);
      const entry = keyEntryOf(object);
      dropWanted(key);
      const cached = known.get(key);
      // Keys of another entry are outdated: never serve this route with them.
      if (cached?.entry !== entry) known.delete(key);
      if (entry === undefined) serve(object);
      else if (cached?.entry === entry) serve(object, cached.keys);
      else serveWithKeys(object, entry);
    },
    remove: (object) => {
      const key = objectKey(object.metadata);
      dropWanted(key);
      known.delete(key);
      table.remove(object);
      onChange();
    },
    settled: () => reader.settled(),
  };
}
