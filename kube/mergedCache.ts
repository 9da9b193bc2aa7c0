/**
 * One kind followed in several namespaces, or by several names, as if it were one cache: for programs that
 * may see a part of the cluster alone. Each part has a list-watch of its own, and heals by itself.
 */
import type { Cache } from './cache.ts';
import type { KubeObject } from './resource.ts';

/**
 * The parts as one. `partOf` says which part an object of that namespace and name belongs to; undefined: it
 * is followed by none, and never found. Throws when there are no parts.
 */
export function mergeCaches<T extends KubeObject>(
  parts: readonly Cache<T>[],
  partOf: (namespace: string | undefined, name: string) => Cache<T> | undefined,
): Cache<T> {
  const [first] = parts;
  if (first === undefined) throw new Error('A merged cache needs at least one part.');
  const partOfObject = ({ metadata }: T): Cache<T> | undefined => partOf(metadata.namespace, metadata.name);
  const synced = Promise.all(parts.map((part) => part.synced)).then(() => undefined);
  // Whoever does not wait for it must not be ended by its rejection.
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
