/**
 * Recovers recorded unfinished runs that the run store does not know. A run that an earlier store had is
 * restored; a run that ended in this store without a recorded end is ended, since no runner writes its
 * status.
 */
import type { WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import { done, type Action } from '../../kube/controller.ts';
import { isUnavailable } from '../../store/connection.ts';
import { putRevision } from '../../runs/revisions.ts';
import { controllerOf, controllerRevisions, type ControllerRevision } from '../../kube/resource.ts';
import { cancelRun } from '../../runs/cancel.ts';
import { readBrief, readSummary } from '../../runs/read.ts';
import type { RunState } from '../../runs/types/run.ts';
import { parentRefOf } from '../../runs/record/restoreAnnotations.ts';
import { restoreRun } from '../../runs/restore.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { Pacer } from '../shared/pacer.ts';
import type { ProjectStore } from '../store/types.ts';
import { workflowRuns } from '../shared/resources.ts';
import { planRestore, type RestorePlan } from './restorePlan.ts';
import { givenInput } from './input.ts';
import { isRevisionOf } from '../shared/revisions.ts';
import type { Revision } from '../../api/revision.ts';
import type { KubeClient } from '../../kube/client.ts';
import { endRun, type RunEnding } from './end.ts';
import { addFailure, failureEvent, isReported } from '../../runs/failures.ts';
import { limitsOf } from '../store/limits.ts';
import { projectOf, type Caches } from '../shared/caches.ts';
import { unreachable } from '../shared/errors.ts';

export type RecoveryContext = OperatorContext & { store: Pick<ProjectStore, 'open'>; pacer: Pacer };

/**
 * Restores or ends the run if the run store does not know it. A run leaves the store only after its end is
 * recorded, so the record that is read from the API server after the store was asked is final.
 */
export async function recoverIfLost(
  context: RecoveryContext,
  { metadata: { name, namespace = '', uid } }: WorkflowRun,
): Promise<Action> {
  const { caches, conn, client, store, pacer } = context;
  const project = projectOf(caches, namespace);
  if (project === undefined) return done();
  // Seeding restores this run, too.
  const opened = await store.open(project);
  if (opened.outcome === 'unavailable') throw unreachable(opened);
  const state = await readBrief(conn, project, name);
  if (isUnavailable(state)) throw unreachable(state);
  if (state) {
    await cancelOrphan(context, project, { namespace, state });
    return done();
  }
  await pacer.take();
  const run = await client.find(workflowRuns, { namespace, name });
  if (!run || run.metadata.uid !== uid || isTerminal(run.status?.phase)) return done();
  if (await endAsSummarised(context, project, run)) return done();
  const plan = await planFor(context, run);
  if (plan.kind === 'end') await endLost(context, project, run, plan.ending);
  if (plan.kind === 'restore') await restore(context, project, run, plan);
  return done();
}

/** Cancels a child run that was restored after its parent had ended: the end of the parent did not. */
async function cancelOrphan(
  { caches, conn }: Pick<OperatorContext, 'caches' | 'conn'>,
  project: ProjectUid,
  { namespace, state: { run, phase, parent } }: { namespace: string; state: RunState },
): Promise<void> {
  if (!parent?.waits || isTerminal(phase) || !hasEnded(caches.runs.get(namespace, parent.run))) return;
  const waiting = await readBrief(conn, project, parent.run);
  if (isUnavailable(waiting)) throw unreachable(waiting);
  // The parent may have no record yet.
  if (waiting && !isTerminal(waiting.phase)) return;
  const cancelled = await cancelRun(conn, project, run);
  if (cancelled.outcome === 'unavailable') throw unreachable(cancelled);
}

/**
 * Ends a record whose run ended in this run store, by its summary: the record was created by a request
 * without a response. False if there is no summary.
 */
async function endAsSummarised(
  context: OperatorContext,
  project: ProjectUid,
  run: WorkflowRun,
): Promise<boolean> {
  const workflowUid = controllerOf(run)?.uid;
  if (workflowUid === undefined) return false;
  const summary = await readSummary(context.conn, project, workflowUid, run.metadata.name);
  if (isUnavailable(summary)) throw unreachable(summary);
  if (!summary) return false;
  const { phase, reason = phase, endedAt } = summary;
  const message = summary.message ?? 'The outputs of its nodes were not recorded.';
  await endRun(context, run, { phase, reason, message, endedAt });
  return true;
}

async function restore(
  context: OperatorContext,
  project: ProjectUid,
  run: WorkflowRun,
  plan: Extract<RestorePlan, { kind: 'restore' }>,
): Promise<void> {
  const { conn, log } = context;
  const { name, namespace } = run.metadata;
  const put = await putRevision(conn, project, plan.revision.name, plan.revision.revision);
  if (put.outcome === 'unavailable') throw unreachable(put);
  const restored = await restoreRun(conn, project, plan.run);
  if (restored.outcome === 'unavailable') throw unreachable(restored);
  log.warn({ namespace, run: name, outcome: restored.outcome }, 'restored an unknown recorded run');
  if (restored.outcome !== 'dropped') return;
  const message = `The run store no longer has the run, so it cannot continue. Check what its nodes have done, then create a new WorkflowRun with spec.retryOf: ${name}.`;
  await endLost(context, project, run, { phase: 'Failed', reason: 'DataLost', message });
}

type EndContext = Pick<OperatorContext, 'client' | 'caches' | 'clock' | 'conn' | 'config'>;

/**
 * Ends a run that the run store lost. Its failure starts the workflow in `onFailure`: that is stored before
 * the end, which is written once.
 */
export async function endLost(
  context: EndContext,
  project: ProjectUid,
  run: WorkflowRun,
  ending: RunEnding,
): Promise<void> {
  const { caches, conn, config } = context;
  const { metadata, spec, status } = run;
  const { name, namespace = '' } = metadata;
  const trigger = spec.trigger?.type ?? status?.trigger ?? 'execute';
  const { phase, reason, message } = ending;
  const workflow = caches.workflows.get(namespace, spec.workflow);
  const isSame = workflow !== undefined && controllerOf(run)?.uid === workflow.metadata.uid;
  const { onFailure } = isSame ? limitsOf(workflow, (other) => caches.routes.get(namespace, other)) : {};
  const parent = parentRefOf(metadata.annotations, spec.parent);
  const reported = { phase, test: spec.test === true, trigger, ...(parent && { parent }) };
  if (onFailure && isReported(reported)) {
    const failed = { run: name, workflow: spec.workflow, trigger, reason, message, nodes: [] };
    const event = failureEvent(failed, { namespace, consoleUrl: config.CONSOLE_URL });
    const added = await addFailure(conn, project, onFailure, event);
    if (added.outcome === 'unavailable') throw unreachable(added);
  }
  await endRun(context, run, ending);
}

/** The plan for a run that was just read. `revisions`: those that were read before. */
export async function planFor(
  { client, caches }: Pick<OperatorContext, 'client' | 'caches'>,
  run: WorkflowRun,
  revisions: Revisions = new Map(),
): Promise<RestorePlan> {
  const { namespace = '' } = run.metadata;
  const object = await revisionOf(client, run, revisions);
  const owner = controllerOf(run) ?? (object && controllerOf(object));
  const workflowUid = (await caches.workflows.getFresh(namespace, run.spec.workflow))?.metadata.uid;
  // An object with the name of a revision may not be of the operator.
  const isOwn = object !== undefined && isRevisionOf(object, owner?.uid);
  const revision = isOwn ? { name: object.metadata.name, revision: object.data as Revision } : undefined;
  const given = revision && (await givenInput(client, run, revision.revision));
  const { input, until, testing } = given && 'input' in given ? given : {};
  const isOrphan = hasEndedParent(caches, run);
  return planRestore(run, { workflowUid, madeFor: owner?.uid, revision, input, until, testing, isOrphan });
}

/** Whether nothing waits for the child run any more. */
function hasEndedParent({ runs }: Pick<Caches, 'runs'>, { metadata, spec }: WorkflowRun): boolean {
  const parent = parentRefOf(metadata.annotations, spec.parent);
  if (!parent?.waits) return false;
  return hasEnded(runs.get(metadata.namespace, parent.run));
}

const hasEnded = (record: WorkflowRun | undefined) =>
  record === undefined || isTerminal(record.status?.phase);

export type Revisions = Map<string, Promise<ControllerRevision | undefined>>;

/** Each revision is read once. */
function revisionOf(
  client: Pick<KubeClient, 'find'>,
  { metadata: { namespace = '' }, spec, status }: WorkflowRun,
  revisions: Revisions,
): Promise<ControllerRevision | undefined> {
  const name = status?.revision ?? spec.revision;
  if (name === undefined) return Promise.resolve(undefined);
  const found = revisions.get(name) ?? client.find(controllerRevisions, { namespace, name });
  revisions.set(name, found);
  return found;
}
