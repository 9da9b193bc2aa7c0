/**
 * Renews the token of a session shortly before it ends, with the refresh token in the browser's cookie, and
 * revokes it when the session ends (RFC 7009). Concurrent requests of a browser, at any replica, use a
 * refresh token once. While the provider does not answer, the old token is used until it ends.
 */
import * as z from 'zod';
import { sleep, type Clock } from '../../../kube/clock.ts';
import type { Log } from '../../../kube/log.ts';
import { isUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import { hashOf } from '../../../store/oauth/states.ts';
import { claimRenewal, storeRenewal, readRenewal, renewalKeyOf } from '../../../store/sessions/renewals.ts';
import { createExpiringMap } from '../../limits/boundedMaps.ts';
import type { Provider } from './oidc.ts';
import { openValue, sealValue } from './seal.ts';
import { AHEAD_MS, type Session } from './sessions.ts';
import { tokenExpiry } from './signIn.ts';

const PURPOSE = 'windlass console renewal';
/** How long requests with the old cookie get the renewed tokens. */
const KEPT_MS = 600_000;
/** Delay before the provider is asked again. */
const AGAIN_MS = 5_000;
/** How long to wait for another replica that renews the token. */
const OTHER_MS = 8_000;
const CHECK_INTERVAL_MS = 200;
const MAX_KNOWN = 2_048;

const renewedSchema = z.object({ token: z.string(), refresh: z.string().optional() });
type Renewed = z.infer<typeof renewedSchema>;

/** The session with a new token; undefined if it needs none, or there is none. */
export type Renew = (session: Session) => Promise<Session | undefined>;

type RenewalOptions = { conn: RunStoreConnection; provider: Provider; clock: Clock; log: Log };

/** The tokens that a refresh token was recently exchanged for, here or at another replica. */
async function readRenewed(conn: RunStoreConnection, refresh: string): Promise<Renewed | undefined> {
  const sealed = await readRenewal(conn, refresh);
  if (sealed === undefined || isUnavailable(sealed)) return undefined;
  return renewedSchema.safeParse(await openValue(renewalKeyOf(refresh), sealed, PURPOSE)).data;
}

export function createRenewal({ conn, provider, clock, log }: RenewalOptions): Renew {
  const known = createExpiringMap<Renewed>(MAX_KNOWN, clock);
  const failed = createExpiringMap<true>(MAX_KNOWN, clock);
  const inProgress = new Map<string, Promise<Renewed | undefined>>();

  async function waitForOther(refresh: string): Promise<Renewed | undefined> {
    const deadline = clock.now() + OTHER_MS;
    while (clock.now() < deadline) {
      await sleep(CHECK_INTERVAL_MS, undefined, clock);
      const found = await readRenewed(conn, refresh);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async function ask(refresh: string): Promise<Renewed | undefined> {
    const before = await readRenewed(conn, refresh);
    if (before !== undefined) return before;
    const isOurs = await claimRenewal(conn, refresh);
    // Without the run store another replica might use the same token.
    if (isUnavailable(isOurs)) return undefined;
    if (!isOurs) return waitForOther(refresh);
    try {
      const { idToken, refreshToken } = await provider.renew(refresh);
      const renewed = { token: idToken, ...(refreshToken !== undefined && { refresh: refreshToken }) };
      await storeRenewal(conn, refresh, await sealValue(renewalKeyOf(refresh), renewed, PURPOSE));
      return renewed;
    } catch (error) {
      log.info({ err: error }, 'renewing a session token failed');
      return undefined;
    }
  }

  async function renewOnce(refresh: string): Promise<Renewed | undefined> {
    const key = hashOf(refresh);
    const cached = known.get(key);
    if (cached !== undefined || failed.get(key) === true) return cached;
    const running = inProgress.get(key);
    if (running !== undefined) return running;
    const asking = ask(refresh).finally(() => inProgress.delete(key));
    inProgress.set(key, asking);
    const renewed = await asking;
    if (renewed === undefined) failed.set(key, true, clock.now() + AGAIN_MS);
    else known.set(key, renewed, clock.now() + KEPT_MS);
    return renewed;
  }

  return async (session) => {
    const { refresh } = session;
    if (refresh === undefined || session.tokenEnds - clock.date().getTime() > AHEAD_MS) return undefined;
    const renewed = await renewOnce(refresh);
    return renewed && { ...session, ...renewed, tokenEnds: tokenExpiry(renewed.token) };
  };
}

/** Follows renewals of a token up to this many times. */
const MOST_RENEWALS = 3;

type RevocationOptions = { conn: RunStoreConnection; provider: Pick<Provider, 'revoke'>; log: Log };

/** Best effort: failures are logged, and the token expires at the provider. Never throws. */
export function createRevocation({ conn, provider, log }: RevocationOptions): (refreshToken: string) => void {
  const revoke = async (refreshToken: string): Promise<void> => {
    let newest = refreshToken;
    for (let renewals = 0; renewals < MOST_RENEWALS; renewals += 1) {
      const renewed = (await readRenewed(conn, newest))?.refresh;
      if (renewed === undefined || renewed === newest) break;
      newest = renewed;
    }
    await provider.revoke(newest);
  };
  return (refreshToken) => {
    revoke(refreshToken).catch((error: unknown) =>
      log.warn({ err: error }, 'revoking a refresh token failed'),
    );
  };
}
