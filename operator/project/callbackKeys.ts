/**
 * The keys that sign the URLs of callbacks of a project. The pool's Secret holds them, so that they survive
 * the loss of the run store, from which runners and gateways read them. Pure, apart from randomness.
 */
import { randomBytes } from 'node:crypto';
import type { CallbackSettings } from '../../store/callbacks.ts';

/** `createdAt`: milliseconds since 1970. */
export type DatedKey = { id: string; key: string; createdAt: number };

const DAY_MS = 24 * 3_600_000;
/** A key signs new URLs for so long. */
const ROTATED_AFTER_MS = 30 * DAY_MS;
/** A key checks URLs for so long after it was replaced: as long as the longest wait. */
const KEPT_MS = 90 * DAY_MS;

/** The keys of the text, the newest first; none of a text that is not from `formatKeys`. */
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

/** The keys with a new one first where the newest is too old, and without those that no URL needs. */
export function rotated(keys: readonly DatedKey[], now: number): DatedKey[] {
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

/** What the run store gets. There is at least one key. */
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
