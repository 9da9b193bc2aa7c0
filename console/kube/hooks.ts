/** Live lists and objects for components: listed once, then updated by the stream of `live.ts`. */
import { useQuery, useQueryClient, type QueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { isPassing } from '../http/call.ts';
import { ApiFailure } from '../http/failure.ts';
import { batchChanges } from './batch.ts';
import { addWatch, livenessStore, type LiveEvent, type Liveness, type Watch } from './live.ts';
import { getObject, listObjects, listTable } from './objects.ts';
import { listPath, type KubeObject, type ObjectMeta, type Resource } from './resources.ts';
import { readTable, type Row } from './table.ts';

/** The rows of one page. `more` says whether others exist. */
const PAGE = 500;
const MAX_PAGES = 20;
const READ_AGAIN_MS = 10_000;

export type LiveTable = { rows: Row[]; columns: string[]; resourceVersion: string; more: boolean };

export type TableOptions = {
  fieldSelector?: string;
  labelSelector?: string;
  /** False: do not load. */
  enabled?: boolean;
  /** The number of pages of 500 rows to read at most. Default 20. */
  maxPages?: number;
  /** False: the list is read at intervals, for kinds that the gateway does not let pages watch. */
  isWatched?: boolean;
};

export function useTable(
  resource: Resource,
  namespace: string,
  { fieldSelector, labelSelector, enabled = true, maxPages = MAX_PAGES, isWatched = true }: TableOptions = {},
): UseQueryResult<LiveTable> {
  const client = useQueryClient();
  const selectors = selectorsOf(fieldSelector, labelSelector);
  const key = [
    'table',
    resource.plural,
    namespace,
    fieldSelector ?? '',
    labelSelector ?? '',
    String(maxPages),
  ];
  const query = useQuery({
    queryKey: key,
    enabled,
    ...(!isWatched && { refetchInterval: READ_AGAIN_MS }),
    queryFn: ({ signal }) => readPages(resource, namespace, { ...selectors, maxPages, signal }),
    // Rows that an event does not change keep their objects: comparing thousands of rows deeply on each event
    // takes seconds.
    structuralSharing: false,
  });
  const isListed = query.data !== undefined;
  useEffect(() => {
    if (!enabled || !isListed || !isWatched) return undefined;
    const table = () => client.getQueryData<LiveTable>(key);
    return shareWatch(client, key, (onExpired) => {
      const changes = batchChanges<LiveTable>((change) =>
        client.setQueryData<LiveTable>(key, (before) => before && change(before)),
      );
      const watch: Watch = {
        path: listPath(resource, namespace),
        ...selectors,
        table: true,
        resourceVersion: table()?.resourceVersion ?? '',
        onEvent: (event) => {
          if (event.type === 'ERROR') return watch.onExpired();
          const { rows, columns, resourceVersion } = rowsOf(event, table());
          watch.resourceVersion = resourceVersion || watch.resourceVersion;
          const told = { columns, resourceVersion: watch.resourceVersion };
          changes.add((before) => ({ ...applyRows(before, event.type, rows), ...told }));
        },
        onExpired: () => {
          changes.drop();
          onExpired();
        },
      };
      return watch;
    });
  }, [client, enabled, isListed, isWatched, resource, namespace, fieldSelector, labelSelector]);
  return query;
}

function selectorsOf(fieldSelector: string | undefined, labelSelector: string | undefined) {
  return {
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(labelSelector !== undefined && { labelSelector }),
  };
}

const sharedWatches = new Map<string, { users: number; stop: () => void }>();

/** Components that show the same list share one watch, from the first of them to the last. */
function shareWatch(client: QueryClient, key: string[], make: (onExpired: () => void) => Watch): () => void {
  const name = key.join(' ');
  const shared = sharedWatches.get(name) ?? { users: 0, stop: watchList(client, key, make) };
  shared.users += 1;
  sharedWatches.set(name, shared);
  return () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    sharedWatches.delete(name);
    shared.stop();
  };
}

type Watching = {
  ended: boolean;
  begunAt: number;
  remove: () => void;
  again?: ReturnType<typeof setTimeout>;
};

/** The delay before a failed list or a refused watch is retried. */
const RETRY_MS = 5_000;

