/**
 * `GET /workflows/{id}/runs/{run}`: a run with its outputs, for callers who may `get` the WorkflowRun; from
 * the run store, else its record, else its summary. `DELETE` cancels it, for callers who may `delete` the
 * WorkflowRun. Its record stays.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { workflowId } from '../../api/group.ts';
import { isTerminal, type TerminalPhase } from '../../api/phase.ts';
import type { RunView } from '../../api/runView.ts';
import { cancelRun } from '../../runs/cancel.ts';
import { isUnavailable } from '../../store/connection.ts';
import { getRevision } from '../../runs/revisions.ts';
import { readRun, readSummary } from '../../runs/read.ts';
import { redactRun, type DataPolicy } from '../../runs/record/redact.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../http/answers.ts';
import { recordCall, auditResult } from '../endpoint/audit.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { readRecord } from '../endpoint/records.ts';
import { answerAccepted } from '../endpoint/submission.ts';
import { isName, type Addressed, type Admitted } from '../endpoint/admit.ts';
import { viewRecord, viewState, viewSummary } from './runView.ts';
import { addEndpoints } from '../endpoint/route.ts';

export function addRunRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'run');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.readRun,
      handleAdmitted: (exchange, admitted) => answerRun(deps, answers, exchange, admitted),
    },
    {
      operation: OPERATIONS.cancelRun,
      handleAdmitted: (exchange, admitted) => cancel(deps, answers, exchange, admitted),
    },
  ]);
}

async function answerRun(
  deps: GatewayDeps,
  answers: Answers,
  exchange: Exchange,
  admitted: Admitted,
): Promise<void> {
  const found = await findRun(deps, answers, exchange, admitted);
  if (found === undefined) return;
  exchange.reply.header('cache-control', 'no-store');
  answers.send(exchange.reply, 200, JSON_TYPE, JSON.stringify(found.view));
}

/** 204 if it is cancelled, 202 while its runner ends it. */
async function cancel(
  deps: GatewayDeps,
  answers: Answers,
  exchange: Exchange,
  admitted: Admitted,
): Promise<void> {
  const { reply } = exchange;
  const found = await findRun(deps, answers, exchange, admitted);
  if (found === undefined) return;
  const outcome = await cancelFound(deps, found);
  recordCancel(deps, exchange, { run: found.view.run, admitted, outcome });
  if (outcome === 'requested') return answerAccepted(answers, reply, 202, found.view.run);
  if (outcome !== 'cancelled') return answers.problem(reply, outcome);
  answers.sendEmpty(reply, 204);
}

type Cancelled = 'cancelled' | 'requested' | 'run-ended' | 'run-unavailable';

async function cancelFound(deps: GatewayDeps, { view, project }: FoundRun): Promise<Cancelled> {
  if (isTerminal(view.phase)) return endedAs(view.phase);
  // Not submitted yet, or lost: the operator will submit, restore or end it.
  if (project === undefined) return 'run-unavailable';
  const cancelled = await cancelRun(deps.runs, project, view.run);
  switch (cancelled.outcome) {
    case 'cancelled':
    case 'requested':
      return cancelled.outcome;
    case 'ended':
      return endedAs(cancelled.phase);
    case 'absent':
    case 'unavailable':
      return 'run-unavailable';
  }
}

/** Cancelling a cancelled run succeeds. */
function endedAs(phase: TerminalPhase): Cancelled {
  return phase === 'Cancelled' ? 'cancelled' : 'run-ended';
}

function recordCancel(
  deps: GatewayDeps,
  { request }: Exchange,
  { run, admitted, outcome }: { run: string; admitted: Admitted; outcome: Cancelled },
): void {
  const { namespace, name: workflow, caller } = admitted;
  const isDone = outcome === 'cancelled' || outcome === 'requested';
  recordCall(deps, request.raw, {
    event: 'run.cancel',
    user: caller,
    object: { namespace, name: run },
    workflow,
    ...(isDone ? { result: 'allowed' } : auditResult(outcome)),
  });
}

