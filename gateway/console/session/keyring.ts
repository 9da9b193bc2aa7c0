/**
 * The keys that seal sessions, as the run store has them: a new one each day. Older keys open sessions for as
 * long as these can live. Keys are cached, so that sessions need no request and survive an outage of the run
 * store, and reread periodically, since a wiped run store has new ones.
 */
import { isUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import { readConsoleKeys, type ConsoleKeys } from '../../../store/sessions/sealingKeys.ts';
import type { Clock } from '../../../kube/clock.ts';

const DAY_MS = 24 * 3_600_000;
/** The longest life of a session, however often its token is renewed. */
export const LONGEST_MS = 7 * DAY_MS;
/** How long a key seals. */
const PERIOD_MS = DAY_MS;
/** One more period: while the next key cannot be created, the previous one still seals. */
const OPENS_MS = LONGEST_MS + PERIOD_MS;

const FRESH_MS = 30_000;
/** An unknown key causes a read, at most once in this time. */
const AGAIN_MS = 1_000;

/** A key and its period, which is part of what it sealed. */
type NumberedKey = { period: number; key: Buffer };

export type Keyring = {
  /** The key to seal with; undefined while unknown. */
  sealing: () => Promise<NumberedKey | undefined>;
  /** The key of the period; `none` if there is none or it expired, undefined while unknown. */
  opening: (period: number) => Promise<Buffer | 'none' | undefined>;
  /** A key of the period that differs from `than`, if there is one by now. */
  other: (period: number, than: Buffer) => Promise<Buffer | undefined>;
};

function periodAt(time: number): number {
  return Math.floor(time / PERIOD_MS);
}

/**
 * Whether the period's key still opens values. Clocks of replicas differ: the next period may have begun
 * elsewhere.
 */
function isOpening(period: number, time: number): boolean {
  return period <= periodAt(time) + 1 && (period + 1) * PERIOD_MS + OPENS_MS > time;
}

export function createKeyring(conn: RunStoreConnection, clock: Clock): Keyring {
  let cached: ConsoleKeys | undefined;
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;
  const time = (): number => clock.date().getTime();

  async function read(): Promise<void> {
    const period = periodAt(time());
    const earliest = period - Math.ceil(OPENS_MS / PERIOD_MS);
    const keepSeconds = Math.ceil((PERIOD_MS + OPENS_MS) / 1_000);
    const keys = await readConsoleKeys(conn, { period, earliest, keepSeconds });
    if (isUnavailable(keys)) return;
    cached = keys;
    readAt = clock.now();
  }

  async function readAfter(ms: number): Promise<void> {
    if (cached !== undefined && clock.now() - readAt < ms) return;
    reading ??= read().finally(() => (reading = undefined));
    await reading;
  }

  /** Reads the keys, sooner if this one is missing. */
  async function readFor(period: number): Promise<void> {
    await readAfter(cached?.has(period) === false ? AGAIN_MS : FRESH_MS);
  }

  return {
    sealing: async () => {
      const period = periodAt(time());
      await readFor(period);
      const newest = [period, period - 1].find((number) => cached?.has(number) === true);
      const key = newest === undefined ? undefined : cached?.get(newest);
      return newest === undefined || key === undefined ? undefined : { period: newest, key };
    },
    opening: async (period) => {
      if (!isOpening(period, time())) return 'none';
      await readFor(period);
      return cached === undefined ? undefined : (cached.get(period) ?? 'none');
    },
    other: async (period, than) => {
      await readAfter(AGAIN_MS);
      const key = cached?.get(period);
      return key?.equals(than) === true ? undefined : key;
    },
  };
}
