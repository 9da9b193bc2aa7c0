/**
 * Sessions of the console. A session is stored only in the browser's cookies, sealed: the user, the token,
 * and when it ends. The run store holds only marks of signed-out sessions.
 *
 * While the run store is unavailable, a session that this replica has recently found valid continues, since
 * the API server decides what its token may do. All others wait, because they may have been signed out.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import type { Clock } from '../../../kube/clock.ts';
import { isUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import { isSignedOut, markSignedOut } from '../../../store/sessions/signedOut.ts';
import { createExpiringMap } from '../../limits/boundedMaps.ts';
import { sessionCookie } from './cookie.ts';
import { createKeyring } from './keyring.ts';
import type { ConsoleOrigin } from './origin.ts';
import { openValue, sealValue } from './seal.ts';

const PURPOSE = 'windlass console session';
/** How soon a sign-out at another replica takes effect here. */
const KNOWN_MS = 2_000;
/** How long a session continues without the run store. */
const GRACE_MS = 300_000;
const MAX_KNOWN = 4_096;
/** How long before its end a token is renewed. */
export const AHEAD_MS = 60_000;
/** How old the time of the last use in a cookie may be, so that few answers set a cookie. */
const USED_MS = 300_000;
/** There is no key to open values with. */
const NO_KEY = Symbol('no key');

const sessionSchema = z.object({
  id: z.string(),
  token: z.string(),
  /** End of the token. Times are milliseconds since 1970. */
  tokenEnds: z.number(),
  /** The refresh token. */
  refresh: z.string().optional(),
  user: z.object({ name: z.string(), groups: z.array(z.string()) }),
  /** End of the session: of its token, or, if that is renewed, the latest end. */
  ends: z.number(),
});

export type Session = z.infer<typeof sessionSchema>;

/** As sealed in the cookie, with the approximate time of its last use. */
const sealedSchema = sessionSchema.extend({ usedAt: z.number() });

export type Opened =
  /** `isOld`: seal its cookie again, so that the session does not count as unused. */
  | { outcome: 'session'; session: Session; isOld: boolean }
  | { outcome: 'none' }
  /** Cannot be decided now. */
  | { outcome: 'unavailable' };

export type Sessions = {
  origin: ConsoleOrigin;
  /** The session of a request, even if its token has ended. Never rejects because of cookies. */
  open: (headers: IncomingHttpHeaders) => Promise<Opened>;
  /** Seals the session as a cookie value, used now; undefined while there is no key. */
  seal: (session: Session) => Promise<string | undefined>;
  /** Seals another value for a cookie; undefined while there is no key. */
  sealFor: (purpose: string, value: object) => Promise<string | undefined>;
  /** Opens such a value; undefined if it is invalid. */
  openFor: (purpose: string, sealed: string) => Promise<unknown>;
  /**
   * Whether it was signed out, here or seconds ago at another replica; undefined if that cannot be decided
   * now.
   */
  isSignedOut: (session: Session) => Promise<boolean | undefined>;
  /**
   * Ends the session at every replica and revokes its refresh token in the background; false if the end could
   * not be stored.
   */
  signOut: (session: Session) => Promise<boolean>;
};

export function newSessionId(): string {
  return randomBytes(16).toString('base64url');
}

export type SessionsOptions = {
  conn: RunStoreConnection;
  clock: Clock;
  origin: ConsoleOrigin;
  /** A session ends after this time without use, in milliseconds. */
  idleMs: number;
  /** Revokes a refresh token; must not throw. */
  revoke?: ((refreshToken: string) => void) | undefined;
};

export function createSessions({ conn, clock, origin, idleMs, revoke }: SessionsOptions): Sessions {
  const keyring = createKeyring(conn, clock);
  const checked = createExpiringMap<boolean>(MAX_KNOWN, clock);
  const recentlyValid = createExpiringMap<true>(MAX_KNOWN, clock);
  const time = (): number => clock.date().getTime();

  async function sealFor(purpose: string, value: object): Promise<string | undefined> {
    const sealing = await keyring.sealing();
    return sealing && `${sealing.period}-${await sealValue(sealing.key, value, purpose)}`;
  }

  async function openFor(purpose: string, text: string): Promise<unknown> {
    const [, number, sealed = ''] = /^(\d{1,7})-([\w.-]+)$/.exec(text) ?? [];
    if (number === undefined) return undefined;
    const period = Number(number);
    const key = await keyring.opening(period);
    if (key === undefined) return NO_KEY;
    if (key === 'none') return undefined;
    const value = await openValue(key, sealed, purpose);
    if (value !== undefined) return value;
    const other = await keyring.other(period, key);
    return other && (await openValue(other, sealed, purpose));
  }

  /**
   * A session whose token is about to be renewed gets its cookie then: two concurrent answers must not
   * restore the old refresh token.
   */
  function isOld({ usedAt, refresh, tokenEnds }: z.infer<typeof sealedSchema>): boolean {
    const isRenewedSoon = refresh !== undefined && tokenEnds - time() < 2 * AHEAD_MS;
    return !isRenewedSoon && time() - usedAt >= Math.min(USED_MS, idleMs / 4);
  }

  async function checkSignedOut({ id }: Session): Promise<boolean | undefined> {
    const known = checked.get(id);
    if (known !== undefined) return known;
    const askedAt = clock.now();
    const out = await isSignedOut(conn, id);
    if (isUnavailable(out)) return recentlyValid.get(id) === true ? false : undefined;
    checked.set(id, out, askedAt + KNOWN_MS);
    if (out) recentlyValid.delete(id);
    else recentlyValid.set(id, true, askedAt + GRACE_MS);
    return out;
  }

  return {
    origin,
    open: async (headers) => {
      const text = sessionCookie(headers.cookie, { secure: origin.isSecure(headers) });
      if (text === '') return { outcome: 'none' };
      const value = await openFor(PURPOSE, text);
      if (value === NO_KEY) return { outcome: 'unavailable' };
      const parsed = sealedSchema.safeParse(value);
      if (!parsed.success || parsed.data.ends <= time() || parsed.data.usedAt + idleMs <= time())
        return { outcome: 'none' };
      const { usedAt: _usedAt, ...session } = parsed.data;
      const out = await checkSignedOut(session);
      if (out === undefined) return { outcome: 'unavailable' };
      return out ? { outcome: 'none' } : { outcome: 'session', session, isOld: isOld(parsed.data) };
    },
    seal: (session) => sealFor(PURPOSE, { ...session, usedAt: time() }),
    sealFor,
    openFor,
    isSignedOut: checkSignedOut,
    signOut: async (session) => {
      const kept = await markSignedOut(conn, session.id, session.ends - time());
      if (isUnavailable(kept)) return false;
      recentlyValid.delete(session.id);
      checked.set(session.id, true, clock.now() + KNOWN_MS);
      if (session.refresh !== undefined) revoke?.(session.refresh);
      return true;
    },
  };
}
