/**
 * The public routes that receive events. Checks have a fixed order (docs/webhooks.md), unknown and inactive
 * workflows get the same bytes, and a body is parsed only after its sender was verified.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAnswers, type Answers } from '../http/answers.ts';
import { announcedLength, readBody, refuseByHeaders, tooLarge } from '../http/body.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import type { Reservation } from '../limits/inFlight.ts';
import type { TooMany } from '../limits/rates.ts';
import type { Attempt } from '../limits/unverified.ts';
import type { RouteClass, Metrics } from '../http/metrics.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Route } from '../routing/table.ts';
import { limitsFailures, checkCaller, type AuthPolicy } from '../verify/authPolicy.ts';

/** A verified request. */
export type Pushed = {
  route: Route;
  request: FastifyRequest;
  reply: FastifyReply;
  body: Uint8Array;
  /** Release it before waiting for anything else. */
  reservation: Reservation;
};

export type PushedTo = {
  prefix: string;
  /** The class of the route in the metrics. */
  kind: RouteClass;
  /** The route for the path after the prefix, not decoded: IDs and paths need no escapes. */
  find: (key: string) => Route | undefined;
  /** Handles and answers the event. */
  receive: (answers: Answers, pushed: Pushed) => Promise<void>;
};

/**
 * Adds the route. All checks and the handler run in one `onRequest` hook: Fastify would parse the body before
 * its sender is verified, and the steps between the hook and a handler cost time for each call.
 */
export function addPushRoute(app: FastifyInstance, deps: GatewayDeps, to: PushedTo): void {
  const push = { ...to, deps, answers: createAnswers(deps, to.kind) };
  const { answers } = push;
  const { metrics } = deps;
  app.route({
    method: app.supportedMethods,
    url: `${to.prefix}*`,
    onRequest: (request, reply) => {
      const route = routeOf(push, request.raw.url);
      const code = refuseUnread(push, route, request);
      if (route === undefined || code !== undefined) return refuse(answers, reply, code ?? 'not-found');
      const counted = count(push, route, request, reply);
      if (counted === undefined || refuseCaller({ metrics, answers }, route.auth, reply)) return;
      accept(push, { request, reply, counted }).catch((error: unknown) => answers.unexpected(reply, error));
    },
    handler: () => undefined,
  });
}

type Push = PushedTo & { deps: GatewayDeps; answers: Answers };

function refuse(answers: Answers, reply: FastifyReply, code: ProblemCode): void {
  answers.refuse(reply, code, code === 'method-not-allowed' ? { allow: 'POST' } : {});
}

/** Refuses what it can without reading the body. */
function refuseUnread(
  { deps }: Push,
  route: Route | undefined,
  { raw }: FastifyRequest,
): ProblemCode | undefined {
  const { health, limits, accessLog } = deps;
  if (route === undefined) return health.synced() ? 'not-found' : 'not-ready';
  accessLog?.note(raw, { workflow: route.id });
  if (raw.method !== 'POST') return 'method-not-allowed';
  return refuseByHeaders(raw.headers, limits);
}

/**
 * `counted`: as a call of the route. `uncounted`: not yet. An attempt: as a call that may fail verification.
 */
type Counted = 'counted' | 'uncounted' | Attempt;

/**
 * Counts the call. A public webhook counts it for the rates of route and project. With `auth` it counts for
 * these only after it was verified; before, at most for the rate of unverified calls. Undefined if there are
 * too many, with the answer sent.
 */
function count(push: Push, route: Route, { raw }: FastifyRequest, reply: FastifyReply): Counted | undefined {
  const { rates, unverified, addresses } = push.deps.limits;
  const now = performance.now();
  const isPublic = route.auth.kind === 'public';
  const tooMany = isPublic ? rates.ofRoute(route, now) : rates.check(route, now);
  if (tooMany !== undefined) return tooOften(push, reply, tooMany);
  if (isPublic) return 'counted';
  if (!limitsFailures(route.auth, announcedLength(raw.headers))) return 'uncounted';
  const address = addresses.clientOf(raw.socket.remoteAddress, raw.headers['x-forwarded-for']);
  const attempt = unverified.begin(route.uid, address, now);
  return 'key' in attempt ? attempt : tooOften(push, reply, attempt);
}

function tooOften({ deps, answers }: Push, reply: FastifyReply, { reason, retryAfter }: TooMany): undefined {
  deps.limits.refused[reason] += 1;
  answers.refuse(reply, 'too-many-requests', { retryAfter });
}

/** Counts a verified call; false if there are too many, with the answer sent. */
function countVerified(
  push: Push,
  { route, reply, counted }: Pick<Pushed, 'route' | 'reply'> & { counted: Counted },
): boolean {
  if (counted === 'counted') return true;
  const { rates, unverified } = push.deps.limits;
  const now = performance.now();
  if (counted !== 'uncounted') unverified.passed(counted, now);
  const tooMany = rates.ofRoute(route, now);
  if (tooMany !== undefined) tooOften(push, reply, tooMany);
  return tooMany === undefined;
}

function routeOf({ prefix, find }: Push, url: string | undefined): Route | undefined {
  if (url === undefined) return undefined;
  const query = url.indexOf('?');
  return find(url.slice(prefix.length, query === -1 ? undefined : query));
}

type Exchange = Pick<Pushed, 'request' | 'reply'> & { counted: Counted };

async function accept(push: Push, exchange: Exchange): Promise<void> {
  const reservation = push.deps.limits.inFlight.reserve();
  if (reservation === undefined) return push.answers.problem(exchange.reply, 'overloaded');
  try {
    await take(push, exchange, reservation);
  } finally {
    reservation.release();
  }
}

async function take(
  push: Push,
  { request, reply, counted }: Exchange,
  reservation: Reservation,
): Promise<void> {
  const { deps, answers } = push;
  const { limits, metrics } = deps;
  const { raw } = request;
  const body = await readBody(raw, reply.raw, {
    limit: limits.eventBytes,
    queue: limits.bodyQueue,
    reservation,
  });
  if (body.outcome === 'aborted') return;
  if (body.outcome === 'too-large') return answers.problem(reply, tooLarge(limits));
  if (body.outcome !== 'read') return answers.problem(reply, body.outcome);
  // The current route: its secrets may have changed while the body was read.
  const route = routeOf(push, raw.url);
  if (route === undefined) return answers.problem(reply, 'not-found');
  if (refuseCaller({ metrics, answers }, route.auth, reply, body.bytes)) return;
  if (!countVerified(push, { route, reply, counted })) return;
  await push.receive(answers, { route, request, reply, body: body.bytes, reservation });
}

/**
 * Verifies the caller, with the body if it was read. True if it is refused, with the answer sent: the same
 * bytes for every cause, so that nobody learns how close a guess was.
 */
function refuseCaller(
  { metrics, answers }: { metrics: Pick<Metrics, 'unverified'>; answers: Answers },
  auth: AuthPolicy,
  reply: FastifyReply,
  body?: Uint8Array,
): boolean {
  const reason = checkCaller(auth, reply.request.raw, body);
  if (reason === undefined) return false;
  metrics.unverified.inc({ reason });
  if (auth.kind === 'verified' && auth.challenge !== undefined)
    reply.header('www-authenticate', auth.challenge);
  answers.refuse(reply, reason === 'unavailable' ? 'callers-unverifiable' : 'unverified');
  return true;
}
