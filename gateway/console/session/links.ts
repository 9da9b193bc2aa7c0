/**
 * `POST /console/links`: a one-time sign-in link for a caller with a token. `GET /console/link/{secret}` asks
 * for confirmation, so that link previews do not use it up; its button signs the browser in.
 */
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { isUnavailable } from '../../../store/connection.ts';
import {
  storeSignInLink,
  LINK_MS,
  readSignInLink,
  sealingKeyOf,
  takeSignInLink,
} from '../../../store/sessions/links.ts';
import { isSecret, newSecret } from '../../../store/oauth/states.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../../http/answers.ts';
import { recordCall, auditResult } from '../../endpoint/audit.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import { bearerToken } from '../../access/identity.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { sendQuestion, sendMessagePage } from './page.ts';
import { openValue, sealValue } from './seal.ts';
import { setSessionCookies, recordSignIn } from './sessionRoute.ts';
import type { Session, Sessions } from './sessions.ts';
import { createSession } from './signIn.ts';
import { addEndpoints, addRoute } from '../../endpoint/route.ts';

const PURPOSE = 'windlass console link';

const linked = z.object({ token: z.string(), user: z.string() });
type Linked = z.infer<typeof linked>;

type Links = { deps: GatewayDeps; sessions: Sessions; answers: Answers };

export function addSignInLinkRoutes(app: FastifyInstance, deps: GatewayDeps, sessions: Sessions): void {
  const answers = createAnswers(deps, 'console');
  const links = { deps, sessions, answers };
  addEndpoints(app, deps, answers, [
    { operation: OPERATIONS.makeSignInLink, handle: (exchange) => makeLink(links, exchange) },
  ]);
  addRoute(app, answers, '/console/link/:secret', {
    GET: { handle: (exchange) => askFirst(links, exchange) },
    POST: { handle: (exchange) => followLink(links, exchange) },
  });
}

async function makeLink({ deps, sessions, answers }: Links, { request, reply }: Exchange): Promise<void> {
  const { headers } = request.raw;
  const token = bearerToken(headers.authorization);
  const session = token === undefined ? 'unauthorized' : await createSession(deps, { token }, request);
  const isKnown = typeof session === 'object';
  const kept = isKnown ? await storeLink(deps, session) : session;
  recordCall(deps, request.raw, {
    event: 'session.link',
    ...(isKnown && { user: { username: session.user.name, groups: session.user.groups } }),
    ...(typeof kept === 'string' ? auditResult(kept) : { result: 'allowed' }),
  });
  if (typeof kept === 'string') return answers.problem(reply, kept);
  reply.header('cache-control', 'no-store');
  const url = `${sessions.origin.baseURL(headers)}/console/link/${kept.secret}`;
  const made = { url, expires: new Date(Date.now() + kept.forMs).toISOString() };
  answers.send(reply, 201, JSON_TYPE, JSON.stringify(made));
}

/** Stores the link, or returns the problem. */
async function storeLink(
  { runs }: GatewayDeps,
  { token, user: { name: user }, ends }: Session,
): Promise<{ secret: string; forMs: number } | ProblemCode> {
  const secret = newSecret();
  const sealed = await sealValue(sealingKeyOf(secret), { token, user } satisfies Linked, PURPOSE);
  const forMs = Math.min(LINK_MS, ends - Date.now());
  const kept = await storeSignInLink(runs, secret, { sealed, user, forMs });
  if (isUnavailable(kept)) return 'console-unavailable';
  return kept.outcome === 'too-many' ? 'too-many-links' : { secret, forMs };
}

async function askFirst({ deps, answers }: Links, { request, reply }: Exchange): Promise<void> {
  const { secret } = request.params as { secret: string };
  if (!isSecret(secret)) return sendMessagePage(answers, reply, 'link-unknown');
  const found = await readSignInLink(deps.runs, secret);
  if (isUnavailable(found)) return sendMessagePage(answers, reply, 'unavailable');
  const opened = found.outcome === 'found' ? await openLink(secret, found.sealed) : undefined;
  if (opened === undefined) return sendMessagePage(answers, reply, 'link-unknown');
  sendQuestion(answers, reply, { user: opened.user, action: `/console/link/${secret}` });
}

async function followLink(links: Links, exchange: Exchange): Promise<void> {
  const { deps, sessions, answers } = links;
  const { request, reply } = exchange;
  // Another site must not sign a browser in as someone else.
  if (!sessions.origin.isSameOrigin(request.raw.headers)) {
    recordSignIn(deps, exchange, 'link', { problem: 'not-the-console' });
    return answers.problem(reply, 'not-the-console');
  }
  const { session, problem } = await signInBy(links, exchange);
  recordSignIn(deps, exchange, 'link', { session, problem });
  if (problem !== undefined) return sendMessagePage(answers, reply, problem);
  reply.headers({ location: '/console/', 'cache-control': 'no-store' });
  answers.send(reply, 303, 'text/plain', '');
}

/** Uses up the link and signs the browser in, or returns why not. */
async function signInBy(
  { deps, sessions }: Links,
  exchange: Exchange,
): Promise<{ session?: Session; problem?: 'link-unknown' | 'unavailable' | 'not-signed-in' | undefined }> {
  const { secret } = exchange.request.params as { secret: string };
  if (!isSecret(secret)) return { problem: 'link-unknown' };
  const taken = await takeSignInLink(deps.runs, secret);
  if (isUnavailable(taken)) return { problem: 'unavailable' };
  const opened = taken.outcome === 'found' ? await openLink(secret, taken.sealed) : undefined;
  if (opened === undefined) return { problem: 'link-unknown' };
  const session = await createSession(deps, opened, exchange.request);
  if (session === 'token-refused') return { problem: 'link-unknown' };
  if (typeof session === 'string') return { problem: 'not-signed-in' };
  const refused = await setSessionCookies(sessions, session, exchange);
  return { session, problem: refused && 'not-signed-in' };
}

async function openLink(secret: string, sealed: string): Promise<Linked | undefined> {
  return linked.safeParse(await openValue(sealingKeyOf(secret), sealed, PURPOSE)).data;
}
