/**
 * Renewed tokens of console sessions. Many refresh tokens can be used once, and the pages of one browser may
 * ask several replicas at once: one of them renews, the others take its tokens. These are sealed with a key
 * derived from the old refresh token, which only the browser's cookie has.
 */
import { hkdfSync } from 'node:crypto';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { hashOf } from '../oauth/states.ts';
import { consoleKeys } from './keys.ts';

/** Longer than a call to the provider may take. */
const CLAIM_MS = 15_000;
/** Requests with the old cookie arrive within this time. */
const KEPT_MS = 600_000;

/** The key that the new tokens of a refresh token are sealed with. */
export function renewalKeyOf(refreshToken: string): Buffer {
  return Buffer.from(hkdfSync('sha256', refreshToken, '', 'windlass console renewal', 32));
}

/** Whether the caller, and no other replica, renews. */
export function claimRenewal(conn: RunStoreConnection, refreshToken: string): Promise<boolean | Unavailable> {
  return orUnavailable(async () => {
    const key = consoleKeys.renewing(hashOf(refreshToken));
    return (await conn.command('set', key, '1', 'PX', CLAIM_MS, 'NX')) !== null;
  });
}

/** Stores the new tokens for the other replicas. */
export function storeRenewal(
  conn: RunStoreConnection,
  refreshToken: string,
  sealed: string,
): Promise<{ outcome: 'kept' } | Unavailable> {
  return orUnavailable(async () => {
    await conn.command('set', consoleKeys.renewed(hashOf(refreshToken)), sealed, 'PX', KEPT_MS);
    return { outcome: 'kept' };
  });
}

/** The new tokens, if a replica has renewed. */
export function readRenewal(
  conn: RunStoreConnection,
  refreshToken: string,
): Promise<string | undefined | Unavailable> {
  return orUnavailable(async () => {
    const sealed = await conn.command('get', consoleKeys.renewed(hashOf(refreshToken)));
    return typeof sealed === 'string' ? sealed : undefined;
  });
}
