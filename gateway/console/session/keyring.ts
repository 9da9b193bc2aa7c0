/**
 * The keys that sessions are sealed with, as the run store has them: each day another one. Those of days before go on opening what they
 * sealed for as long as a session can live, and not longer. They are kept here, so that a session costs no question and an outage of the
 * run store ends none; and read again now and then, since a run store that was wiped has others.
 */
import { isUnavailable, type RunStoreConnection } from '../../../runs/connection.ts';
import { readConsoleKeys, type ConsoleKeys } from '../../../runs/console/key.ts';
import type { Clock } from '../../../kube/clock.ts';

const DAY_MS = 24 * 3_600_000;
/** How long a session lives at most: what no token outlasts, and no chain of tokens. */
export const LONGEST_MS = 7 * DAY_MS;
/** How long a key may seal. */
const PERIOD_MS = DAY_MS;
/** A period more: where the next key cannot be made, the one before goes on sealing. */
const OPENS_MS = LONGEST_MS + PERIOD_MS;

const FRESH_MS = 30_000;
/** What a key that is not known here may have sealed is a reason to look, but not more often than this. */
const AGAIN_MS = 1_000;

/** A key with the number of its period, which is written to what it sealed. */
type NumberedKey = { period: number; key: Buffer };

export type Keyring = {
  /** The key to seal with. Undefined while nobody knows it. */
  sealing: () => Promise<NumberedKey | undefined>;
  /** The key of the period; `none` where there is none or its time is over, undefined while nobody knows. */
  opening: (period: number) => Promise<Buffer | 'none' | undefined>;
  /** Another key of the period than the one given, if there is one by now. */
  other: (period: number, than: Buffer) => Promise<Buffer | undefined>;
};

/** The number of the period that a time of day is in. */
function periodAt(time: number): number {
  return Math.floor(time / PERIOD_MS);
}

/** Whether what the key of the period sealed can still count. Clocks of replicas differ: the next period may have begun elsewhere. */
function isOpening(period: number, time: number): boolean {
  return period <= periodAt(time) + 1 && (period + 1) * PERIOD_MS + OPENS_MS > time;
}

export function createKeyring(conn: RunStoreConnection, clock: Clock): Keyring {
  let held: ConsoleKeys | undefined;
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;
  const time = (): number => clock.date().getTime();

  async function read(): Promise<void> {
    const period = periodAt(time());
    const earliest = period - Math.ceil(OPENS_MS / PERIOD_MS);
    const keepSeconds = Math.ceil((PERIOD_MS + OPENS_MS) / 1_000);
    const keys = await readConsoleKeys(conn, { period, earliest, keepSeconds });
    if (isUnavailable(keys)) return;
    held = keys;
    readAt = clock.now();
  }

  async function readAfter(ms: number): Promise<void> {
    if (held !== undefined && clock.now() - readAt < ms) return;
    reading ??= read().finally(() => (reading = undefined));
    await reading;
  }

  /** Reads the keys, and sooner than otherwise where one is missing. */
  async function readFor(period: number): Promise<void> {
    await readAfter(held?.has(period) === false ? AGAIN_MS : FRESH_MS);
  }

  return {
    sealing: async () => {
      const period = periodAt(time());
      await readFor(period);
      const newest = [period, period - 1].find((number) => held?.has(number) === true);
      const key = newest === undefined ? undefined : held?.get(newest);
      return newest === undefined || key === undefined ? undefined : { period: newest, key };
    },
    opening: async (period) => {
      if (!isOpening(period, time())) return 'none';
      await readFor(period);
      return held === undefined ? undefined : (held.get(period) ?? 'none');
    },
    other: async (period, than) => {
      await readAfter(AGAIN_MS);
      const key = held?.get(period);
      return key?.equals(than) === true ? undefined : key;
    },
  };
}
