/**
 * Read-your-writes for a cache: remembers written versions until the watch has delivered them, so that an
 * older copy in the cache does not count as current (argo-workflows#16357). Versions are only compared for
 * equality: their order is opaque to clients.
 */
import { systemClock, type Clock } from './clock.ts';
import { objectKey, type KubeObject } from './resource.ts';

export type WriteGuard = {
  /** Remembers a written object, as the API server returned it. `current`: the object in the cache. */
  note(object: KubeObject, current: KubeObject | undefined): void;
  /** Forgets a version that the watch has delivered, or a deleted object. */
  delivered(object: KubeObject, deleted: boolean): void;
  /** Forgets writes from before a list, which has replaced the cache. */
  listed(startedAt: number): void;
  /** Whether a newer version than this copy was written and not delivered yet. */
  isOlder(object: KubeObject): boolean;
  /** Whether a write of the object with this key was not delivered yet. */
  isPending(key: string): boolean;
};

type Pending = { uid: string; resourceVersion: string; at: number };

/** After this time a version is forgotten: watches recover within 30 s, so the version was skipped. */
const expiryMs = 60_000;
/** How many delivered versions are remembered: the answer to a write may arrive after its watch event. */
const recentLimit = 4_096;

export function createWriteGuard(clock: Clock = systemClock): WriteGuard {
  const pending = new Map<string, Pending>();
  const recent = new Set<string>();

  function find(key: string): Pending | undefined {
    const found = pending.get(key);
    if (found === undefined || clock.now() - found.at < expiryMs) return found;
    pending.delete(key);
    return undefined;
  }

  function dropExpired(): void {
    for (const [key, { at }] of pending) {
      // The oldest come first.
      if (clock.now() - at < expiryMs) return;
      pending.delete(key);
    }
  }

  return {
    note: (object, current) => {
      const { uid = '', resourceVersion = '' } = object.metadata;
      const isCurrent = current?.metadata.uid === uid && current.metadata.resourceVersion === resourceVersion;
      if (isCurrent || recent.has(`${uid}/${resourceVersion}`)) return;
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
