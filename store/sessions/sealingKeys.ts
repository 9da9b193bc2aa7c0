/**
 * The keys that the console's sessions are sealed with: random, one for each period, made by whichever replica needs it first, and the
 * same for all.
 */
import { randomBytes } from 'node:crypto';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { consoleKeys } from './keys.ts';

const KEY_BYTES = 32;

/** Keys by the number of their period. */
export type ConsoleKeys = ReadonlyMap<number, Buffer>;

export type ConsoleKeyPeriod = {
  /** The number of the period that goes on. */
  period: number;
  /** The earliest period whose key can still open something; those before it are removed. */
  earliest: number;
  /** After how many seconds nothing can be opened any more, should nobody ask again. */
  keepSeconds: number;
};

/** All keys; that of the period is made where there is none, as at its begin and in a run store that is new or was wiped. */
export function readConsoleKeys(
  conn: RunStoreConnection,
  { period, earliest, keepSeconds }: ConsoleKeyPeriod,
): Promise<ConsoleKeys | Unavailable> {
  return orUnavailable(async () => {
    const held = await readAll(conn);
    if (held.has(String(period))) return keysIn(held);
    // Of several replicas one is first, and the others take what it made.
    await conn.command('hsetnx', consoleKeys.keys, period, randomBytes(KEY_BYTES).toString('base64url'));
    await conn.command('expire', consoleKeys.keys, keepSeconds);
    const over = [...held.keys()].filter((name) => !(Number(name) >= earliest));
    if (over.length > 0) await conn.command('hdel', consoleKeys.keys, ...over);
    return keysIn(await readAll(conn));
  });
}

async function readAll(conn: RunStoreConnection): Promise<Map<string, string>> {
  return new Map(Object.entries((await conn.command('hgetall', consoleKeys.keys)) as Record<string, string>));
}

/** What somebody else wrote there is no key: nothing is sealed with it. */
function keysIn(held: Map<string, string>): ConsoleKeys {
  const keys = [...held].map(([name, text]) => [Number(name), Buffer.from(text, 'base64url')] as const);
  return new Map(keys.filter(([, key]) => key.length === KEY_BYTES));
}
