/**
 * `/console/session`: reads the session, signs in with a token that the API server accepts, and signs out.
 * Writes are accepted only from the console's pages.
 */
import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify';
import * as z from 'zod';
import type { AuditEntry } from '../../../api/audit/line.ts';
import type { AuditEvent } from '../../../api/audit/events.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../../http/answers.ts';
import { recordCall, auditResult, type AuditDeps } from '../../endpoint/audit.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { sessionCookieHeaders } from './cookie.ts';
import { sealedCookieHeaders, type ReadSession } from './requestSession.ts';
import type { Opened, Session, Sessions } from './sessions.ts';
import { createSession } from './signIn.ts';
import { addRoute, checkBodyHeaders } from '../../endpoint/route.ts';
import { readJsonBody, withReservation } from '../../endpoint/jsonBody.ts';

type Console = { deps: GatewayDeps; sessions: Sessions; current: ReadSession; answers: Answers };

export function addSessionRoute(
  app: FastifyInstance,
  deps: GatewayDeps,
  sessions: Sessions,
  current: ReadSession,
): void {
  const answers = createAnswers(deps, 'console');
  const console = { deps, sessions, current, answers };
  const checkBody = checkBodyHeaders(deps, answers, true);
  addRoute(app, answers, '/console/session', {
    GET: { handle: (exchange) => sendCurrentSession(console, exchange) },
    POST: {
      handle: (exchange) => signIn(console, exchange),
      onRequest: onlyFromConsole(console, 'session.create', checkBody),
    },
    DELETE: {
      handle: (exchange) => signOut(console, exchange),
      onRequest: onlyFromConsole(console, 'session.delete'),
    },
  });
}

/** A hook that refuses requests which no page of the console has sent. */
function onlyFromConsole(
  { deps, sessions, answers }: Console,
  event: AuditEvent,
  then?: onRequestHookHandler,
): onRequestHookHandler {
  return function refuseOthers(request, reply, next) {
    if (!sessions.origin.isFromConsole(request.raw.headers)) {
      recordCall(deps, request.raw, { event, ...auditResult('not-the-console') });
      answers.problem(reply, 'not-the-console');
    } else if (then === undefined) next();
    else then.call(this, request, reply, next);
  };
}

async function sendCurrentSession(
  { deps, sessions, current, answers }: Console,
  exchange: Exchange,
): Promise<void> {
  const { request, reply } = exchange;
  const isOurs = sessions.origin.isFromConsole(request.raw.headers);
  const opened: Opened = isOurs ? await current(exchange) : { outcome: 'none' };
  if (opened.outcome === 'unavailable') return answers.problem(reply, 'console-unavailable');
  sendSession(deps, answers, reply, opened.outcome === 'session' ? opened.session : undefined);
}

async function signIn(console: Console, exchange: Exchange): Promise<void> {
  const { deps, sessions, answers } = console;
  const { reply } = exchange;
  const token = await readToken(deps, exchange);
  if (token === undefined) return;
  if (typeof token === 'string') return answers.problem(reply, token);
  const session = await createSession(deps, token, exchange.request);
  const problem =
    typeof session === 'string' ? session : await setSessionCookies(sessions, session, exchange);
  recordSignIn(deps, exchange, 'token', { session, problem });
  if (problem !== undefined) return answers.problem(reply, problem);
  sendSession(deps, answers, reply, typeof session === 'string' ? undefined : session);
}

/** Records a sign-in or its failure. `session` may be the problem itself. */
export function recordSignIn(
  deps: AuditDeps,
  { request }: Exchange,
  method: NonNullable<AuditEntry['method']>,
  { session, problem }: { session?: Session | string | undefined; problem?: string | undefined },
): void {
  recordCall(deps, request.raw, {
    event: 'session.create',
    method,
    ...(typeof session === 'object' && sessionFields(session)),
    ...(problem === undefined ? { result: 'allowed' } : auditResult(problem)),
  });
}

/** The ID identifies a session but does not open it. */
function sessionFields({ id, user }: Session): Pick<AuditEntry, 'user' | 'object'> {
  return { user: { username: user.name, groups: user.groups }, object: { uid: id } };
}

async function signOut(console: Console, { request, reply }: Exchange): Promise<void> {
  const { deps, sessions, answers } = console;
  const { headers } = request.raw;
  const opened = await sessions.open(headers);
  const isSignedOut =
    opened.outcome === 'none' || (opened.outcome === 'session' && (await sessions.signOut(opened.session)));
  if (opened.outcome !== 'none') {
    const session = opened.outcome === 'session' ? sessionFields(opened.session) : {};
    const result = isSignedOut ? ({ result: 'allowed' } as const) : auditResult('console-unavailable');
    recordCall(deps, request.raw, { event: 'session.delete', ...session, ...result });
  }
  // The browser keeps its cookie and can try again.
  if (!isSignedOut) return answers.problem(reply, 'console-unavailable');
  reply.header(
    'set-cookie',
    sessionCookieHeaders('', headers.cookie, { secure: sessions.origin.isSecure(headers) }) ?? [],
  );
  reply.header('cache-control', 'no-store');
  answers.sendEmpty(reply, 204);
}

/** Sets the session's cookies and ends the previous session; returns the problem if it cannot. */
export async function setSessionCookies(
  sessions: Sessions,
  session: Session,
  { request: { raw }, reply }: Exchange,
  secure = sessions.origin.isSecure(raw.headers),
): Promise<ProblemCode | undefined> {
  const lines = await sealedCookieHeaders(sessions, session, { cookie: raw.headers.cookie, secure });
  if (lines === undefined) return 'console-unavailable';
  if (lines.length === 0) return 'token-refused';
  reply.header('set-cookie', lines);
  const before = await sessions.open(raw.headers);
  if (before.outcome === 'session') await sessions.signOut(before.session);
  return undefined;
}

function sendSession(
  { console: settings, publicURL }: GatewayDeps,
  answers: Answers,
  reply: FastifyReply,
  session: Session | undefined,
): void {
  const said =
    session === undefined
      ? { signedIn: false }
      : {
          signedIn: true,
          user: session.user,
          expires: new Date(session.ends).toISOString(),
          publicURL: publicURL ?? null,
          helpMeBuild: settings?.helpMeBuild === true,
        };
  const oidc = settings?.oidc === undefined ? null : { label: settings.oidc.label };
  reply.header('cache-control', 'no-store');
  answers.send(reply, 200, JSON_TYPE, JSON.stringify({ ...said, oidc }));
}

const asked = z.object({ token: z.string() });

/** The token in the body, or the problem; undefined if the client disconnected. */
async function readToken(
  { limits }: GatewayDeps,
  exchange: Exchange,
): Promise<{ token: string } | ProblemCode | undefined> {
  return withReservation(limits, async (reservation) => {
    const body = await readJsonBody(exchange, limits, { reservation });
    if (body === undefined || typeof body === 'string') return body;
    const parsed = asked.safeParse(body.value);
    return parsed.success ? { token: parsed.data.token.trim() } : 'not-an-object';
  });
}
