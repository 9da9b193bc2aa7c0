/**
 * `POST /workflows/{id}/execute`: starts a run of any workflow for a caller who may `create`
 * `workflows/execute`. The body, a JSON object, becomes the trigger's output unchanged.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditEntry } from '../../api/audit/line.ts';
import { isUnavailable } from '../../store/connection.ts';
import { getRevision } from '../../runs/revisions.ts';
import { redactRun, withoutRecordData } from '../../runs/record/redact.ts';
import { MAX_USER_NAME } from '../../api/person.ts';
import type { Submission, Submitted } from '../../runs/types/submission.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../http/answers.ts';
import { eventOf, recordCall, auditResult } from '../endpoint/audit.ts';
import { hasBody } from '../http/body.ts';
import { disconnectSignal } from '../http/response.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { eventHash, eventInput, eventKey, inputFromOutput } from '../endpoint/event.ts';
import type { Reservation } from '../limits/inFlight.ts';
import { isTooLargeEvent } from '../limits/limits.ts';
import {
  answerAccepted,
  refuseSubmission,
  submissionProblem,
  submitEvent,
  waitForRun,
} from '../endpoint/submission.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Route } from '../routing/table.ts';
import { readExecuteQuery, type ExecuteQuery, preferredWait } from '../contract/queries.ts';
import type { Admitted } from '../endpoint/admit.ts';
import type { Identity } from '../access/identity.ts';
import { viewState } from './runView.ts';
import { addEndpoints } from '../endpoint/route.ts';
import { readJsonBody, withReservation } from '../endpoint/jsonBody.ts';
import { isRecord } from '../../api/record.ts';

const OPERATION = OPERATIONS.executeWorkflow;

/** The outcome of an event for a workflow. */
type Started = { route: Route; submitted: Submitted };
type Accepted = { route: Route; submitted: Extract<Submitted, { outcome: 'accepted' }> };

export function addExecuteRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'execute');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATION,
      handleAdmitted: (exchange, admitted) => execute(deps, answers, exchange, admitted),
    },
  ]);
}

async function execute(
  deps: GatewayDeps,
  answers: Answers,
  exchange: Exchange,
  admitted: Admitted,
): Promise<void> {
  const { reply } = exchange;
  const asked = readAsked(deps, exchange.request, admitted.caller);
  const started = typeof asked === 'string' ? asked : await start(deps, exchange, asked);
  if (started === undefined) return;
  recordStart(deps, exchange, admitted, started);
  if (typeof started === 'string') return answers.problem(reply, started);
  const { route, submitted } = started;
  if (submitted.outcome !== 'accepted')
    return refuseSubmission(answers, reply, submitted, 'workflow-suspended');
  await answerRun(deps, answers, exchange, { route, submitted });
}

function recordStart(
  deps: GatewayDeps,
  { request }: Exchange,
  { namespace, name, caller }: Admitted,
  started: Started | ProblemCode,
): void {
  const uid = typeof started === 'string' ? undefined : started.route.spec.workflowUID;
  const event = eventOf(OPERATION.right, request.query);
  const entry = { event, user: caller, object: { namespace, name, uid } };
  recordCall(deps, request.raw, { ...entry, ...auditOutcome(started) });
}

function auditOutcome(started: Started | ProblemCode): Pick<AuditEntry, 'result' | 'reason' | 'run'> {
  if (typeof started === 'string') return auditResult(started);
  const { submitted } = started;
  if (submitted.outcome !== 'accepted')
    return auditResult(submissionProblem(submitted, 'workflow-suspended'));
  const { run, duplicate } = submitted;
  // A repeated event started nothing: the line names the run of the first one.
  return { result: 'allowed', run, ...(duplicate && { reason: 'duplicate' }) };
}

type Asked = { route: Route; query: ExecuteQuery; key: string | undefined; user: string };

/** Checks everything that needs no body. */
function readAsked(
  { routes, health }: GatewayDeps,
  { params, query, headers }: FastifyRequest,
  caller: Identity,
): Asked | ProblemCode {
  const route = routes.workflow((params as { id: string }).id);
  if (route === undefined) return health.synced() ? 'workflow-unknown' : 'not-ready';
  const read = readExecuteQuery(query);
  if (read === undefined) return 'bad-query';
  if (route.spec.suspended) return 'workflow-suspended';
  if (!read.test && !route.spec.active)
    return route.spec.inactiveReason === 'AuthRequired' ? 'auth-required' : 'inactive';
  const key = eventKey(headers);
  if (key.outcome === 'bad') return 'bad-key';
  return { route, query: read, key: key.outcome === 'key' ? key.key : undefined, user: caller.username };
}

