/**
 * `POST /console/links`: a one-time link for a caller with a token. `GET /console/link/{secret}` asks whether to sign in, so that
 * programs that look at links in messages do not use it up; the button of that page does, and the browser has a session then.
 */
import type { FastifyPluginCallback } from 'fastify';
import * as z from 'zod';
import { isUnavailable } from '../../runs/connection.ts';
import {
  keepSignInLink,
  LINK_MS,
  readSignInLink,
  sealingKeyOf,
  takeSignInLink,
} from '../../runs/console/links.ts';
import { isSecret, newSecret } from '../../runs/connect/store.ts';
import { createAnswers, JSON_TYPE, type Answers } from '../answers.ts';
import { routePath } from '../contract/operation.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../deps.ts';
import { bearerToken } from '../internal/identity.ts';
import type { Exchange } from '../internal/guard.ts';
import { sendQuestion, sendWord } from './page.ts';
import { openValue, sealValue } from './seal.ts';
import { giveCookies } from './session.ts';
import type { Sessions } from './sessions.ts';
import { sessionOf } from './signIn.ts';

const PURPOSE = 'windlass console link';

const linked = z.object({ token: z.string(), user: z.string() });
type Linked = z.infer<typeof linked>;

type Links = { deps: GatewayDeps; sessions: Sessions; answers: Answers };

export function linkRoutes(deps: GatewayDeps, sessions: Sessions): FastifyPluginCallback {
  const answers = createAnswers(deps, 'console');
  const links = { deps, sessions, answers };
  return (app, _options, done) => {
    app.route({
      method: app.supportedMethods,
      url: routePath(OPERATIONS.makeSignInLink),
      onRequest: ({ raw }, reply, next) => {
        if (raw.method === 'POST') next();
        else answers.problem(reply, 'method-not-allowed', { allow: 'POST' });
      },
      handler: (request, reply) => {
        makeLink(links, { request, reply }).catch((error: unknown) => answers.unexpected(reply, error));
      },
    });
    app.route({
      method: app.supportedMethods,
      url: '/console/link/:secret',
      onRequest: ({ raw }, reply, next) => {
        if (raw.method === 'GET' || raw.method === 'POST') next();
        else answers.problem(reply, 'method-not-allowed', { allow: 'GET, POST' });
      },
      handler: (request, reply) => {
        const act = request.raw.method === 'POST' ? followLink : askFirst;
        act(links, { request, reply }).catch((error: unknown) => answers.unexpected(reply, error));
      },
    });
    done();
  };
}

async function makeLink({ deps, sessions, answers }: Links, { request, reply }: Exchange): Promise<void> {
  const { headers } = request.raw;
  const token = bearerToken(headers.authorization);
  if (token === undefined) return answers.problem(reply, 'unauthorized');
  const session = await sessionOf(deps, { token }, request);
  if (typeof session === 'string') return answers.problem(reply, session);
  const secret = newSecret();
  const user = session.user.name;
  const sealed = sealValue(sealingKeyOf(secret), { token, user } satisfies Linked, PURPOSE);
  const forMs = Math.min(LINK_MS, session.ends - Date.now());
  const kept = await keepSignInLink(deps.runs, secret, { sealed, user, forMs });
  if (isUnavailable(kept)) return answers.problem(reply, 'console-unavailable');
  if (kept.outcome === 'too-many') return answers.problem(reply, 'too-many-links');
  reply.header('cache-control', 'no-store');
  const url = `${sessions.origin.own(headers)}/console/link/${secret}`;
  const made = { url, expires: new Date(Date.now() + forMs).toISOString() };
  answers.send(reply, 201, JSON_TYPE, JSON.stringify(made));
}

async function askFirst({ deps, answers }: Links, { request, reply }: Exchange): Promise<void> {
  const { secret } = request.params as { secret: string };
  if (!isSecret(secret)) return sendWord(answers, reply, 'link-unknown');
  const found = await readSignInLink(deps.runs, secret);
  if (isUnavailable(found)) return sendWord(answers, reply, 'unavailable');
  const opened = found.outcome === 'found' ? openLink(secret, found.sealed) : undefined;
  if (opened === undefined) return sendWord(answers, reply, 'link-unknown');
  sendQuestion(answers, reply, { user: opened.user, action: `/console/link/${secret}` });
}

async function followLink(links: Links, exchange: Exchange): Promise<void> {
  const { deps, sessions, answers } = links;
  const { request, reply } = exchange;
  const { secret } = request.params as { secret: string };
  // Another site must not sign a browser in as somebody else.
  if (!sessions.origin.isSameOrigin(request.raw.headers)) return answers.problem(reply, 'not-the-console');
  if (!isSecret(secret)) return sendWord(answers, reply, 'link-unknown');
  const taken = await takeSignInLink(deps.runs, secret);
  if (isUnavailable(taken)) return sendWord(answers, reply, 'unavailable');
  const opened = taken.outcome === 'found' ? openLink(secret, taken.sealed) : undefined;
  if (opened === undefined) return sendWord(answers, reply, 'link-unknown');
  const session = await sessionOf(deps, opened, request);
  if (session === 'token-refused') return sendWord(answers, reply, 'link-unknown');
  if (typeof session === 'string' || (await giveCookies(sessions, session, exchange)) !== undefined)
    return sendWord(answers, reply, 'not-signed-in');
  reply.headers({ location: '/console/', 'cache-control': 'no-store' });
  answers.send(reply, 303, 'text/plain', '');
}

function openLink(secret: string, sealed: string): Linked | undefined {
  return linked.safeParse(openValue(sealingKeyOf(secret), sealed, PURPOSE)).data;
}
