/** Reads what an Evaluation needs: its cases, its workflow, and the revisions that its variants execute. */
import { createHash } from 'node:crypto';
import type { EvaluationVariant } from '../../api/evaluation.ts';
import type { Evaluation, Workflow } from '../../api/kinds.ts';
import type { Revision } from '../../api/revision.ts';
import { configMaps, controllerRevisions } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { isRevisionOf } from '../shared/revisions.ts';
import { testingProblem } from '../../nodes/mocks.ts';
import { haveRealMocks, type EvaluationCase } from './cases.ts';
import type { Problem } from './conditions.ts';
import type { PinnedVariant } from './runs.ts';
import type { EvaluationThread } from './thread.ts';

/** Runs of one Evaluation. */
const MOST_RUNS = 1_000;
const DEFAULT_PARALLEL = 2;

export type Prepared = {
  cases: EvaluationCase[];
  casesHash: string;
  variants: PinnedVariant[];
  /** Runs that may be unfinished at a time. */
  maxParallel: number;
};

type Context = Pick<OperatorContext, 'client' | 'caches'> & { thread: EvaluationThread };

/** What was read, also if it cannot be used. A text that does not exist has the hash of an empty one. */
type Read = (Pick<Prepared, 'cases'> | Problem) & { casesHash: string };

/** The cases as they were read last: reading them takes long, and each run that ends asks for them. */
export type LastRead = { read?: Pick<Prepared, 'cases' | 'casesHash'> };

/**
 * What the runs are made of, or why the Evaluation cannot start or be finished, and a hash of the cases.
 * @throws TooExpensive
 */
export async function prepare(
  context: Context,
  evaluation: Evaluation,
  last: LastRead,
): Promise<Prepared | (Problem & { casesHash: string })> {
  const read = await readCasesOf(context, evaluation, last);
  const { casesHash } = read;
  const prepared = refusedChange(evaluation, read) ?? (await prepareRead(context, evaluation, read));
  return { ...prepared, casesHash };
}

/**
 * Whoever may change the ConfigMap need not be allowed to start runs: the runs get no further effects than
 * the cases allowed when the Evaluation was first reconciled.
 */
function refusedChange({ spec, status }: Evaluation, read: Read): Problem | undefined {
  if (status?.casesHash === undefined || status.casesHash === read.casesHash) return undefined;
  const { name, key } = spec.cases.configMap;
  const place = `Key ${key} of ConfigMap ${name}`;
  const hasStarted = status.startTime !== undefined;
  if (hasStarted && 'cases' in read)
    return {
      reason: 'CasesChanged',
      message: `${place} has changed since the Evaluation started: create another Evaluation, and change the ConfigMap only between Evaluations.`,
      isFinal: true,
    };
  if (hasStarted || !('cases' in read) || !haveRealMocks(read.cases)) return undefined;
  return {
    reason: 'CasesChanged',
    message: `${place} has changed since the Evaluation was created, and has a mock with real: true: check the cases, then create another Evaluation.`,
    isFinal: true,
  };
}

async function prepareRead(
  context: Context,
  evaluation: Evaluation,
  read: Read,
): Promise<Omit<Prepared, 'casesHash'> | Problem> {
  const { spec, metadata } = evaluation;
  const workflow = context.caches.workflows.get(metadata.namespace, spec.workflow);
  const route = context.caches.routes.get(metadata.namespace, spec.workflow);
  if (!workflow || !route || route.spec.workflowUID !== workflow.metadata.uid)
    return {
      reason: 'WorkflowMissing',
      message: `spec.workflow: this namespace has no valid workflow ${spec.workflow}: apply it, and correct what its condition Valid says.`,
    };
  if ('reason' in read) return read;
  const { cases } = read;
  const variants: PinnedVariant[] = [];
  for (const variant of spec.variants ?? [{ name: 'current' }]) {
    const pinned = await pin(context, { evaluation, workflow, current: route.spec.revision }, variant, cases);
    if ('reason' in pinned) return pinned;
    variants.push(pinned);
  }
  const count = cases.length * variants.length * (spec.repeat ?? 1);
  if (count > MOST_RUNS)
    return {
      reason: 'TooManyRuns',
      message: `${cases.length} cases × ${variants.length} variants × repeat ${spec.repeat ?? 1} are ${count} runs, of which ${MOST_RUNS} are allowed: create several Evaluations with fewer cases.`,
    };
  return { cases, variants, maxParallel: parallelOf(evaluation, workflow) };
}

/** With Reject and Replace the limit of the workflow would end runs of the Evaluation. */
function parallelOf({ spec: { maxParallel = DEFAULT_PARALLEL } }: Evaluation, { spec }: Workflow): number {
  const { limit = Infinity, policy = 'Queue' } = spec.concurrency ?? {};
  return policy === 'Queue' ? maxParallel : Math.min(maxParallel, limit);
}

async function readCasesOf(
  { client, thread }: Context,
  { metadata: { namespace = '' }, spec, status }: Evaluation,
  last: LastRead,
): Promise<Read> {
  const { name, key } = spec.cases.configMap;
  const place = `spec.cases.configMap: key ${key} of ConfigMap ${name}`;
  const text = (await client.find(configMaps, { namespace, name }))?.data?.[key];
  const casesHash = createHash('sha256')
    .update(text ?? '')
    .digest('hex');
  if (text === undefined)
    return {
      casesHash,
      reason: 'CasesMissing',
      message: `${place} does not exist in this namespace: create it with a list of cases in YAML or JSON.`,
    };
  if (last.read?.casesHash === casesHash) return last.read;
  const read = await thread.readCases(text);
  if ('cases' in read) return (last.read = { ...read, casesHash });
  const isFinal = status?.startTime !== undefined;
  const message = `${place}: ${read.problem}. Correct the ConfigMap.`;
  return { casesHash, reason: 'CasesInvalid', message, ...(isFinal && { isFinal }) };
}

type Subject = { evaluation: Evaluation; workflow: Workflow; current: string };

/** The variant with the revision that it started with. */
async function pin(
  { client, thread }: Context,
  { evaluation: { metadata, spec, status }, workflow, current }: Subject,
  { name, revision, model }: EvaluationVariant,
  cases: readonly EvaluationCase[],
): Promise<PinnedVariant | Problem> {
  const { namespace = '' } = metadata;
  const started = status?.variants?.find((variant) => variant.name === name)?.revision;
  const chosen = started ?? revision ?? current;
  const object = await client.find(controllerRevisions, { namespace, name: chosen });
  const place = `spec.variants: variant ${name}`;
  if (!object || !isRevisionOf(object, workflow.metadata.uid))
    return {
      reason: 'RevisionMissing',
      message: `${place}: workflow ${spec.workflow} has no revision ${chosen}: kubectl get controllerrevisions -l windlass.dev/workflow=${spec.workflow} lists those that exist. Create another Evaluation with one of them.`,
      ...(started !== undefined && { isFinal: true }),
    };
  const own = object.data as Revision;
  const problem = testingProblem(model ? { model } : {}, spec.workflow, own);
  if (problem !== undefined)
    return { reason: 'InvalidVariant', message: `${place}: ${problem.replace(/^spec\./, '')}` };
  // They were checked before the first run, and neither they nor the revision have changed.
  const wrong = started === undefined ? await thread.casesProblem(cases, spec.workflow, own) : undefined;
  if (wrong !== undefined) {
    const message = `spec.cases.configMap: for revision ${chosen}: ${wrong}. Correct the ConfigMap.`;
    return { reason: 'CasesInvalid', message };
  }
  return { name, revision: chosen, trigger: own.trigger.kind, ...(model && { model }) };
}
