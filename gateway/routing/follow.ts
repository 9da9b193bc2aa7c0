/**
 * The routes as the API server has them: every change reaches the table at once. When the API server is away, the last
 * good table stays.
 */
import { GROUP, VERSION } from '../../api/group.ts';
import { WEBHOOK_ROUTE, type WebhookRoute } from '../../api/kinds.ts';
import { createCache, type Cache, type Change } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Log } from '../../kube/log.ts';
import { namespacedResource } from '../../kube/resource.ts';
import { createRouteFeed } from './feed.ts';
import type { RouteTable } from './table.ts';

export const webhookRoutes = namespacedResource<WebhookRoute>(
  GROUP,
  VERSION,
  WEBHOOK_ROUTE.kind,
  WEBHOOK_ROUTE.plural,
);

export type FollowOptions = {
  client: Pick<KubeClient, 'listAll' | 'watch' | 'find'>;
  /** All namespaces when empty. */
  namespaces: readonly string[];
  table: RouteTable;
  /** Called when the table has changed. */
  onChange: () => void;
  log: Log;
  signal: AbortSignal;
};

export type Followed = {
  /** Resolves when the table is whole for the first time, with the keys that could be had; rejects if the signal comes before. */
  synced: Promise<void>;
  /** Milliseconds since the API server last showed that no route is missing; Infinity before the first time. */
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
    cache.start(signal).catch((error: unknown) => log.error({ err: error }, 'cannot follow the routes'));
    return cache;
  };
  const caches = namespaces.length === 0 ? [follow(undefined)] : namespaces.map(follow);
  return {
    synced: Promise.all(caches.map((cache) => cache.synced)).then(() => feed.settled()),
    ageMs: () => Math.max(...caches.map((cache) => cache.lastSyncAgeMs())),
  };
}
