/**
 * Executes Evaluations: creates their test runs, at most `maxParallel` at a time and each once, judges the
 * records of those that have ended, and writes the results into the status.
 */
import type { EvaluationStatus } from '../../api/evaluation.ts';
import { EVALUATION, type Evaluation, type WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import { ApiError, isAlreadyExists, isForbidden, isInvalid } from '../../kube/errors.ts';
import { after, done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import type { OperatorContext } from '../shared/context.ts';
import { ifSpecChanged, watch, type Controller } from '../shared/controller.ts';
import { workflowRuns } from '../shared/resources.ts';
import { writeStatus } from '../shared/status.ts';
import type { EvaluationCase } from './cases.ts';
import { completeCondition, type Problem } from './conditions.ts';
import { unjudged, type Verdict } from './expectations.ts';
import { prepare, type LastRead, type Prepared } from './prepare.ts';
import { isRunOf, manifestOf, plannedRuns, resultsOf, type PlannedRun } from './runs.ts';
import { createEvaluationThread, TooExpensive, type EvaluationThread } from './thread.ts';

/** A ConfigMap may come later, or be corrected: it is read again. */
const AGAIN_MS = 15_000;

const TAKEN = 'another run has the name of its run';

type Remembered = LastRead & { uid: string; verdicts: Map<string, Verdict> };

/**
 * `remembered`: by namespace and name of an Evaluation: its cases, and the verdicts on runs by their name.
 * After a restart both are read again.
 */
type Evaluations = { remembered: Map<string, Remembered>; thread: EvaluationThread };

export function createEvaluations(): Evaluations {
  return { remembered: new Map(), thread: createEvaluationThread() };
}

type EvaluationContext = OperatorContext & { evaluations: Evaluations };

export const evaluationController: Controller<EvaluationContext> = {
  name: 'evaluation',
  concurrency: 2,
  watches: [
    watch(({ evaluations }) => evaluations, ifSpecChanged()),
    watch(
      ({ runs }) => runs,
      ({ metadata: { namespace = '', ownerReferences = [] }, status }, { type }) =>
        type === 'deleted' || isTerminal(status?.phase)
          ? ownerReferences.flatMap(({ kind, name }) =>
              kind === EVALUATION.kind ? [{ namespace, name }] : [],
            )
          : [],
    ),
    // Evaluations that wait for their workflow: manifests come in any order.
    watch(
      ({ routes }) => routes,
      ifSpecChanged(({ metadata: { namespace = '', name } }, _change, caches) =>
        caches.evaluations
          .list(namespace)
          .filter(({ spec, status }) => spec.workflow === name && status?.startTime === undefined)
          .map(keyOf),
      ),
    ),
  ],
  reconcile: reconcileEvaluation,
};

async function reconcileEvaluation({ namespace, name }: Key, context: EvaluationContext): Promise<Action> {
  const { caches, evaluations } = context;
  const evaluation = await caches.evaluations.getFresh(namespace, name);
  if (!evaluation || evaluation.metadata.deletionTimestamp !== undefined || hasEnded(evaluation)) {
    evaluations.remembered.delete(`${namespace}/${name}`);
    return done();
  }
  try {
    return await evaluate(context, evaluation);
  } catch (error) {
    if (error instanceof TooExpensive) return reportExpensive(context, evaluation, error);
    if (!(error instanceof ApiError && isForbidden(error))) throw error;
    // With what was written before the refusal.
    const current = (await caches.evaluations.getFresh(namespace, name)) ?? evaluation;
    const message = `Kubernetes refuses a request of the operator, which it repeats: ${error.message}`;
    return report(context, current, { reason: 'Unauthorized', message });
  }
}

/** It is not tried again: each time would keep the thread from other Evaluations. */
async function reportExpensive(
  context: EvaluationContext,
  { metadata: { namespace = '', name } }: Evaluation,
  { message }: TooExpensive,
): Promise<Action> {
  const current = await context.caches.evaluations.getFresh(namespace, name);
  if (!current) return done();
  return report(context, current, {
    reason: 'CasesInvalid',
    message: `${message}: create another Evaluation, with fewer cases and simpler schemas and patterns.`,
    isFinal: true,
  });
}

/** What is remembered of the Evaluation. */
function rememberedOf(
  { evaluations: { remembered: all } }: EvaluationContext,
  { metadata: { namespace = '', name, uid = '' } }: Evaluation,
): Remembered {
  const key = `${namespace}/${name}`;
  const known = all.get(key);
  if (known?.uid === uid) return known;
  const remembered = { uid, verdicts: new Map<string, Verdict>() };
  all.set(key, remembered);
  return remembered;
}

/** Judges runs that have ended, creates further ones, and writes the results. */
async function evaluate(context: EvaluationContext, evaluation: Evaluation): Promise<Action> {
  const remembered = rememberedOf(context, evaluation);
  const { verdicts } = remembered;
  const { thread } = context.evaluations;
  const prepared = await prepare({ ...context, thread }, evaluation, remembered);
  if ('reason' in prepared) return report(context, evaluation, prepared);
  const runs = plannedRuns(evaluation, prepared.cases, prepared.variants);
  await judgeEnded(context, { evaluation, runs, verdicts });
  const begun = statusOf(context, { evaluation, prepared, runs, verdicts });
  // The revisions are pinned before the first run.
  const pinned = await write(context, evaluation, begun);
  const started = await startRuns(context, { evaluation: pinned, prepared, runs, verdicts });
  // Also the verdicts on runs that could not be created.
  const now = statusOf(context, { evaluation: pinned, prepared, runs, verdicts });
  await write(context, pinned, { ...now, started });
  return done();
}

const hasEnded = ({ status }: Evaluation): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Writes why it cannot start, or why it cannot be finished. */
async function report(
  context: EvaluationContext,
  evaluation: Evaluation,
  { casesHash, ...problem }: Problem & { casesHash?: string },
): Promise<Action> {
  const { status } = evaluation;
  const now = context.clock.date();
  const conditions = completeCondition(evaluation, now, problem);
  const phase = problem.isFinal ? ('Failed' as const) : (status?.phase ?? 'Pending');
  await write(context, evaluation, {
    ...status,
    phase,
    ...(casesHash !== undefined && status?.startTime === undefined && { casesHash }),
    ...(problem.isFinal && { completionTime: now.toISOString() }),
    conditions,
  });
  return problem.isFinal ? done() : after(AGAIN_MS);
}

async function write(
  context: EvaluationContext,
  evaluation: Evaluation,
  status: EvaluationStatus,
): Promise<Evaluation> {
  await writeStatus(context, context.caches.evaluations, evaluation, status);
  return { ...evaluation, status };
}

type State = { evaluation: Evaluation; runs: readonly PlannedRun[]; verdicts: Map<string, Verdict> };

/** Judges the runs that have ended since, and those that were deleted. */
async function judgeEnded(
  { client, caches, evaluations: { thread } }: EvaluationContext,
  { evaluation, runs, verdicts }: State,
): Promise<void> {
  const { namespace = '' } = evaluation.metadata;
  const { started = 0 } = evaluation.status ?? {};
  for (const [index, { name, case: given }] of runs.entries()) {
    if (verdicts.has(name)) continue;
    const cached = caches.runs.get(namespace, name);
    if (!cached && index >= started) return;
    if (cached && !isTerminal(cached.status?.phase) && isRunOf(evaluation, cached)) continue;
    const run = await client.find(workflowRuns, { namespace, name });
    const verdict = await verdictOn(thread, evaluation, given, run);
    if (verdict) verdicts.set(name, verdict);
  }
}

/** `run`: as it was just read. Undefined: it has not ended. */
async function verdictOn(
  thread: EvaluationThread,
  evaluation: Evaluation,
  given: EvaluationCase,
  run: WorkflowRun | undefined,
): Promise<Verdict | undefined> {
  if (!run) return unjudged('its run was deleted before it was judged');
  if (!isRunOf(evaluation, run)) return unjudged(TAKEN);
  return isTerminal(run.status?.phase) ? thread.judge(given, run) : undefined;
}

async function isTaken(
  client: OperatorContext['client'],
  evaluation: Evaluation,
  { name }: PlannedRun,
): Promise<boolean> {
  const { namespace = '' } = evaluation.metadata;
  const run = await client.find(workflowRuns, { namespace, name });
  return run !== undefined && !isRunOf(evaluation, run);
}

/** Creates runs as far as there may be. Returns how many were created in all. */
async function startRuns(
  { client, caches }: EvaluationContext,
  { evaluation, prepared, runs, verdicts }: State & { prepared: Prepared },
): Promise<number> {
  let { started = 0 } = evaluation.status ?? {};
  let unfinished = runs.slice(0, started).filter(({ name }) => !verdicts.has(name)).length;
  for (const run of runs.slice(started)) {
    if (unfinished >= prepared.maxParallel) break;
    // Another operator may have created it, and ended before it wrote so.
    if (!verdicts.has(run.name)) {
      try {
        caches.runs.noteWrite(await client.create<WorkflowRun>(workflowRuns, manifestOf(evaluation, run)));
        unfinished += 1;
      } catch (error) {
        if (error instanceof ApiError && isInvalid(error))
          verdicts.set(run.name, unjudged(`its run is refused: ${error.message}`));
        else if (!isAlreadyExists(error)) throw error;
        else if (await isTaken(client, evaluation, run)) verdicts.set(run.name, unjudged(TAKEN));
        else unfinished += 1;
      }
    }
    started += 1;
  }
  return started;
}

function statusOf(
  { clock }: EvaluationContext,
  { evaluation, prepared, runs, verdicts }: State & { prepared: Prepared },
): EvaluationStatus {
  const now = clock.date();
  const { startTime = now.toISOString(), started = 0 } = evaluation.status ?? {};
  const results = resultsOf(runs, prepared.variants, verdicts);
  const isOver = results.passed + results.failed === results.total;
  const phase = !isOver ? 'Running' : results.failed === 0 ? 'Succeeded' : 'Failed';
  return {
    phase,
    startTime,
    ...(isOver && { completionTime: now.toISOString() }),
    casesHash: prepared.casesHash,
    started,
    ...results,
    conditions: completeCondition(evaluation, now, results),
  };
}
