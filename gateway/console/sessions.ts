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
import type { Clock } from '../../kube/clock.ts';
import { isUnavailable, type RunStoreConnection } from '../../runs/connection.ts';
import { isSignedOut, markSignedOut } from '../../runs/console/marks.ts';
import { createExpiring } from '../internal/expiring.ts';
import { sessionCookie } from './cookie.ts';
import { createKeyring } from './keyring.ts';
import { isSecure } from './origin.ts';
import { openValue, sealValue } from './seal.ts';

const PURPOSE = 'windlass console session';
/** What no token outlasts, and no chain of tokens. */
export const LONGEST_MS = 7 * 24 * 3_600_000;
/** How soon another replica's sign-out is known here. */
const KNOWN_MS = 2_000;
/** How long a session goes on without the run store. */
const GRACE_MS = 300_000;
const MAX_KNOWN = 4_096;
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

export type Opened =
  | { outcome: 'session'; session: Session }
  | { outcome: 'none' }
  /** It cannot be told now. */
  | { outcome: 'unavailable' };

export type Sessions = {
  /** The session that a request bears, also where its token has ended. Never rejects for what is in its cookies. */
  open: (headers: IncomingHttpHeaders) => Promise<Opened>;
  /** The session as the value of a cookie; undefined while there is no key. */
  seal: (session: Session) => Promise<string | undefined>;
  /** Another value for a cookie; undefined while there is no key. */
  sealFor: (purpose: string, value: object) => Promise<string | undefined>;
  /** Such a value, if it is one. */
  openFor: (purpose: string, sealed: string) => Promise<unknown>;
  /** Whether it was signed out, here or, some seconds ago, at another replica; undefined if it cannot be told now. */
  isOut: (session: Session) => Promise<boolean | undefined>;
  /** Ends it for every replica; false if that could not be stored. */
  signOut: (session: Session) => Promise<boolean>;
};

export function newSessionId(): string {
  return randomBytes(16).toString('base64url');
}

export function createSessions(conn: RunStoreConnection, clock: Clock): Sessions {
  const keyring = createKeyring(conn, clock);
  const fresh = createExpiring<boolean>(MAX_KNOWN, clock);
  const lately = createExpiring<true>(MAX_KNOWN, clock);

  async function sealFor(purpose: string, value: object): Promise<string | undefined> {
    const key = await keyring.key();
    return key && sealValue(key, value, purpose);
  }

  async function openFor(purpose: string, text: string): Promise<unknown> {
    const key = await keyring.key();
    if (key === undefined) return NO_KEY;
    const value = openValue(key, text, purpose);
    if (value !== undefined) return value;
    const other = await keyring.other(key);
    return other && openValue(other, text, purpose);
  }

  async function isOut({ id }: Session): Promise<boolean | undefined> {
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
    open: async (headers) => {
      const text = sessionCookie(headers.cookie, { secure: isSecure(headers) });
      if (text === '') return { outcome: 'none' };
      const value = await openFor(PURPOSE, text);
      if (value === NO_KEY) return { outcome: 'unavailable' };
      const parsed = sessionSchema.safeParse(value);
      if (!parsed.success || parsed.data.ends <= clock.date().getTime()) return { outcome: 'none' };
      const out = await isOut(parsed.data);
      if (out === undefined) return { outcome: 'unavailable' };
      return out ? { outcome: 'none' } : { outcome: 'session', session: parsed.data };
    },
    seal: (session) => sealFor(PURPOSE, session),
    sealFor,
    openFor,
    isOut,
    signOut: async (session) => {
      const kept = await markSignedOut(conn, session.id, session.ends - clock.date().getTime());
      if (isUnavailable(kept)) return false;
      lately.delete(session.id);
      fresh.set(session.id, true, clock.now() + KNOWN_MS);
      return true;
    },
  };
}
