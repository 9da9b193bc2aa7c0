/**
 * `/kube/…`: passes requests to the Kubernetes API as the caller. A request is rebuilt from the path and
 * parameters on the allowlist and the caller's token; no other header and nothing of the gateway's identity
 * is in it, so that RBAC decides about the caller alone.
 */
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../kube/errors.ts';
import type { PassedAnswer, PassedRequest } from '../../../kube/passThrough.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../../http/answers.ts';
import { hasBody, readBody } from '../../http/body.ts';
import { disconnectSignal } from '../../http/response.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import type { Reservation } from '../../limits/inFlight.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { checkRequest, requestTarget, type AllowedRequest } from './allowlist.ts';
import { admitCaller, recordRefusal, recordWrite } from './audit.ts';
import type { Caller, Callers } from './callers.ts';
import { acceptHeader, bodyTypeOf, requestedForm } from './forms.ts';
import { ANSWER_HEADERS, forwardAnswer, readText } from './forward.ts';
import { redactedAnswer, redactedTarget } from './secrets.ts';
import { createSlots, type Slots } from './slots.ts';
import { withReservation } from '../../endpoint/jsonBody.ts';

const PREFIX = '/kube';
/** How long an answer may pause. */
const SILENCE_MS = 30_000;
/** Default duration of a watch. */
const WATCH_SECONDS = '600';
/** The longest answer about Secrets, which is read whole before it is redacted. */
const SECRETS_BYTES = 8 * 1_024 * 1_024;

type ForwardContext = {
  deps: GatewayDeps;
  answers: Answers;
  callers: Callers;
  slots: Slots;
  secretSlots: Slots;
};
type Asked = { asked: AllowedRequest; caller: Caller; signal: AbortSignal };
type Body = Pick<PassedRequest, 'body' | 'contentType'>;

export function addKubeRoute(app: FastifyInstance, deps: GatewayDeps, callers: Callers): void {
  const answers = createAnswers(deps, 'kube');
  const slots = createSlots({ perToken: 64, total: 1_024 });
  const secretSlots = createSlots({ perToken: 8, total: 16 });
  const context = { deps, answers, callers, slots, secretSlots };
  app.route({
    // `allowlist.ts` checks the method.
    method: app.supportedMethods,
    url: `${PREFIX}/*`,
    handler: (request, reply) => {
      answer(context, { request, reply }).catch((error: unknown) => answers.unexpected(reply, error));
    },
  });
}

async function answer(context: ForwardContext, exchange: Exchange): Promise<void> {
  const { deps, answers, callers, slots, secretSlots } = context;
  const { request, reply } = exchange;
  const caller = await admitCaller(deps, callers, exchange);
  if (typeof caller === 'string') return answers.problem(reply, caller);
  const refuse = (reason: ProblemCode): void => {
    recordRefusal(deps, exchange, { reason, caller });
    answers.problem(reply, reason);
  };
  const asked = checkRequest(request.raw.method ?? '', (request.raw.url ?? '').slice(PREFIX.length));
  if (asked === undefined) return refuse('kube-path-refused');
  const leave = (asked.resource === 'secrets' ? secretSlots : slots).enter(caller.key);
  if (leave === undefined) return refuse('too-many-exchanges');
  const gone = disconnectSignal(reply.raw);
  // Only watches are ended when the listeners close; other answers end by themselves.
  const signal = asked.verb === 'watch' ? AbortSignal.any([gone, deps.closing]) : gone;
  try {
    const given = await forward(deps, exchange, { asked, caller, signal });
    if (given === undefined) return undefined;
    if (typeof given === 'string') return refuse(given);
    callers.answered(caller, given.status);
    await sendAnswer(context, exchange, { asked, given });
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof ApiError) || reply.sent) throw error;
    deps.log.warn({ err: error }, 'forwarded request got no answer');
    answers.problem(reply, 'cluster-unavailable');
  } finally {
    leave();
  }
}

/** The API server's answer, or the problem; undefined if the client disconnected. */
async function forward(
  deps: GatewayDeps,
  exchange: Exchange,
  asked: Asked,
): Promise<PassedAnswer | ProblemCode | undefined> {
  return withReservation(deps.limits, async (reservation) => {
    const body = await bodyOf(deps, exchange, { asked: asked.asked, reservation });
    if (body === undefined || typeof body === 'string') return body;
    const answer = await deps.kube.send({ ...requestOf(exchange, asked), ...body });
    recordWrite(deps, exchange, { ...asked, body: body.body, status: answer.status });
    return answer;
  });
}

function requestOf(
  { request: { headers, raw } }: Exchange,
  { asked, caller: { token }, signal }: Asked,
): PassedRequest {
  const { verb, resource, query } = asked;
  if (verb === 'watch' && !query.has('timeoutSeconds')) query.set('timeoutSeconds', WATCH_SECONDS);
  const shared = { method: raw.method ?? '', token, signal, silenceMs: verb === 'watch' ? 0 : SILENCE_MS };
  if (resource === 'secrets') return { ...shared, ...redactedTarget(asked) };
  const isZipped = verb !== 'watch' && /\bgzip\b/.test(String(headers['accept-encoding']));
  return {
    ...shared,
    path: requestTarget(asked),
    accept: acceptHeader(requestedForm(headers.accept), verb),
    ...(isZipped && { acceptEncoding: 'gzip' }),
  };
}

/** The body to forward, or the problem; undefined if the client disconnected. */
async function bodyOf(
  { limits }: GatewayDeps,
  { request: { raw }, reply }: Exchange,
  { asked, reservation }: { asked: AllowedRequest; reservation: Reservation },
): Promise<Body | ProblemCode | undefined> {
  const { headers } = raw;
  if (!hasBody(headers)) return {};
  const contentType = bodyTypeOf(asked, headers['content-type']);
  if (contentType === undefined || headers['content-encoding'] !== undefined) return 'unsupported-media-type';
  const limit = limits.settings.bodyBytes;
  if (Number(headers['content-length'] ?? 0) > limit) return 'too-large';
  const body = await readBody(raw, reply.raw, { limit, reservation, queue: limits.bodyQueue });
  if (body.outcome === 'aborted') return undefined;
  return body.outcome === 'read' ? { body: body.bytes, contentType } : body.outcome;
}

async function sendAnswer(
  { deps, answers }: ForwardContext,
  { request, reply }: Exchange,
  { asked, given }: { asked: AllowedRequest; given: PassedAnswer },
): Promise<void> {
  if (asked.resource === 'secrets') {
    const text = await readText(given, SECRETS_BYTES);
    reply.headers(ANSWER_HEADERS);
    const redacted = redactedAnswer(asked, { form: requestedForm(request.headers.accept), text });
    return answers.send(reply, given.status, JSON_TYPE, redacted);
  }
  answers.count(given.status);
  reply.hijack();
  await forwardAnswer(reply.raw, given, { unread: deps.limits.unread, isLast: deps.draining.aborted });
}
