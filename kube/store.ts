/** An in-memory store of objects, with lookup by name, namespace and indexes. */
import { objectKey, type KubeObject, type ObjectRef } from './resource.ts';

/** The keys of an object in one index. Must be the same for the same object. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

export type Store<T extends KubeObject> = {
  get(ref: ObjectRef): T | undefined;
  list(namespace?: string): T[];
  /** Throws if the index does not exist. */
  byIndex(index: string, key: string): T[];
  keys(): string[];
  /** Stores the object and returns the replaced one. */
  put(object: T): T | undefined;
  remove(ref: ObjectRef): T | undefined;
};

export function createStore<T extends KubeObject>(functions: Record<string, IndexFunction<T>>): Store<T> {
  const objects = new Map<string, T>();
  const indexes = new Map(
    Object.entries({ ...functions, [namespaceIndex]: (object: T) => [object.metadata.namespace ?? ''] }).map(
      ([name, keysOf]) => [name, { keysOf, members: new Map<string, Set<string>>() }],
    ),
  );

  function enter(key: string, object: T): void {
    for (const { keysOf, members } of indexes.values()) {
      for (const indexKey of keysOf(object)) {
        const set = members.get(indexKey);
        if (set === undefined) members.set(indexKey, new Set([key]));
        else set.add(key);
      }
    }
  }

  function leave(key: string, object: T): void {
    for (const { keysOf, members } of indexes.values()) {
      for (const indexKey of keysOf(object)) {
        const set = members.get(indexKey);
        set?.delete(key);
        if (set?.size === 0) members.delete(indexKey);
      }
    }
  }

  function remove(ref: ObjectRef): T | undefined {
    const key = objectKey(ref);
    const old = objects.get(key);
    if (old === undefined) return undefined;
    objects.delete(key);
    leave(key, old);
    return old;
  }

  function byIndex(index: string, key: string): T[] {
    const found = indexes.get(index);
    if (found === undefined) throw new Error(`This cache has no index "${index}".`);
    return [...(found.members.get(key) ?? [])].flatMap((member) => objects.get(member) ?? []);
  }

  return {
    get: (ref) => objects.get(objectKey(ref)),
    list: (namespace) =>
      namespace === undefined ? [...objects.values()] : byIndex(namespaceIndex, namespace),
    byIndex,
    keys: () => [...objects.keys()],
    put: (object) => {
      const old = remove(object.metadata);
      const key = objectKey(object.metadata);
      objects.set(key, object);
      enter(key, object);
      return old;
    },
    remove,
  };
}

const namespaceIndex = ' namespace';
