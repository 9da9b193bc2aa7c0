/**
 * `POST /workflows/{id}/runs/{run}/retry`: repeats an ended run with its input, or resumes a failed one, for
 * callers who may start runs of the workflow. The run must be in the run store. Once it is only recorded,
 * callers create a WorkflowRun with `spec.retryOf` instead.
 */
import type { FastifyInstance } from 'fastify';
import { MAX_USER_NAME } from '../../api/person.ts';
import { joinExact } from '../../api/exact/exactNumber.ts';
import { isAtMostOnce } from '../../nodes/register.ts';
import { planResume, readEnded } from '../../runs/resume.ts';
import { getRevision } from '../../runs/revisions.ts';
import type { NodeState } from '../../runs/types/node.ts';
import type { Decision, RunState } from '../../runs/types/run.ts';
import type { Submission } from '../../runs/types/submission.ts';
import { isUnavailable } from '../../store/connection.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { ProblemCode } from '../contract/problems.ts';
import { retryBody, type RetryBody, type RetryDecision } from '../contract/retry.ts';
import { callerCredentials, isName, missingRight, REFUSALS, type Admitted } from '../endpoint/admit.ts';
import { auditResult, recordCall } from '../endpoint/audit.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { eventHash, eventKey } from '../endpoint/event.ts';
import { readJsonBody, withReservation } from '../endpoint/jsonBody.ts';
import { addEndpoints } from '../endpoint/route.ts';
import { answerAccepted, refuseSubmission, submissionProblem, submitEvent } from '../endpoint/submission.ts';
import { createAnswers, type Answers, type Exchange } from '../http/answers.ts';
import { hasBody } from '../http/body.ts';
import type { Route } from '../routing/table.ts';

type Refused = { code: ProblemCode; more?: string };

export function addRetryRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'run');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.retryRun,
      handleAdmitted: (exchange, admitted) => retry(deps, answers, exchange, admitted),
    },
  ]);
}

async function retry(
  deps: GatewayDeps,
  answers: Answers,
  exchange: Exchange,
  admitted: Admitted,
): Promise<void> {
  const { reply } = exchange;
  const { id, run: retryOf } = exchange.request.params as { id: string; run: string };
  const prepared = await prepare(deps, exchange, admitted);
  if (prepared === undefined) return;
  const submitted = 'code' in prepared ? prepared : await submitEvent(deps, prepared);
  const code =
    'code' in submitted
      ? submitted.code
      : submitted.outcome === 'accepted'
        ? undefined
        : submissionProblem(submitted, 'workflow-suspended');
  const { namespace, name } = admitted;
  recordCall(deps, exchange.request.raw, {
    event: 'run.retry',
    user: admitted.caller,
    object: { namespace, name },
    retryOf: isName(retryOf) ? retryOf : undefined,
    ...(code === undefined ? { result: 'allowed' } : auditResult(code)),
    ...('outcome' in submitted && submitted.outcome === 'accepted' && acceptedAs(submitted)),
  });
  if ('code' in submitted) {
    const { more } = submitted;
    return answers.problem(reply, submitted.code, { ...(more !== undefined && { more }) });
  }
  if (submitted.outcome !== 'accepted')
    return refuseSubmission(answers, reply, submitted, 'workflow-suspended');
  reply.header('location', `/workflows/${id}/runs/${submitted.run}`);
  answerAccepted(answers, reply, 202, submitted.run);
}

/** A repeated request started nothing: the line names the run of the first one. */
const acceptedAs = ({ run, duplicate }: { run: string; duplicate: boolean }) => ({
  run,
  ...(duplicate && { reason: 'duplicate' }),
});

/** The event of the new run; undefined if the client disconnected. */
async function prepare(
  deps: GatewayDeps,
  exchange: Exchange,
  admitted: Admitted,
): Promise<Submission | Refused | undefined> {
  const { id, run } = exchange.request.params as { id: string; run: string };
  const route = routeOf(deps, id);
  if ('code' in route) return route;
  const key = eventKey(exchange.request.raw.headers);
  if (key.outcome === 'bad') return { code: 'bad-key' };
  const body = await readRetry(deps, exchange);
  if (body === undefined || 'code' in body) return body;
  if (!isName(run)) return { code: 'run-unknown' };
  const found = await readEnded(deps.runs, route.spec.projectUID, run);
  if (isUnavailable(found)) return { code: 'run-unavailable' };
  if (!found || found.state.workflowUid !== route.spec.workflowUID) return { code: 'run-not-kept' };
  const { state, items } = found;
  if (!state.test && !route.spec.active)
    return { code: route.spec.inactiveReason === 'AuthRequired' ? 'auth-required' : 'inactive' };
  const refused = await refuseCredential(deps, exchange, admitted, state);
  if (refused !== undefined) return refused;
  const event = {
    ...eventOf(route, state, admitted),
    ...(key.outcome === 'key' && dedupeOf(key.key, { run, body, user: admitted.caller.username })),
  };
  return body.resume ? resume(deps, event, { state, items }, body.decisions) : event;
}

