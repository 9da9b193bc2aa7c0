/**
 * One-time links that sign in to the console. The store holds the hash of a link's secret, and the token sealed with another key
 * made of the same secret: who reads the store can neither open the link nor read the token.
 */
import { hkdfSync } from 'node:crypto';
import { isUnavailable, orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { hashOf } from '../oauth/states.ts';
import { countMade, takeOnce } from '../oneTime.ts';
import { consoleKeys } from './keys.ts';

export const LINK_MS = 600_000;
/** Links that one user is given in that time: more than a person opens, and few enough to leave the store its room. */
export const MOST_SIGN_IN_LINKS = 50;

/** The key that is in the link and nowhere else. */
export function sealingKeyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'windlass console link', 32));
}

type Found = { outcome: 'found'; sealed: string } | { outcome: 'none' } | Unavailable;

/** Keeps what was sealed, unless the user was given too many links of late. */
export async function keepSignInLink(
  conn: RunStoreConnection,
  secret: string,
  { sealed, user, forMs }: { sealed: string; user: string; forMs: number },
): Promise<{ outcome: 'kept' } | { outcome: 'too-many' } | Unavailable> {
  const made = consoleKeys.made(hashOf(user));
  const count = await countMade(conn, made, LINK_MS);
  if (isUnavailable(count)) return count;
  if (count > MOST_SIGN_IN_LINKS) return { outcome: 'too-many' };
  return orUnavailable(async () => {
    await conn.command('set', consoleKeys.link(hashOf(secret)), sealed, 'PX', Math.max(1, Math.floor(forMs)));
    return { outcome: 'kept' };
  });
}

/** What was sealed for the link, which can still be opened. */
export function readSignInLink(conn: RunStoreConnection, secret: string): Promise<Found> {
  return orUnavailable(async () => found(await conn.command('get', consoleKeys.link(hashOf(secret)))));
}

/** What was sealed for the link, which nobody gets a second time. */
export function takeSignInLink(conn: RunStoreConnection, secret: string): Promise<Found> {
  return orUnavailable(async () => found(await takeOnce(conn, consoleKeys.link(hashOf(secret)))));
}

function found(sealed: unknown): Found {
  return typeof sealed === 'string' ? { outcome: 'found', sealed } : { outcome: 'none' };
}