/** Reads and submits the event; undefined if the client disconnected. */
async function start(
  deps: GatewayDeps,
  exchange: Exchange,
  asked: Asked,
): Promise<Started | ProblemCode | undefined> {
  return withReservation(deps.limits, async (reservation) => {
    const event = await readEvent(deps, exchange, reservation);
    if (event === undefined || typeof event === 'string') return event;
    const submission = submissionOf(asked, event.text);
    if (isTooLargeEvent(submission.input)) return 'event-too-large';
    return { route: asked.route, submitted: await submitEvent(deps, submission) };
  });
}

/** The user name, shortened to what a record accepts. */
function requesterOf(username: string): string {
  return username.slice(0, MAX_USER_NAME).toWellFormed();
}

function submissionOf({ route: { spec }, query, key, user }: Asked, text: string): Submission {
  const { test, until, isOutput } = query;
  const eventOf = isOutput === true ? inputFromOutput : eventInput;
  return {
    project: spec.projectUID,
    workflow: spec.workflow,
    workflowUid: spec.workflowUID,
    revision: spec.revision,
    trigger: 'execute',
    // Without a body a test run uses the trigger's testData.
    input: text === '' && test ? '' : eventOf(text || '{}'),
    test,
    requestedBy: requesterOf(user),
    ...(until !== undefined && { until }),
    ...(key === undefined
      ? { bodyHash: '' }
      : {
          dedupeKey: keyFor(spec, key),
          // Includes the user, so that knowing a key does not give access to the run of another user.
          bodyHash: eventHash({ trigger: 'execute', test, until, isOutput, user, text }),
        }),
  };
}

/**
 * Callers share keys with webhooks, but never with keys that a trigger generates, such as the times of a
 * schedule.
 */
function keyFor({ trigger }: Route['spec'], key: string): string {
  return trigger === 'webhook' ? key : `execute/${key}`;
}

/** The body as JSON text, '' if there is none; undefined if the client disconnected. */
async function readEvent(
  { limits }: GatewayDeps,
  exchange: Exchange,
  reservation: Reservation,
): Promise<{ text: string } | ProblemCode | undefined> {
  if (!hasBody(exchange.request.raw.headers)) return { text: '' };
  const body = await readJsonBody(exchange, limits, { reservation, mayBeEmpty: true });
  if (body === undefined || typeof body === 'string' || body.text === '') return body;
  const { value } = body;
  return isRecord(value) ? body : 'not-an-object';
}

/** 202 at once, or 200 with the outputs if the caller prefers to wait and the run ends in time. */
async function answerRun(
  deps: GatewayDeps,
  answers: Answers,
  { request, reply }: Exchange,
  { route, submitted: { run } }: Accepted,
): Promise<void> {
  reply.header('location', `/workflows/${route.id}/runs/${run}`);
  const seconds = preferredWait(request.headers.prefer);
  // Waiting is a preference: if too many wait, answer at once.
  if (seconds === undefined || !deps.limits.waiterLimit.enter(route.spec.projectUID, reply.raw))
    return answerAccepted(answers, reply, 202, run);
  const signal = AbortSignal.any([disconnectSignal(reply.raw), deps.closing]);
  const waited = await waitForRun(deps, route.spec.projectUID, run, {
    timeoutMs: seconds * 1_000,
    until: 'end',
    signal,
  });
  reply.header('preference-applied', `wait=${seconds}`);
  if (waited.kind !== 'ended') return answerAccepted(answers, reply, 202, run);
  const { projectUID } = route.spec;
  const revision = await getRevision(deps.runs, projectUID, waited.state.revision);
  if (isUnavailable(revision)) return answerAccepted(answers, reply, 202, run);
  // Callers may read the outputs of runs that they started, recorded or not. Nobody may read those of
  // sensitive nodes.
  const shown = redactRun(waited.state, revision && withoutRecordData(revision));
  answers.send(reply, 200, JSON_TYPE, JSON.stringify(viewState(route.namespace, shown, revision)));
}