/** Watches the list. If missed events are no longer available, lists again and watches from there. */
export function watchList(
  client: QueryClient,
  key: string[],
  make: (onExpired: () => void) => Watch,
): () => void {
  const state: Watching = { ended: false, begunAt: 0, remove: () => {} };
  const relist = async (): Promise<void> => {
    state.remove();
    await client.refetchQueries({ queryKey: key, exact: true });
    if (state.ended) return;
    const read = client.getQueryState(key);
    if (read?.status === 'success') begin();
    else if (isPassing(read?.error)) state.again = setTimeout(() => void relist(), RETRY_MS);
  };
  // A user who may list but not watch is refused each time: list again at intervals instead.
  const expired = (): void => {
    state.remove();
    const waitMs = Date.now() - state.begunAt < RETRY_MS ? RETRY_MS : 0;
    clearTimeout(state.again);
    state.again = setTimeout(() => void relist(), waitMs);
  };
  const begin = (): void => {
    state.begunAt = Date.now();
    state.remove = addWatch(make(expired));
  };
  begin();
  return () => {
    state.ended = true;
    clearTimeout(state.again);
    state.remove();
  };
}

function rowsOf(event: LiveEvent, table: LiveTable | undefined) {
  if (event.type === 'BOOKMARK') {
    const { metadata } = event.object as { metadata?: ObjectMeta };
    return { rows: [], columns: table?.columns ?? [], resourceVersion: metadata?.resourceVersion ?? '' };
  }
  const read = readTable(event.object, table?.columns);
  const version = read.rows.at(-1)?.metadata.resourceVersion ?? read.resourceVersion;
  return { rows: read.rows, columns: read.columns, resourceVersion: version };
}

/** The table after an event. Rows keep their order; new rows come first. */
export function applyRows(table: LiveTable, type: LiveEvent['type'], rows: Row[]): LiveTable {
  let next = table.rows;
  for (const row of rows) {
    const at = next.findIndex(({ metadata }) => metadata.uid === row.metadata.uid);
    if (type === 'DELETED') next = at < 0 ? next : next.toSpliced(at, 1);
    else next = at < 0 ? [row, ...next] : next.with(at, row);
  }
  return { ...table, rows: next };
}

type Reading = { fieldSelector?: string; labelSelector?: string; maxPages: number; signal: AbortSignal };

async function readPages(resource: Resource, namespace: string, options: Reading): Promise<LiveTable> {
  const { maxPages, ...selection } = options;
  const rows: Row[] = [];
  let token: string | undefined;
  for (let page = 0; ; page += 1) {
    const read = await listTable(resource, namespace, {
      ...selection,
      limit: PAGE,
      ...(token !== undefined && { continue: token }),
    });
    rows.push(...read.rows);
    token = read.continue;
    if (token === undefined || page + 1 >= maxPages)
      return {
        rows,
        columns: read.columns,
        resourceVersion: read.resourceVersion,
        more: token !== undefined,
      };
  }
}

/** One live object. `data` is null if it does not exist. */
export function useObject<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
  name: string,
  { enabled = true, mayBeMissing = false }: { enabled?: boolean; mayBeMissing?: boolean } = {},
): UseQueryResult<T | null> {
  const client = useQueryClient();
  const key = ['object', resource.plural, namespace, name];
  const query = useQuery({
    queryKey: key,
    enabled,
    queryFn: ({ signal }) =>
      mayBeMissing
        ? findObject(resource, { namespace, name, signal })
        : getOrNull(resource, { namespace, name, signal }),
  });
  const isRead = query.data !== undefined;
  useEffect(() => {
    if (!enabled || !isRead) return undefined;
    return shareWatch(client, key, (onExpired) => {
      const watch: Watch = {
        path: listPath(resource, namespace),
        fieldSelector: `metadata.name=${name}`,
        table: false,
        resourceVersion: client.getQueryData<T | null>(key)?.metadata.resourceVersion ?? '',
        onEvent: ({ type, object }) => {
          if (type === 'ERROR') return onExpired();
          watch.resourceVersion = (object as T).metadata.resourceVersion ?? watch.resourceVersion;
          if (type !== 'BOOKMARK') client.setQueryData(key, type === 'DELETED' ? null : (object as T));
        },
        onExpired,
      };
      return watch;
    });
  }, [client, enabled, isRead, resource, namespace, name]);
  return query;
}

type Named = { namespace: string; name: string; signal: AbortSignal };

/** Reads an object that often is not there yet, without the failed request that browsers report. */
async function findObject<T extends KubeObject>(
  resource: Resource<T>,
  { namespace, name, signal }: Named,
): Promise<T | null> {
  const options = { fieldSelector: `metadata.name=${name}`, limit: 1, signal };
  return (await listObjects(resource, namespace, options)).items[0] ?? null;
}

async function getOrNull<T extends KubeObject>(
  resource: Resource<T>,
  { namespace, name, signal }: Named,
): Promise<T | null> {
  try {
    return await getObject(resource, namespace, name, signal);
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return null;
    throw error;
  }
}

/** Whether the shown data is live. */
export function useLiveness(): Liveness {
  return useSyncExternalStore(livenessStore.subscribe, livenessStore.get);
}
