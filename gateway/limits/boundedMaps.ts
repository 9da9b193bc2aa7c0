/**
 * Maps with a bounded number of entries. A RecentMap keeps recently used entries in two generations: when the
 * young one is full, it replaces the old one. In an ExpiringMap each entry has an end, and the oldest entries
 * make room for new ones.
 */
import type { Clock } from '../../kube/clock.ts';

export type RecentMap<V> = {
  /** The value of the key, created if missing. */
  of: (key: string, make: () => V) => V;
  /** The value of the key; undefined if missing. */
  find: (key: string) => V | undefined;
  size: () => number;
};

export function createRecentMap<V>(limit: number): RecentMap<V> {
  const half = Math.max(Math.floor(limit / 2), 1);
  let young = new Map<string, V>();
  let old = new Map<string, V>();
  const keep = (key: string, value: V): V => {
    if (young.size >= half) {
      old = young;
      young = new Map();
    }
    old.delete(key);
    young.set(key, value);
    return value;
  };
  return {
    of: (key, make) => young.get(key) ?? keep(key, old.get(key) ?? make()),
    find: (key) => {
      const found = young.get(key);
      if (found !== undefined) return found;
      const value = old.get(key);
      return value === undefined ? undefined : keep(key, value);
    },
    size: () => young.size + old.size,
  };
}

export type ExpiringMap<T> = {
  get: (key: string) => T | undefined;
  /** Stores the value until the clock reads `until`, in milliseconds. */
  set: (key: string, value: T, until: number) => void;
  delete: (key: string) => void;
};

export function createExpiringMap<T>(maxEntries: number, clock: Clock): ExpiringMap<T> {
  const entries = new Map<string, { value: T; until: number }>();
  return {
    get: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.until > clock.now()) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set: (key, value, until) => {
      entries.delete(key);
      const oldest = entries.size >= maxEntries ? entries.keys().next() : undefined;
      if (oldest?.done === false) entries.delete(oldest.value);
      entries.set(key, { value, until });
    },
    delete: (key) => void entries.delete(key),
  };
}
