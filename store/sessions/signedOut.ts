/** Console sessions that were signed out. A mark expires when the session would have. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { hashOf } from '../oauth/states.ts';
import { consoleKeys } from './keys.ts';

/** Ends the session for every replica. */
export function markSignedOut(
  conn: RunStoreConnection,
  session: string,
  forMs: number,
): Promise<{ outcome: 'kept' } | Unavailable> {
  return orUnavailable(async () => {
    const until = Math.max(1, Math.ceil(forMs));
    await conn.command('set', consoleKeys.out(hashOf(session)), '1', 'PX', until);
    return { outcome: 'kept' };
  });
}

/** Whether the session was signed out, at any replica. */
export function isSignedOut(conn: RunStoreConnection, session: string): Promise<boolean | Unavailable> {
  return orUnavailable(async () => (await conn.command('get', consoleKeys.out(hashOf(session)))) !== null);
}
