/**
 * The keys that sign the URLs of callbacks of a project. The pool's Secret holds them, so that they survive
 * the loss of the run store, from which runners and gateways read them. Pure, apart from randomness.
 */
import { randomBytes } from 'node:crypto';
import type { CallbackSettings } from '../../store/callbacks.ts';

/** `createdAt`: milliseconds since 1970. */
export type DatedKey = { id: string; key: string; createdAt: number };

const DAY_MS = 24 * 3_600_000;
/** How long a key signs new URLs. */
const ROTATED_AFTER_MS = 30 * DAY_MS;
/** How long a replaced key still verifies URLs: as long as the longest wait. */
const KEPT_MS = 90 * DAY_MS;

/** Parses the text of `formatKeys`, the newest key first. Another text has no keys. */
export function parseKeys(text: string): DatedKey[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter(isKey) : [];
  } catch {
    return [];
  }
}

export function formatKeys(keys: readonly DatedKey[]): string {
  return JSON.stringify(keys.map(({ id, key, createdAt }) => ({ id, key, createdAt })));
}

/** Adds a new key, as the first, if the newest is too old, and removes keys that no URL needs any more. */
export function rotateKeys(keys: readonly DatedKey[], now: number): DatedKey[] {
  const [newest] = keys;
  const isOld = newest === undefined || now - newest.createdAt >= ROTATED_AFTER_MS;
  const all = isOld ? [newKey(now), ...keys] : [...keys];
  return all.filter((_, index) => {
    const next = all[index - 1];
    return next === undefined || now - next.createdAt < KEPT_MS;
  });
}

function newKey(now: number): DatedKey {
  const id = randomBytes(6).toString('hex');
  return { id, key: randomBytes(32).toString('base64url'), createdAt: now };
}

/** The settings to put into the run store. Throws without a key. */
export function settingsOf(dated: readonly DatedKey[], url: string): CallbackSettings {
  const keys = dated.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64url') }));
  const [key] = keys;
  if (!key) throw new Error('a project has at least one key');
  return { url, key, keys };
}

function isKey(value: unknown): value is DatedKey {
  const { id, key, createdAt } = (value ?? {}) as Partial<DatedKey>;
  return typeof id === 'string' && typeof key === 'string' && typeof createdAt === 'number';
}
