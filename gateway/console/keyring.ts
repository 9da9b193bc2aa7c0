/**
 * The key that sessions are sealed with, as the run store has it. It is kept here, so that a session costs no question and an outage
 * of the run store ends none; and read again now and then, since a run store that was wiped has another.
 */
import { isUnavailable, type RunStoreConnection } from '../../runs/connection.ts';
import { readConsoleKey } from '../../runs/console/key.ts';
import type { Clock } from '../../kube/clock.ts';

const FRESH_MS = 30_000;
/** What somebody else's key may have sealed is a reason to look, but not more often than this. */
const AGAIN_MS = 1_000;

type Keyring = {
  /** Undefined while nobody knows it. */
  key: () => Promise<Buffer | undefined>;
  /** Another key than the one given, if there is one by now. */
  other: (than: Buffer) => Promise<Buffer | undefined>;
};

export function createKeyring(conn: RunStoreConnection, clock: Clock): Keyring {
  let held: Buffer | undefined;
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const key = await readConsoleKey(conn);
    if (isUnavailable(key)) return;
    held = key;
    readAt = clock.now();
  }

  async function readAfter(ms: number): Promise<void> {
    if (held !== undefined && clock.now() - readAt < ms) return;
    reading ??= read().finally(() => (reading = undefined));
    await reading;
  }

  return {
    key: async () => {
      await readAfter(FRESH_MS);
      return held;
    },
    other: async (than) => {
      await readAfter(AGAIN_MS);
      return held?.equals(than) === true ? undefined : held;
    },
  };
}
