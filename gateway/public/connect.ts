/**
 * `GET /oauth/connect/{link}`: shows who asks for which account, without using up the link, since programs
 * that preview messages open links, too. `GET /oauth/connect/{link}/continue` uses the link up and redirects
 * to the provider. The browser gets a cookie, and only that browser can return the provider's answer: the
 * PKCE verifier (RFC 7636) is derived from cookie and state and stored nowhere.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isUnavailable } from '../../store/connection.ts';
import {
  hashOf,
  isSecret,
  storeState,
  newSecret,
  readKey,
  readLink,
  takeLink,
} from '../../store/oauth/states.ts';
import { createAnswers, type Answers, type Exchange } from '../http/answers.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { guardAnswer, sendPage, sendQuestion } from './page.ts';
import { addEndpoints } from '../endpoint/route.ts';

export function addLinkRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'connect');
  addEndpoints(app, deps, answers, [
    { operation: OPERATIONS.openLink, handle: (exchange) => openLink(deps, answers, exchange) },
  ]);
  addEndpoints(app, deps, answers, [
    { operation: OPERATIONS.followLink, handle: (exchange) => followLink(deps, answers, exchange) },
  ]);
}

async function openLink(
  { runs }: GatewayDeps,
  answers: Answers,
  { request, reply }: Exchange,
): Promise<void> {
  const { link: secret } = request.params as { link: string };
  if (!isSecret(secret)) return sendPage(answers, reply, 'link-unknown');
  const link = await readLink(runs, secret);
  if (isUnavailable(link)) return sendPage(answers, reply, 'unavailable');
  if (link.outcome === 'none') return sendPage(answers, reply, 'link-unknown');
  const { namespace, name, user, authorizationURL } = link.value;
  const { host } = new URL(authorizationURL);
  sendQuestion(answers, reply, {
    namespace,
    name,
    user,
    host,
    next: `${secret}/continue`,
  });
}

async function followLink(
  { runs, publicURL }: GatewayDeps,
  answers: Answers,
  { request: { params, raw }, reply }: Exchange,
): Promise<void> {
  const { link: secret } = params as { link: string };
  // A prefetch must not use up the link.
  const isGuess = /prefetch/i.test(String(raw.headers['sec-purpose'] ?? raw.headers['purpose'] ?? ''));
  if (!isSecret(secret) || isGuess) return sendPage(answers, reply, 'link-unknown');
  const key = await readKey(runs);
  if (key === undefined || isUnavailable(key)) return sendPage(answers, reply, 'unavailable');
  const taken = await takeLink(runs, secret);
  if (isUnavailable(taken)) return sendPage(answers, reply, 'unavailable');
  const leftMs = taken.outcome === 'found' ? taken.value.endsAt - Date.now() : 0;
  if (taken.outcome === 'none' || leftMs <= 0) return sendPage(answers, reply, 'link-unknown');
  const { authorizationURL, endsAt: _endsAt, ...connecting } = taken.value;
  const [state, cookie] = [newSecret(), newSecret()];
  const kept = await storeState(runs, state, { ...connecting, browser: hashOf(cookie) }, leftMs);
  if (isUnavailable(kept)) return sendPage(answers, reply, 'unavailable');
  const target = new URL(authorizationURL);
  target.searchParams.set('state', state);
  target.searchParams.set('code_challenge', challengeOf(verifierOf(cookie, state)));
  target.searchParams.set('code_challenge_method', 'S256');
  guardAnswer(reply);
  reply.header('set-cookie', setCookieHeader(publicURL, state, cookie, Math.ceil(leftMs / 1_000)));
  reply.header('location', target.href);
  answers.send(reply, 303, 'text/plain', '');
}

/** The code verifier of the browser with that cookie (RFC 7636, section 4.1: 43 characters). */
export function verifierOf(cookie: string, state: string): string {
  return hashOf(`verifier ${cookie} ${state}`);
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** Each state has its own cookie, so that a person can connect several credentials at once. */
export function cookieName(publicURL: string | undefined, state: string): string {
  const name = `windlass-connect-${hashOf(state).slice(0, 16)}`;
  // Browsers accept a cookie with this prefix from this host only, over TLS only.
  return publicURL?.startsWith('https:') === true ? `__Host-${name}` : name;
}

/** `Lax`: the provider's redirect is a navigation from another site, and must send the cookie. */
export function setCookieHeader(
  publicURL: string | undefined,
  state: string,
  value: string,
  maxAgeSeconds: number,
): string {
  const secure = publicURL?.startsWith('https:') === true ? '; Secure' : '';
  return `${cookieName(publicURL, state)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
