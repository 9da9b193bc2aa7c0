/**
 * Combines caches of one kind for several namespaces or names into one: for programs with access to a part of
 * the cluster. Each part has its own list-watch and recovers by itself.
 */
import type { Cache } from './cache.ts';
import type { KubeObject } from './resource.ts';

/**
 * `partOf`: the part of an object by namespace and name; undefined: no part has it. Throws without parts.
 */
export function mergeCaches<T extends KubeObject>(
  parts: readonly Cache<T>[],
  partOf: (namespace: string | undefined, name: string) => Cache<T> | undefined,
): Cache<T> {
  const [first] = parts;
  if (first === undefined) throw new Error('A merged cache needs at least one part.');
  const partOfObject = ({ metadata }: T): Cache<T> | undefined => partOf(metadata.namespace, metadata.name);
  const synced = Promise.all(parts.map((part) => part.synced)).then(() => undefined);
  // Without a waiter, the rejection must not end the process.
  synced.catch(() => undefined);
  return {
    resource: first.resource,
    start: async (signal) => {
      await Promise.all(parts.map((part) => part.start(signal)));
    },
    synced,
    hasSynced: () => parts.every((part) => part.hasSynced()),
    get: (namespace, name) => partOf(namespace, name)?.get(namespace, name),
    list: (namespace) => parts.flatMap((part) => part.list(namespace)),
    byIndex: (index, key) => parts.flatMap((part) => part.byIndex(index, key)),
    onChange: (handler) => {
      const ends = parts.map((part) => part.onChange(handler));
      return () => ends.forEach((end) => end());
    },
    lastSyncAgeMs: () => Math.max(...parts.map((part) => part.lastSyncAgeMs())),
    noteWrite: (object) => partOfObject(object)?.noteWrite(object),
    isStale: (object) => partOfObject(object)?.isStale(object) ?? false,
    getFresh: async (namespace, name) => partOf(namespace, name)?.getFresh(namespace, name),
  };
}
