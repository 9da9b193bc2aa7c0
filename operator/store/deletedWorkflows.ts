/** Tells the run store which workflows were deleted. */
import { projectOf } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { ProjectStore } from './types.ts';

/**
 * Notes every workflow that is deleted from now on. Its route may already be gone, and events may have been accepted until then: both
 * objects identify the workflow. Call it before projects are watched, which keep their runners until the runs of deleted workflows have ended.
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
