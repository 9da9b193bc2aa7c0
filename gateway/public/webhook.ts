/** `POST /webhook/{id}/{path}`: receives one event and stores it before the answer. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { parseJson } from '../../api/json.ts';
import type { RouteSpec } from '../../api/route.ts';
import { returnListening, takeListening } from '../../runs/listening.ts';
import type { Submission, Submitted } from '../../runs/types/submission.ts';
import { isUnavailable } from '../../store/connection.ts';
import type { Answers } from '../http/answers.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { admittedHeaders, eventHash, eventInput, eventKey } from '../endpoint/event.ts';
import { isTooLargeEvent, type Limits } from '../limits/limits.ts';
import type { ProblemCode } from '../contract/problems.ts';
import { answerAccepted, refuseSubmission, submitEvent } from '../endpoint/submission.ts';
import type { Route } from '../routing/table.ts';
import { addPushRoute, type Pushed } from './push.ts';
import { answerReply } from './reply.ts';

export function addWebhookRoute(app: FastifyInstance, deps: GatewayDeps): void {
  addPushRoute(app, deps, {
    prefix: '/webhook/',
    kind: 'webhook',
    find: deps.routes.webhook,
    receive: (answers, pushed) => receive(deps, answers, pushed),
  });
}

async function receive(
  deps: GatewayDeps,
  answers: Answers,
  { route, request, reply, body, reservation }: Pushed,
): Promise<void> {
  const { auth, spec } = route;
  const { webhook } = spec;
  if (webhook === undefined) return answers.problem(reply, 'not-found');
  const event = readEvent(request.raw.headers, body, { webhook, auth, limits: deps.limits });
  if (typeof event === 'string') return answers.problem(reply, event);
  const { waiterLimit } = deps.limits;
  if (webhook.reply && !waiterLimit.enter(spec.projectUID, reply.raw))
    return answers.refuse(reply, 'too-many-waiting');
  const startedAt = performance.now();
  const submitted =
    spec.testRun === undefined
      ? await submitEvent(deps, liveRun(spec, event))
      : await submitTestRun(deps, spec, event);
  if (submitted === 'not-listening') return answers.problem(reply, submitted);
  // A caller that waits for the run reserves no memory.
  reservation.release();
  deps.metrics.acceptSeconds.observe((performance.now() - startedAt) / 1_000);
  if (submitted.outcome !== 'accepted') return refuseSubmission(answers, reply, submitted, 'not-found');
  if (webhook.reply) await answerReply(deps, answers, reply, { route, submitted });
  else answerAccepted(answers, reply, 200, submitted.run);
}

type Event = Pick<Submission, 'input' | 'dedupeKey' | 'bodyHash'>;

function liveRun({ projectUID, workflow, workflowUID, revision }: RouteSpec, event: Event): Submission {
  const target = { project: projectUID, workflow, workflowUid: workflowUID, revision };
  return { ...target, trigger: 'webhook', test: false, ...event };
}

/**
 * Takes the test run that listens here for this event, unless another event has taken it. The run has a name
 * already, which is its dedupe key: an event that was not submitted leaves it to the next one, also to the
 * same event once more.
 */
async function submitTestRun(
  deps: Pick<GatewayDeps, 'runs' | 'submit' | 'limits'>,
  { projectUID: project, workflowUID: recordUid }: RouteSpec,
  { input }: Event,
): Promise<Submitted | 'not-listening'> {
  const found = await takeListening(deps.runs, project, recordUid);
  if (isUnavailable(found)) return found;
  const { taken } = found;
  if (!taken) return 'not-listening';
  const bodyHash = eventHash({ trigger: 'webhook', test: true, text: input });
  const target = { ...taken.run, project, recordUid, trigger: 'webhook', test: true };
  const submitted = await submitEvent(deps, { ...target, input, bodyHash });
  // If this fails too, the operator offers the run again.
  if (submitted.outcome !== 'accepted') await returnListening(deps.runs, project, taken);
  return submitted;
}

type Asked = { webhook: NonNullable<Route['spec']['webhook']>; auth: Route['auth']; limits: Limits };

/** The event as the run store takes it, or the problem. */
function readEvent(
  headers: IncomingHttpHeaders,
  bytes: Uint8Array,
  { webhook, auth, limits }: Asked,
): Event | ProblemCode {
  const delivery = auth.kind === 'verified' ? auth.deliveryHeader : undefined;
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