export type FoundRun = {
  view: RunView;
  /** The project whose run store has the run; undefined if only the record is left. */
  project: string | undefined;
  /** What to redact in its live events. */
  policy?: DataPolicy | undefined;
};

/**
 * The run that the request names, if it belongs to the workflow; undefined otherwise, with the answer sent.
 */
export async function findRun(
  deps: GatewayDeps,
  answers: Answers,
  { request, reply }: Exchange,
  admitted: Admitted,
): Promise<FoundRun | undefined> {
  const { id, run } = request.params as { id: string; run: string };
  const found = isName(run) ? await lookUp(deps, admitted, run) : undefined;
  if (found === 'unavailable') {
    answers.problem(reply, 'run-unavailable');
    return undefined;
  }
  if (found?.view.workflow === id) return found;
  answers.problem(reply, 'run-unknown');
  return undefined;
}

async function lookUp(
  deps: GatewayDeps,
  addressed: Addressed,
  run: string,
): Promise<FoundRun | undefined | 'unavailable'> {
  const { namespace } = addressed;
  const stored = await lookUpStored(deps, namespace, run);
  if (stored !== undefined && stored !== 'unavailable') return stored;
  // The record may exist even if the run store does not answer.
  try {
    const record = await readRecord(deps, namespace, run);
    if (record !== undefined) return { view: viewRecord(record), project: undefined };
  } catch (error) {
    deps.log.warn({ err: error }, 'reading a record failed');
    return 'unavailable';
  }
  return stored ?? lookUpSummary(deps, addressed, run);
}

/** The run in the run store. */
async function lookUpStored(
  deps: GatewayDeps,
  namespace: string,
  run: string,
): Promise<FoundRun | undefined | 'unavailable'> {
  const project = deps.routes.project(namespace);
  const state = project === undefined ? undefined : await readRun(deps.runs, project, run);
  if (project === undefined || state === undefined) return undefined;
  if (isUnavailable(state)) return 'unavailable';
  const policy = await getRevision(deps.runs, project, state.revision);
  if (isUnavailable(policy)) return 'unavailable';
  return { view: viewState(namespace, redactRun(state, policy), policy), project, policy };
}

/** A run is usually submitted, or restored, within a second. */
const STORED_EVERY_MS = 500;
/** Followers must not become a load of the API server. */
const READS_PER_RECORD = 20;

/**
 * A run that has not ended and is not in the run store: once the operator has submitted or restored it there,
 * or its record says that it has ended. Undefined when it is gone or the signal is aborted.
 */
export async function awaitStored(
  deps: GatewayDeps,
  addressed: Addressed,
  run: string,
  signal: AbortSignal,
): Promise<FoundRun | undefined> {
  for (let read = 1; !signal.aborted; read += 1) {
    await delay(STORED_EVERY_MS, undefined, { signal }).catch(() => undefined);
    const isWhole = read % READS_PER_RECORD === 0;
    const found = await (isWhole
      ? lookUp(deps, addressed, run)
      : lookUpStored(deps, addressed.namespace, run));
    if (found === 'unavailable') continue;
    if (found === undefined && isWhole) return undefined;
    if (found && (found.project !== undefined || isTerminal(found.view.phase))) return found;
  }
  return undefined;
}

async function lookUpSummary(
  { routes, runs }: GatewayDeps,
  { namespace, name: workflow }: Addressed,
  run: string,
): Promise<FoundRun | undefined | 'unavailable'> {
  const route = routes.workflow(workflowId(namespace, workflow));
  if (route === undefined) return undefined;
  const line = await readSummary(runs, route.spec.projectUID, route.spec.workflowUID, run);
  if (isUnavailable(line)) return 'unavailable';
  return line && { view: viewSummary(namespace, line), project: undefined };
}
