/**
 * The session of a request, with its token renewed in time. The token becomes the request's Authorization
 * header, unless it has one. Without the console's own header the cookie is ignored. Streams end within
 * seconds after their session is signed out.
 */
import type { ServerResponse } from 'node:http';
import { sessionCookieHeaders } from './cookie.ts';
import type { Renew } from './renewal.ts';
import type { Opened, Session, Sessions } from './sessions.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createAnswers, type Exchange } from '../../http/answers.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';

export type ReadSession = (exchange: Exchange) => Promise<Opened>;

/** Without `renew` a session ends with its token. */
export function createSessionReader(sessions: Sessions, renew: Renew | undefined): ReadSession {
  return async ({ request: { raw }, reply }) => {
    const { headers } = raw;
    const opened = await sessions.open(headers);
    if (opened.outcome !== 'session') return opened;
    const renewed = await renew?.(opened.session);
    const session = renewed ?? opened.session;
    if (renewed !== undefined || opened.isOld) {
      const browser = { cookie: headers.cookie, secure: sessions.origin.isSecure(headers) };
      const lines = await sealedCookieHeaders(sessions, session, browser);
      // Set on the raw response: some routes write their own headers.
      if (lines !== undefined && lines.length > 0) reply.raw.setHeader('set-cookie', lines);
    }
    return session.tokenEnds > Date.now() ? { ...opened, session } : { outcome: 'none' };
  };
}

/** The cookies that it has, and whether it uses https. */
export type Browser = { cookie: string | undefined; secure: boolean };

/** The Set-Cookie headers of a session; empty if it does not fit, undefined while there is no key. */
export async function sealedCookieHeaders(
  sessions: Sessions,
  session: Session,
  browser: Browser,
): Promise<string[] | undefined> {
  const maxAgeSeconds = Math.max(1, Math.floor((session.ends - Date.now()) / 1_000));
  const options = { secure: browser.secure, maxAgeSeconds };
  const sealed = await sessions.seal(session);
  if (sealed === undefined) return undefined;
  const lines = sessionCookieHeaders(sealed, browser.cookie, options);
  if (lines !== undefined || session.refresh === undefined) return lines ?? [];
  // Too long with the refresh token: without it the session ends with its token.
  const { refresh: _refresh, ...rest } = session;
  return sealedCookieHeaders(sessions, { ...rest, ends: session.tokenEnds }, browser);
}

/** Routes that need a token. */
const FOR_USERS = /^\/(?:(?:workflows|projects|credentials|kube)\/|console\/(?:live|projects)(?:$|\?))/;

/** Whether a session of the console may stand for the token that this URL needs. */
export const acceptsSession = (url: string): boolean => FOR_USERS.test(url);

/** How often a stream checks whether its session was signed out. */
const CHECK_INTERVAL_MS = 2_000;

export function authorizeBySession(deps: GatewayDeps, sessions: Sessions, current: ReadSession) {
  const answers = createAnswers(deps, 'console');

  async function bear(request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> {
    const opened = await current({ request, reply });
    if (opened.outcome === 'unavailable') return answers.problem(reply, 'console-unavailable');
    if (opened.outcome === 'session') {
      request.raw.headers.authorization = `Bearer ${opened.session.token}`;
      endWithSession(sessions, opened.session, reply.raw);
    }
    done();
  }

  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { headers, url = '' } = request.raw;
    if (headers.authorization !== undefined || !acceptsSession(url)) return done();
    if (!sessions.origin.isFromConsole(headers)) return done();
    bear(request, reply, done).catch((error: unknown) => answers.unexpected(reply, error));
  };
}

/**
 * Ends a response when its session is signed out at any replica. Responses that have not started are not
 * affected.
 */
function endWithSession(sessions: Sessions, session: Session, response: ServerResponse): void {
  if (response.destroyed) return;
  const check = async (): Promise<void> => {
    const isSignedOut = await sessions.isSignedOut(session).catch(() => undefined);
    if (isSignedOut === true && response.headersSent) response.destroy();
  };
  const timer = setInterval(() => void check(), CHECK_INTERVAL_MS);
  response.once('close', () => clearInterval(timer));
}
