/** A map whose entries end at a time, and of which the oldest go when it is full: what is remembered is bounded. */
import type { Clock } from '../../kube/clock.ts';

export type Expiring<T> = {
  get: (key: string) => T | undefined;
  /** Keeps the value until the clock shows `until`, in milliseconds. */
  set: (key: string, value: T, until: number) => void;
  delete: (key: string) => void;
};

export function createExpiring<T>(maxEntries: number, clock: Clock): Expiring<T> {
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
