/**
 * One-time links that sign in to the console. The store has the hash of a link's secret, and the token sealed
 * with a key that is derived from the secret: a reader of the store can neither use the link nor read the
 * token.
 */
import { hkdfSync } from 'node:crypto';
import { isUnavailable, orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { hashOf } from '../oauth/states.ts';
import { countTokens, takeOnce } from '../oneTime.ts';
import { consoleKeys } from './keys.ts';

export const LINK_MS = 600_000;
/** Links of one user in that time: more than a person opens, and few enough not to fill the store. */
export const MAX_SIGN_IN_LINKS = 50;

/** The key that is derived from the link's secret. */
export function sealingKeyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'windlass console link', 32));
}

type Found = { outcome: 'found'; sealed: string } | { outcome: 'none' } | Unavailable;

/** Stores a sealed token, unless the user got too many links lately. */
export async function storeSignInLink(
  conn: RunStoreConnection,
  secret: string,
  { sealed, user, forMs }: { sealed: string; user: string; forMs: number },
): Promise<{ outcome: 'kept' } | { outcome: 'too-many' } | Unavailable> {
  const made = consoleKeys.made(hashOf(user));
  const count = await countTokens(conn, made, LINK_MS);
  if (isUnavailable(count)) return count;
  if (count > MAX_SIGN_IN_LINKS) return { outcome: 'too-many' };
  return orUnavailable(async () => {
    await conn.command('set', consoleKeys.link(hashOf(secret)), sealed, 'PX', Math.max(1, Math.floor(forMs)));
    return { outcome: 'kept' };
  });
}

/** Reads the sealed token of a link, which stays valid. */
export function readSignInLink(conn: RunStoreConnection, secret: string): Promise<Found> {
  return orUnavailable(async () => found(await conn.command('get', consoleKeys.link(hashOf(secret)))));
}

/** Takes the sealed token of a link: nobody gets it a second time. */
export function takeSignInLink(conn: RunStoreConnection, secret: string): Promise<Found> {
  return orUnavailable(async () => found(await takeOnce(conn, consoleKeys.link(hashOf(secret)))));
}

function found(sealed: unknown): Found {
  return typeof sealed === 'string' ? { outcome: 'found', sealed } : { outcome: 'none' };
}
