/**
 * `POST /webhook/{id}/{path}`: one event, stored before it is answered. What may be wrong is told in a fixed order, and
 * what is unknown, inactive or no webhook is answered with the same bytes.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { parseJson } from '../../api/json.ts';
import type { Submission } from '../../runs/types.ts';
import { createAnswers, type Answers } from '../answers.ts';
import { readBody, refuseByHeaders, tooLarge } from '../body.ts';
import type { GatewayDeps } from '../deps.ts';
import { admittedHeaders, eventHash, eventInput, eventKey } from '../event.ts';
import type { Hold } from '../limits/inFlight.ts';
import { isTooLargeEvent, type Limits } from '../limits/limits.ts';
import type { ProblemCode } from '../problems.ts';
import { answerAccepted, refuseSubmission } from '../outcome.ts';
import type { Route } from '../routes.ts';
import { storeEvent } from '../store.ts';
import { answerReply } from './reply.ts';
import { isStopped } from './verify/guard.ts';

const PREFIX = '/webhook/';

export function webhookRoute(deps: GatewayDeps): FastifyPluginCallback {
  const answers = createAnswers(deps, 'webhook');
  return (app, _options, done) => {
    app.route({
      method: app.supportedMethods,
      url: `${PREFIX}*`,
      // All of it happens in this hook: what would follow it is made for bodies that the framework parses.
      onRequest: (request, reply) => {
        const code = refuseUnread(deps, request);
        if (code !== undefined) refuse(answers, reply, code);
        else if (!isTooOften(deps, answers, request, reply) && !isUnknown(deps, answers, request, reply)) {
          accept(deps, answers, request, reply).catch((error: unknown) => answers.unexpected(reply, error));
        }
      },
      handler: () => undefined,
    });
    done();
  };
}

function refuse(answers: Answers, reply: FastifyReply, code: ProblemCode): void {
  answers.refuse(reply, code, code === 'method-not-allowed' ? { allow: 'POST' } : {});
}

/** What can be refused before a byte of the body is read, in the order that callers are told. */
function refuseUnread(deps: GatewayDeps, { raw }: FastifyRequest): ProblemCode | undefined {
  if (routeOf(deps, raw.url) === undefined) return deps.health.synced() ? 'not-found' : 'not-ready';
  if (raw.method !== 'POST') return 'method-not-allowed';
  return refuseByHeaders(raw.headers, deps.limits);
}

/** Whether the webhook or its project is called too often; then that is the answer. */
function isTooOften(
  deps: GatewayDeps,
  answers: Answers,
  { raw }: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const route = routeOf(deps, raw.url);
  const tooMany = route && deps.limits.rates.ofRoute(route, performance.now());
  if (tooMany === undefined) return false;
  deps.limits.refused[tooMany.reason] += 1;
  answers.refuse(reply, 'too-many-requests', { retryAfter: tooMany.retryAfter });
  return true;
}

/** Whether the headers alone show that the caller is not who may call; then that is the answer. */
function isUnknown(
  deps: GatewayDeps,
  answers: Answers,
  { raw }: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const route = routeOf(deps, raw.url);
  return route !== undefined && isStopped({ metrics: deps.metrics, answers }, route.door, reply);
}

/** The part of the URL after the prefix is compared as it came: ids and paths need no escapes, so escapes match none. */
function routeOf({ routes }: GatewayDeps, url: string | undefined): Route | undefined {
  if (url === undefined) return undefined;
  const query = url.indexOf('?');
  return routes.webhook(url.slice(PREFIX.length, query === -1 ? undefined : query));
}

async function accept(
  deps: GatewayDeps,
  answers: Answers,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const hold = deps.limits.inFlight.open();
  if (hold === undefined) return answers.problem(reply, 'overloaded');
  try {
    await receive(deps, answers, { request, reply, hold });
  } finally {
    hold.release();
  }
}

type Receiving = { request: FastifyRequest; reply: FastifyReply; hold: Hold };

async function receive(
  deps: GatewayDeps,
  answers: Answers,
  { request: { raw }, reply, hold }: Receiving,
): Promise<void> {
  const body = await readBody(raw, reply.raw, {
    limit: deps.limits.eventBytes,
    turns: deps.limits.reading,
    hold,
  });
  if (body.outcome === 'aborted') return;
  if (body.outcome === 'too-large') return answers.problem(reply, tooLarge(deps.limits));
  if (body.outcome !== 'read') return answers.problem(reply, body.outcome);
  const route = routeOf(deps, raw.url);
  if (route?.spec.webhook === undefined) return answers.problem(reply, 'not-found');
  const { door } = route;
  const { webhook } = route.spec;
  // The route as it is now: while the body came in, its secrets may have changed.
  if (isStopped({ metrics: deps.metrics, answers }, door, reply, body.bytes)) return;
  const event = readEvent(raw.headers, body.bytes, { webhook, door, limits: deps.limits });
  if (typeof event === 'string') return answers.problem(reply, event);
  const { waits } = deps.limits;
  if (webhook.reply && !waits.enter(route.spec.projectUID, reply.raw))
    return answers.refuse(reply, 'too-many-waiting');
  const startedAt = performance.now();
  const submitted = await storeEvent(deps, {
    project: route.spec.projectUID,
    workflow: route.spec.workflow,
    workflowUid: route.spec.workflowUID,
    revision: route.spec.revision,
    trigger: 'webhook',
    test: false,
    ...event,
  });
  // Who waits for an answer holds nothing of the request any more.
  hold.release();
  deps.metrics.acceptSeconds.observe((performance.now() - startedAt) / 1_000);
  if (submitted.outcome !== 'accepted') return refuseSubmission(answers, reply, submitted);
  if (webhook.reply) await answerReply(deps, answers, reply, { route, submitted });
  else answerAccepted(answers, reply, 200, submitted.run);
}

type Asked = { webhook: NonNullable<Route['spec']['webhook']>; door: Route['door']; limits: Limits };

/** The event as the run store takes it, or why it is none. */
function readEvent(
  headers: IncomingHttpHeaders,
  bytes: Uint8Array,
  { webhook, door, limits }: Asked,
): Pick<Submission, 'input' | 'dedupeKey' | 'bodyHash'> | ProblemCode {
  const delivery = door.kind === 'guarded' ? door.deliveryHeader : undefined;
  const key = eventKey(headers, { delivery, dedupe: webhook.dedupeHeader });
  if (key.outcome === 'bad') return 'bad-key';
  const json = parseJson(bytes, limits.json);
  if (!json.ok) return json.code;
  const { text } = json;
  const input = eventInput(text, admittedHeaders(headers, webhook.headers));
  if (isTooLargeEvent(input)) return 'event-too-large';
  if (key.outcome === 'none') return { input, bodyHash: '' };
  return { input, dedupeKey: key.key, bodyHash: eventHash({ trigger: 'webhook', test: false, text }) };
}
