/**
 * `GET /console/oidc/start`: redirects the browser to the provider. `GET /console/oidc/callback`: receives
 * the provider's answer from the same browser and creates a session. Both lead only to pages of the console.
 */
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { createAnswers, type Answers, type Exchange } from '../../http/answers.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { setCookieHeader, hostName, readCookies } from './cookie.ts';
import type { Issued, Provider } from './oidc.ts';
import { returnPath } from './origin.ts';
import { sendMessagePage } from './page.ts';
import { setSessionCookies, recordSignIn } from './sessionRoute.ts';
import type { Session, Sessions } from './sessions.ts';
import { createSession } from './signIn.ts';
import { addRoute } from '../../endpoint/route.ts';

const CALLBACK = '/console/oidc/callback';
const COOKIE = 'windlass_console_oidc';
const PURPOSE = 'windlass console sign-in';
/** How long a person may take at the provider. */
const SIGN_IN_SECONDS = 600;

const underWay = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectURI: z.string(),
  to: z.string(),
  until: z.number(),
});
type UnderWay = z.infer<typeof underWay>;

type Oidc = { deps: GatewayDeps; sessions: Sessions; provider: Provider; answers: Answers };

export function addOidcRoutes(
  app: FastifyInstance,
  deps: GatewayDeps,
  sessions: Sessions,
  provider: Provider,
): void {
  const answers = createAnswers(deps, 'console');
  const oidc = { deps, sessions, provider, answers };
  addRoute(app, answers, '/console/oidc/start', { GET: { handle: (exchange) => start(oidc, exchange) } });
  addRoute(app, answers, CALLBACK, { GET: { handle: (exchange) => finish(oidc, exchange) } });
}

async function start(
  { deps, sessions, provider, answers }: Oidc,
  { request, reply }: Exchange,
): Promise<void> {
  const { headers } = request.raw;
  const { to } = request.query as { to?: unknown };
  const sent = await provider.begin(sessions.origin.baseURL(headers) + CALLBACK).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'OpenID Connect provider unavailable');
  });
  if (sent === undefined) return sendMessagePage(answers, reply, 'provider-away');
  const until = Date.now() + SIGN_IN_SECONDS * 1_000;
  const sealed = await sessions.sealFor(PURPOSE, { ...sent.begun, to: returnPath(to), until });
  if (sealed === undefined) return sendMessagePage(answers, reply, 'unavailable');
  reply.headers({
    'set-cookie': ownLine(sealed, sessions.origin.isSecure(headers), SIGN_IN_SECONDS),
    location: sent.url,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  answers.send(reply, 303, 'text/plain', '');
}

async function finish(oidc: Oidc, exchange: Exchange): Promise<void> {
  const { deps, answers } = oidc;
  const { reply } = exchange;
  const begun = await readSignInOf(oidc, exchange);
  const signedIn: SignedIn =
    begun === undefined ? { problem: 'not-begun' } : await exchangeAndSignIn(oidc, exchange, begun);
  recordSignIn(deps, exchange, 'oidc', signedIn);
  if (begun === undefined || signedIn.problem !== undefined)
    return sendMessagePage(answers, reply, signedIn.problem ?? 'not-begun');
  const secure = isHttps(begun);
  reply.header('set-cookie', ownLine('', secure, 0));
  reply.headers({ location: begun.to, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  answers.send(reply, 303, 'text/plain', '');
}

/** This browser's sign-in, if the answer belongs to it. */
async function readSignInOf({ sessions }: Oidc, { request }: Exchange): Promise<UnderWay | undefined> {
  const begun = await openSignIn(sessions, request.raw.headers.cookie);
  if (begun === undefined || begun.until <= Date.now()) return undefined;
  return answerOf(request).get('state') === begun.state ? begun : undefined;
}

function answerOf({ raw: { url = '' } }: Exchange['request']): URLSearchParams {
  return new URL(url, 'http://callback').searchParams;
}

type SignedIn = {
  session?: Session | ProblemCode;
  problem?: 'not-begun' | 'denied' | 'no-token' | 'not-accepted' | 'unavailable' | undefined;
};

async function exchangeAndSignIn(oidc: Oidc, exchange: Exchange, begun: UnderWay): Promise<SignedIn> {
  const answer = answerOf(exchange.request);
  if (answer.get('error') === 'access_denied') return { problem: 'denied' };
  const issued = await oidc.provider.exchange(begun, answer).catch((error: unknown) => {
    oidc.deps.log.warn({ err: error }, 'OpenID Connect sign-in failed');
  });
  if (issued === undefined) return { problem: 'no-token' };
  // The provider's redirect does not tell which scheme the browser used at the start.
  return signIn(oidc, exchange, { issued, secure: isHttps(begun) });
}

/**
 * The sign-in in the browser's cookie. A cookie set by a neighbouring host lacks the name that it has over
 * https.
 */
async function openSignIn(sessions: Sessions, header: string | undefined): Promise<UnderWay | undefined> {
  const cookies = readCookies(header);
  for (const secure of [true, false]) {
    const sealed = cookies.get(hostName(COOKIE, secure));
    const begun = underWay.safeParse(sealed && (await sessions.openFor(PURPOSE, sealed))).data;
    if (begun !== undefined && isHttps(begun) === secure) return begun;
  }
  return undefined;
}

function isHttps({ redirectURI }: UnderWay): boolean {
  return redirectURI.startsWith('https:');
}

function ownLine(value: string, secure: boolean, maxAgeSeconds: number): string {
  return setCookieHeader(hostName(COOKIE, secure), value, { secure, maxAgeSeconds, sameSite: 'Lax' });
}

/** Creates the session and its cookies, or returns the problem. */
async function signIn(
  { deps, sessions }: Oidc,
  exchange: Exchange,
  { issued: { idToken, refreshToken }, secure }: { issued: Issued; secure: boolean },
): Promise<SignedIn> {
  const session = await createSession(deps, { token: idToken, refresh: refreshToken }, exchange.request);
  const problem =
    typeof session === 'string' ? session : await setSessionCookies(sessions, session, exchange, secure);
  if (problem === undefined) return { session };
  return { session, problem: problem === 'token-refused' ? 'not-accepted' : 'unavailable' };
}
