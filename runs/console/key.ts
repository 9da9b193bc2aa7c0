/** The key that the console's sessions are sealed with: random, made by whichever replica asks first, and the same for all. */
import { randomBytes } from 'node:crypto';
import { orUnavailable, type RunStoreConnection } from '../connection.ts';
import type { Unavailable } from '../types.ts';
import { consoleKeys } from './keys.ts';

const KEY_BYTES = 32;

/** The key; made when there is none, as in a run store that is new or was wiped. */
export function readConsoleKey(conn: RunStoreConnection): Promise<Buffer | Unavailable> {
  return orUnavailable(async () => {
    const held = await conn.command('get', consoleKeys.key);
    if (held !== null) return keyOf(held);
    const made = randomBytes(KEY_BYTES).toString('base64url');
    // Of several replicas one is first, and the others take what it made.
    await conn.command('set', consoleKeys.key, made, 'NX');
    return keyOf(await conn.command('get', consoleKeys.key));
  });
}

/** What somebody else wrote there is no key: nothing is sealed with it. */
function keyOf(text: unknown): Buffer | Unavailable {
  const key = Buffer.from(typeof text === 'string' ? text : '', 'base64url');
  return key.length === KEY_BYTES ? key : { outcome: 'unavailable', why: 'damaged', retryAfterSeconds: 10 };
}
