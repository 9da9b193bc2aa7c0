/**
 * Tokens of sessions that were renewed. A refresh token is often good for one use, and the pages of one browser may ask several
 * replicas at once: one of them renews, the others take what it got. It is sealed with a key made of the old refresh token, which is
 * in the browser's cookie alone.
 */
import { hkdfSync } from 'node:crypto';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { hashOf } from '../oauth/states.ts';
import { consoleKeys } from './keys.ts';

/** Longer than a provider is waited for. */
const CLAIM_MS = 15_000;
/** Requests that still bear the old cookie come within this time. */
const KEPT_MS = 600_000;

/** The key for what comes of a refresh token. */
export function renewalKeyOf(refreshToken: string): Buffer {
  return Buffer.from(hkdfSync('sha256', refreshToken, '', 'windlass console renewal', 32));
}

/** Whether it is the caller who shows the refresh token to the provider. */
export function claimRenewal(conn: RunStoreConnection, refreshToken: string): Promise<boolean | Unavailable> {
  return orUnavailable(async () => {
    const key = consoleKeys.renewing(hashOf(refreshToken));
    return (await conn.command('set', key, '1', 'PX', CLAIM_MS, 'NX')) !== null;
  });
}

/** Keeps what came of it for the others. */
export function keepRenewal(
  conn: RunStoreConnection,
  refreshToken: string,
  sealed: string,
): Promise<{ outcome: 'kept' } | Unavailable> {
  return orUnavailable(async () => {
    await conn.command('set', consoleKeys.renewed(hashOf(refreshToken)), sealed, 'PX', KEPT_MS);
    return { outcome: 'kept' };
  });
}

/** What came of it, if somebody has renewed it. */
export function readRenewal(
  conn: RunStoreConnection,
  refreshToken: string,
): Promise<string | undefined | Unavailable> {
  return orUnavailable(async () => {
    const sealed = await conn.command('get', consoleKeys.renewed(hashOf(refreshToken)));
    return typeof sealed === 'string' ? sealed : undefined;
  });
}
