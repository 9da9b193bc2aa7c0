/**
 * What all public URLs to which events are pushed have in common: what may be wrong is told in a fixed order, what is unknown
 * or inactive is answered with the same bytes, and a body is looked at only when its sender was verified.
 */
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { createAnswers, type Answers } from '../answers.ts';
import { readBody, refuseByHeaders, tooLarge } from '../body.ts';
import type { GatewayDeps } from '../deps.ts';
import type { Hold } from '../limits/inFlight.ts';
import type { RouteClass } from '../metrics.ts';
import type { ProblemCode } from '../problems.ts';
import type { Route } from '../routes.ts';
import { isStopped } from './verify/guard.ts';

/** What was sent to a route, by somebody who may. */
export type Pushed = {
  route: Route;
  request: FastifyRequest;
  reply: FastifyReply;
  body: Uint8Array;
  /** What is set aside for the request; who waits for something else releases it before. */
  hold: Hold;
};

export type PushedTo = {
  /** What the path begins with. */
  prefix: string;
  /** What the metrics call it. */
  kind: RouteClass;
  /** The route of what follows the prefix, not decoded: ids and paths need no escapes, so escapes match none. */
  find: (key: string) => Route | undefined;
  /** Answers. */
  receive: (answers: Answers, pushed: Pushed) => Promise<void>;
};

export function pushRoute(deps: GatewayDeps, to: PushedTo): FastifyPluginCallback {
  const push = { ...to, deps, answers: createAnswers(deps, to.kind) };
  const { answers } = push;
  return (app, _options, done) => {
    app.route({
      method: app.supportedMethods,
      url: `${to.prefix}*`,
      // All of it happens in this hook: what would follow it is made for bodies that the framework parses.
      onRequest: (request, reply) => {
        const code = refuseUnread(push, request);
        if (code !== undefined) refuse(answers, reply, code);
        else if (!isTooOften(push, request, reply) && !isUnknown(push, request, reply)) {
          accept(push, request, reply).catch((error: unknown) => answers.unexpected(reply, error));
        }
      },
      handler: () => undefined,
    });
    done();
  };
}

type Push = PushedTo & { deps: GatewayDeps; answers: Answers };

function refuse(answers: Answers, reply: FastifyReply, code: ProblemCode): void {
  answers.refuse(reply, code, code === 'method-not-allowed' ? { allow: 'POST' } : {});
}

/** What can be refused before a byte of the body is read, in the order that callers are told. */
function refuseUnread(push: Push, { raw }: FastifyRequest): ProblemCode | undefined {
  const { health, limits, accessLog } = push.deps;
  const route = routeOf(push, raw.url);
  if (route === undefined) return health.synced() ? 'not-found' : 'not-ready';
  accessLog?.note(raw, { workflow: route.id });
  if (raw.method !== 'POST') return 'method-not-allowed';
  return refuseByHeaders(raw.headers, limits);
}

/** Whether the route or its project is called too often; then that is the answer. */
function isTooOften(push: Push, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  const { limits } = push.deps;
  const route = routeOf(push, raw.url);
  const tooMany = route && limits.rates.ofRoute(route, performance.now());
  if (tooMany === undefined) return false;
  limits.refused[tooMany.reason] += 1;
  push.answers.refuse(reply, 'too-many-requests', { retryAfter: tooMany.retryAfter });
  return true;
}

/** Whether the headers alone show that the caller is not who may call; then that is the answer. */
function isUnknown(push: Push, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  const { deps, answers } = push;
  const route = routeOf(push, raw.url);
  return route !== undefined && isStopped({ metrics: deps.metrics, answers }, route.door, reply);
}

function routeOf({ prefix, find }: Push, url: string | undefined): Route | undefined {
  if (url === undefined) return undefined;
  const query = url.indexOf('?');
  return find(url.slice(prefix.length, query === -1 ? undefined : query));
}

async function accept(push: Push, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const hold = push.deps.limits.inFlight.open();
  if (hold === undefined) return push.answers.problem(reply, 'overloaded');
  try {
    await take(push, { request, reply, hold });
  } finally {
    hold.release();
  }
}

async function take(
  push: Push,
  { request, reply, hold }: Pick<Pushed, 'request' | 'reply' | 'hold'>,
): Promise<void> {
  const { deps, answers } = push;
  const { limits, metrics } = deps;
  const { raw } = request;
  const body = await readBody(raw, reply.raw, { limit: limits.eventBytes, turns: limits.reading, hold });
  if (body.outcome === 'aborted') return;
  if (body.outcome === 'too-large') return answers.problem(reply, tooLarge(limits));
  if (body.outcome !== 'read') return answers.problem(reply, body.outcome);
  // The route as it is now: while the body came in, its secrets may have changed.
  const route = routeOf(push, raw.url);
  if (route === undefined) return answers.problem(reply, 'not-found');
  if (isStopped({ metrics, answers }, route.door, reply, body.bytes)) return;
  await push.receive(answers, { route, request, reply, body: body.bytes, hold });
}
