/** The session of a request as it is now: with a token that is good, renewed where it was about to end. */
import type { Exchange } from '../../endpoint/admit.ts';
import { sessionLines } from './cookie.ts';
import type { Renew } from './renewal.ts';
import type { Opened, Session, Sessions } from './sessions.ts';

export type Current = (exchange: Exchange) => Promise<Opened>;

/** Without `renew` a session ends with its token. */
export function createCurrent(sessions: Sessions, renew: Renew | undefined): Current {
  return async ({ request: { raw }, reply }) => {
    const { headers } = raw;
    const opened = await sessions.open(headers);
    if (opened.outcome !== 'session') return opened;
    const renewed = await renew?.(opened.session);
    const session = renewed ?? opened.session;
    if (renewed !== undefined || opened.isOld) {
      const browser = { cookie: headers.cookie, secure: sessions.origin.isSecure(headers) };
      const lines = await sealedLines(sessions, session, browser);
      // On the answer itself: some routes write its headers by their own hand.
      if (lines !== undefined && lines.length > 0) reply.raw.setHeader('set-cookie', lines);
    }
    return session.tokenEnds > Date.now() ? { ...opened, session } : { outcome: 'none' };
  };
}

/** What it holds already, and whether it came by https. */
export type Browser = { cookie: string | undefined; secure: boolean };

/** The Set-Cookie lines of a session; none if it does not fit, undefined while nothing can be sealed. */
export async function sealedLines(
  sessions: Sessions,
  session: Session,
  browser: Browser,
): Promise<string[] | undefined> {
  const maxAgeSeconds = Math.max(1, Math.floor((session.ends - Date.now()) / 1_000));
  const options = { secure: browser.secure, maxAgeSeconds };
  const sealed = await sessions.seal(session);
  if (sealed === undefined) return undefined;
  const lines = sessionLines(sealed, browser.cookie, options);
  if (lines !== undefined || session.refresh === undefined) return lines ?? [];
  // Too long with what renews it: then it ends with its token.
  const { refresh: _refresh, ...rest } = session;
  return sealedLines(sessions, { ...rest, ends: session.tokenEnds }, browser);
}
