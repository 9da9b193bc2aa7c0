/**
 * Deletes the runs of deleted workflows, and reports the progress in Events, since the workflow and its
 * status no longer exist.
 */
import { API_VERSION } from '../../api/group.ts';
import { WORKFLOW } from '../../api/kinds.ts';
import { sleep } from '../../kube/clock.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { type Caches, projectOf } from '../shared/caches.ts';
import type { StoreChanges } from './changes.ts';
import type { DeletionProgress } from './workflowDeletion.ts';
import type { ProjectStore } from './types.ts';

/** The delay after which an unavailable run store is asked again for unfinished deletions. */
const AGAIN_MS = 5_000;
/** A shorter deletion causes no Event. */
const REPORTED_S = 10;

type DeletionContext = Pick<OperatorContext, 'caches' | 'events' | 'log' | 'clock'> & {
  store: Pick<ProjectStore, 'deletions'>;
  storeChanges: Pick<StoreChanges, 'project'>;
};

/** Deletes runs until the signal is aborted, first those that an earlier operator began to delete. */
export async function deleteRuns(context: DeletionContext, signal: AbortSignal): Promise<void> {
  const { store, storeChanges, caches, events, log } = context;
  const report = (progress: DeletionProgress, message: string, note: string): void => {
    const { name, left, total, seconds } = progress;
    const workflow = goneWorkflow(caches, progress);
    const { namespace } = workflow.metadata;
    log.info({ namespace, workflow: name, total, left, seconds: Math.round(seconds) }, message);
    if (namespace === undefined || name === '' || seconds < REPORTED_S) return;
    events.record(workflow, { type: 'Normal', reason: 'DeletingRuns', action: 'Delete', note });
  };
  const onProgress = (progress: DeletionProgress): void =>
    report(progress, 'deleting runs of a deleted workflow', progressNote(progress));
  const onEnd = (progress: DeletionProgress): void => {
    if (progress.total > 0) report(progress, 'deleted runs of a deleted workflow', endNote(progress));
    const { namespace } = goneWorkflow(caches, progress).metadata;
    if (namespace !== undefined) storeChanges.project.notify(namespace);
  };
  await Promise.all([resume(context, signal), store.deletions.run({ log, onProgress, onEnd }, signal)]);
}

async function resume({ store, caches, clock }: DeletionContext, signal: AbortSignal): Promise<void> {
  for (const { metadata } of caches.namespaces.list()) {
    const { uid: project } = metadata;
    if (project === undefined) continue;
    while (!signal.aborted && !(await store.deletions.resume(project))) await sleep(AGAIN_MS, signal, clock);
  }
}

function goneWorkflow({ namespaces }: Pick<Caches, 'namespaces'>, progress: DeletionProgress): KubeObject {
  const { project, workflowUid: uid, name } = progress;
  const namespace = namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata.name;
  return {
    apiVersion: API_VERSION,
    kind: WORKFLOW.kind,
    metadata: { name, uid, ...(namespace !== undefined && { namespace }) },
  };
}

/** The progress of a deletion, in a sentence. */
export function progressNote({ name, left, total, running }: DeletionProgress): string {
  const begin = `Workflow ${name} was deleted: ${count(left)} of its ${count(total)} runs are left to be cancelled.`;
  if (running < left || left === 0) return begin;
  return `${begin} Runners execute them and were asked to stop. If a runner is gone, another one must start first.`;
}

function endNote({ name, total, seconds }: DeletionProgress): string {
  return `Workflow ${name} was deleted: its ${count(total)} runs were cancelled in ${Math.round(seconds)} s.`;
}

function count(runs: number): string {
  return runs.toLocaleString('en-US');
}

/**
 * Notes every workflow that is deleted from now on. Its route may already be gone, and events may have been
 * accepted until then: both objects identify the workflow. Call it before projects are watched, which keep
 * their runners until the runs of deleted workflows have ended.
 */
export function noteDeletedWorkflows({
  caches,
  store,
}: Pick<OperatorContext, 'caches'> & { store: Pick<ProjectStore, 'noteDeleted'> }): void {
  caches.workflows.onChange(({ type, object: { metadata } }) => {
    const project = projectOf(caches, metadata.namespace);
    const { uid: workflowUid = '', name } = metadata;
    if (type === 'deleted' && project !== undefined) store.noteDeleted({ project, workflowUid, name });
  });
  caches.routes.onChange(({ type, object: { metadata, spec } }) => {
    const workflow = caches.workflows.get(metadata.namespace, spec.workflow);
    // The operator restores a route that somebody deleted, and its runs continue.
    const isDeleted = type === 'deleted' && workflow?.metadata.uid !== spec.workflowUID;
    const { projectUID: project, workflowUID: workflowUid, workflow: name } = spec;
    // A deleted namespace takes everything with it.
    const isOpen = projectOf(caches, metadata.namespace) === project;
    if (isDeleted && isOpen) store.noteDeleted({ project, workflowUid, name });
  });
}