function routeOf({ routes, health }: GatewayDeps, id: string): Route | Refused {
  const route = routes.workflow(id);
  if (route === undefined) return { code: health.synced() ? 'workflow-unknown' : 'not-ready' };
  return route.spec.suspended ? { code: 'workflow-suspended' } : route;
}

/** Whoever repeats a test of a model with a credential must be allowed to use that credential. */
async function refuseCredential(
  deps: GatewayDeps,
  { request }: Exchange,
  { namespace }: Admitted,
  { testing }: RunState,
): Promise<Refused | undefined> {
  const name = testing?.model?.credential;
  if (name === undefined) return undefined;
  const wanted = { verb: 'use', resource: 'credentials', namespace, name } as const;
  const decision = await deps.access.decide(callerCredentials(deps, request), wanted);
  if (decision === 'allowed') return undefined;
  const code = REFUSALS[decision];
  return { code, ...missingRight(code, wanted) };
}

async function resume(
  deps: GatewayDeps,
  event: Submission,
  { state, items }: { state: RunState; items: ReadonlyMap<string, NodeState> | undefined },
  given: readonly RetryDecision[] = [],
): Promise<Submission | Refused> {
  const { run, phase, origin, nodes, revision, doubt: isInDoubt } = state;
  const executed = await getRevision(deps.runs, state.project, revision);
  if (isUnavailable(executed)) return { code: 'run-unavailable' };
  if (!executed) return { code: 'not-resumable', more: 'The revision of the run no longer exists.' };
  const decisions = given.map(decisionOf);
  const failed = { run, phase, origin, nodes, items, isInDoubt };
  const resumed = planResume(failed, executed, decisions, isAtMostOnce);
  if (!('reason' in resumed)) return { ...event, revision, resumed };
  const code = resumed.reason === 'DecisionMissing' ? 'decision-missing' : 'not-resumable';
  return { code, more: resumed.message };
}

/** The body, which may be left out; undefined if the client disconnected. */
async function readRetry(deps: GatewayDeps, exchange: Exchange): Promise<RetryBody | Refused | undefined> {
  if (!hasBody(exchange.request.raw.headers)) return {};
  const body = await withReservation(deps.limits, (reservation) =>
    readJsonBody(exchange, deps.limits, { reservation, mayBeEmpty: true }),
  );
  if (body === undefined) return undefined;
  if (typeof body === 'string') return { code: body };
  if (body.text === '') return {};
  const read = retryBody.safeParse(body.value);
  return read.success ? read.data : { code: 'bad-retry' };
}

function eventOf(
  { spec }: Route,
  { run, test, input, until, testing }: RunState,
  { caller }: Admitted,
): Submission {
  return {
    project: spec.projectUID,
    workflow: spec.workflow,
    workflowUid: spec.workflowUID,
    revision: spec.revision,
    trigger: 'execute',
    input,
    bodyHash: '',
    test,
    retryOf: run,
    requestedBy: caller.username.slice(0, MAX_USER_NAME).toWellFormed(),
    ...(until !== undefined && { until }),
    ...(testing && { testing }),
  };
}

/** Apart from the keys of events, and of retries of other runs. */
function dedupeOf(
  key: string,
  { run, body, user }: { run: string; body: RetryBody; user: string },
): Pick<Submission, 'dedupeKey' | 'bodyHash'> {
  const text = JSON.stringify(body);
  return {
    dedupeKey: `retry/${run}/${key}`,
    // Includes the user, so that knowing a key does not give access to the run of another user.
    bodyHash: eventHash({ trigger: 'retry', test: false, user, text }),
  };
}

function decisionOf(decision: RetryDecision): Decision {
  const { node, outcome } = decision;
  if (outcome === 'AssumeNotDone' || !decision.output) return { node, outcome };
  const { text_content = '', data_content = null, exact } = decision.output;
  return { node, outcome, output: { text_content, data_content: joinExact(data_content, exact) } };
}
