/**
 * The keys that console sessions are sealed with: random, one for each period, created by the replica that
 * first needs it.
 */
import { randomBytes } from 'node:crypto';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { consoleKeys } from './keys.ts';

const KEY_BYTES = 32;

/** Keys by the number of their period. */
export type ConsoleKeys = ReadonlyMap<number, Buffer>;

export type ConsoleKeyPeriod = {
  /** The number of the current period. */
  period: number;
  /** The earliest period whose key is still needed; older keys are removed. */
  earliest: number;
  /** After how many seconds all keys expire, if nobody asks again. */
  keepSeconds: number;
};

/** Reads all keys, and creates the one of the current period where it is missing. */
export function readConsoleKeys(
  conn: RunStoreConnection,
  { period, earliest, keepSeconds }: ConsoleKeyPeriod,
): Promise<ConsoleKeys | Unavailable> {
  return orUnavailable(async () => {
    const stored = await readAll(conn);
    if (stored.has(String(period))) return keysIn(stored);
    // The first of several replicas creates it, and the others use it.
    await conn.command('hsetnx', consoleKeys.keys, period, randomBytes(KEY_BYTES).toString('base64url'));
    await conn.command('expire', consoleKeys.keys, keepSeconds);
    const over = [...stored.keys()].filter((name) => !(Number(name) >= earliest));
    if (over.length > 0) await conn.command('hdel', consoleKeys.keys, ...over);
    return keysIn(await readAll(conn));
  });
}

async function readAll(conn: RunStoreConnection): Promise<Map<string, string>> {
  return new Map(Object.entries((await conn.command('hgetall', consoleKeys.keys)) as Record<string, string>));
}

/** Leaves out entries that are no valid keys. */
function keysIn(stored: Map<string, string>): ConsoleKeys {
  const keys = [...stored].map(([name, text]) => [Number(name), Buffer.from(text, 'base64url')] as const);
  return new Map(keys.filter(([, key]) => key.length === KEY_BYTES));
}
