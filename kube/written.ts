/**
 * Remembers what we wrote until the watch has delivered it, so that an older copy from a cache is not taken
 * for current (argo-workflows#16357). Versions are compared for equality alone: their order means nothing to
 * a client.
 */
import { systemClock, type Clock } from './clock.ts';
import { objectKey, type KubeObject } from './resource.ts';

export type WriteGuard = {
  /** We wrote this and the server answered so. `current` is what the cache holds of it now. */
  note(object: KubeObject, current: KubeObject | undefined): void;
  /** The watch delivered this version, or the deletion of this object. */
  delivered(object: KubeObject, deleted: boolean): void;
  /** A list that was asked for at this time has replaced the cache. */
  listed(startedAt: number): void;
  /** True if something newer than this copy was written by us and has not been delivered. */
  isOlder(object: KubeObject): boolean;
  /** True if a write of the object with this key has not been delivered. */
  isPending(key: string): boolean;
};

type Pending = { uid: string; resourceVersion: string; at: number };

/** After this time we stop waiting: the watch heals within 30 s, so the version was skipped. */
const patienceMs = 60_000;
/** Versions remembered as delivered: an answer to a write may arrive after the event that it caused. */
const recentLimit = 4_096;

export function createWriteGuard(clock: Clock = systemClock): WriteGuard {
  const pending = new Map<string, Pending>();
  const recent = new Set<string>();

  function find(key: string): Pending | undefined {
    const found = pending.get(key);
    if (found === undefined || clock.now() - found.at < patienceMs) return found;
    pending.delete(key);
    return undefined;
  }

  function dropExpired(): void {
    for (const [key, { at }] of pending) {
      // The oldest come first.
      if (clock.now() - at < patienceMs) return;
      pending.delete(key);
    }
  }

  return {
    note: (object, current) => {
      const { uid = '', resourceVersion = '' } = object.metadata;
      const isHere = current?.metadata.uid === uid && current.metadata.resourceVersion === resourceVersion;
      if (isHere || recent.has(`${uid}/${resourceVersion}`)) return;
      dropExpired();
      const key = objectKey(object.metadata);
      pending.delete(key);
      pending.set(key, { uid, resourceVersion, at: clock.now() });
    },
    delivered: (object, deleted) => {
      const { uid = '', resourceVersion = '' } = object.metadata;
      recent.add(`${uid}/${resourceVersion}`);
      if (recent.size > recentLimit) recent.delete(recent.values().next().value ?? '');
      const key = objectKey(object.metadata);
      const waiting = pending.get(key);
      if (waiting?.uid !== uid) return;
      if (deleted || waiting.resourceVersion === resourceVersion) pending.delete(key);
    },
    listed: (startedAt) => {
      for (const [key, { at }] of pending) if (at < startedAt) pending.delete(key);
    },
    isOlder: (object) => {
      const waiting = find(objectKey(object.metadata));
      return (
        waiting !== undefined &&
        !(waiting.uid === object.metadata.uid && waiting.resourceVersion === object.metadata.resourceVersion)
      );
    },
    isPending: (key) => find(key) !== undefined,
  };
}
