/**
 * Sessions of the console. A session is in the browser's cookies alone, sealed: who the user is, the user's token and when it ends.
 * Nothing of it is kept here or in the run store, but for the mark of a session that was signed out.
 *
 * While the run store is away, a session that this replica has found good within the last minutes goes on, since what its token may
 * do the API server decides; all others wait, because they may have been signed out.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import type { Clock } from '../../../kube/clock.ts';
import { isUnavailable, type RunStoreConnection } from '../../../runs/connection.ts';
import { isSignedOut, markSignedOut } from '../../../runs/console/marks.ts';
import { createExpiringMap } from '../../limits/boundedMaps.ts';
import { sessionCookie } from './cookie.ts';
import { createKeyring } from './keyring.ts';
import type { ConsoleOrigin } from './origin.ts';
import { openValue, sealValue } from './seal.ts';

const PURPOSE = 'windlass console session';
/** How soon another replica's sign-out is known here. */
const KNOWN_MS = 2_000;
/** How long a session goes on without the run store. */
const GRACE_MS = 300_000;
const MAX_KNOWN = 4_096;
/** How long before its end a token is renewed. */
export const AHEAD_MS = 60_000;
/** How old the time of the last use may be in a cookie, so that few answers set another. */
const USED_MS = 300_000;
/** Nothing can be opened now. */
const NO_KEY = Symbol('no key');

const sessionSchema = z.object({
  id: z.string(),
  token: z.string(),
  /** When the token ends; what is in milliseconds is since 1970. */
  tokenEnds: z.number(),
  /** What gives another token. */
  refresh: z.string().optional(),
  user: z.object({ name: z.string(), groups: z.array(z.string()) }),
  /** When the session ends: with its token, or, where that is renewed, at the latest then. */
  ends: z.number(),
});

export type Session = z.infer<typeof sessionSchema>;

/** As it is in the cookie: with the time of its last use, as of some minutes ago. */
const sealedSchema = sessionSchema.extend({ usedAt: z.number() });

export type Opened =
  /** `isOld`: its cookie should be sealed anew, so that it does not count as unused. */
  | { outcome: 'session'; session: Session; isOld: boolean }
  | { outcome: 'none' }
  /** It cannot be told now. */
  | { outcome: 'unavailable' };

export type Sessions = {
  /** Where browsers reach the console. */
  origin: ConsoleOrigin;
  /** The session that a request bears, also where its token has ended. Never rejects for what is in its cookies. */
  open: (headers: IncomingHttpHeaders) => Promise<Opened>;
  /** The session as the value of a cookie, used now; undefined while there is no key. */
  seal: (session: Session) => Promise<string | undefined>;
  /** Another value for a cookie; undefined while there is no key. */
  sealFor: (purpose: string, value: object) => Promise<string | undefined>;
  /** Such a value, if it is one. */
  openFor: (purpose: string, sealed: string) => Promise<unknown>;
  /** Whether it was signed out, here or, some seconds ago, at another replica; undefined if it cannot be told now. */
  isSignedOutSession: (session: Session) => Promise<boolean | undefined>;
  /** Ends it for every replica, and takes its refresh token back at the provider in the background; false if that it ended could not be stored. */
  signOut: (session: Session) => Promise<boolean>;
};

export function newSessionId(): string {
  return randomBytes(16).toString('base64url');
}

export type SessionsOptions = {
  conn: RunStoreConnection;
  clock: Clock;
  origin: ConsoleOrigin;
  /** After how long without use a session ends. */
  idleMs: number;
  /** Takes a refresh token back; must not throw. */
  revoke?: ((refreshToken: string) => void) | undefined;
};

export function createSessions({ conn, clock, origin, idleMs, revoke }: SessionsOptions): Sessions {
  const keyring = createKeyring(conn, clock);
  const fresh = createExpiringMap<boolean>(MAX_KNOWN, clock);
  const lately = createExpiringMap<true>(MAX_KNOWN, clock);
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

  /** One whose token is about to be renewed gets its cookie then: two answers that cross must not bring the old refresh token back. */
  function isOld({ usedAt, refresh, tokenEnds }: z.infer<typeof sealedSchema>): boolean {
    const isRenewedSoon = refresh !== undefined && tokenEnds - time() < 2 * AHEAD_MS;
    return !isRenewedSoon && time() - usedAt >= Math.min(USED_MS, idleMs / 4);
  }

  async function isSignedOutSession({ id }: Session): Promise<boolean | undefined> {
    const known = fresh.get(id);
    if (known !== undefined) return known;
    const askedAt = clock.now();
    const out = await isSignedOut(conn, id);
    if (isUnavailable(out)) return lately.get(id) === true ? false : undefined;
    fresh.set(id, out, askedAt + KNOWN_MS);
    if (out) lately.delete(id);
    else lately.set(id, true, askedAt + GRACE_MS);
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
      const out = await isSignedOutSession(session);
      if (out === undefined) return { outcome: 'unavailable' };
      return out ? { outcome: 'none' } : { outcome: 'session', session, isOld: isOld(parsed.data) };
    },
    seal: (session) => sealFor(PURPOSE, { ...session, usedAt: time() }),
    sealFor,
    openFor,
    isSignedOutSession,
    signOut: async (session) => {
      const kept = await markSignedOut(conn, session.id, session.ends - time());
      if (isUnavailable(kept)) return false;
      lately.delete(session.id);
      fresh.set(session.id, true, clock.now() + KNOWN_MS);
      if (session.refresh !== undefined) revoke?.(session.refresh);
      return true;
    },
  };
}
