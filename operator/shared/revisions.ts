/** The revisions of workflows: owner, activation, and use by runs. Pure. */
import { ANNOTATION, GROUP } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import type { Revision } from '../../api/revision.ts';
import { isMarkedAsDraft } from '../../api/version.ts';
import { controllerOf, type KubeObject } from '../../kube/resource.ts';

export type NamedRevision = { name: string; revision: Revision };

/**
 * Whether the workflow with this uid owns the revision. The API group counts, too: the admission policy lets
 * only the operator write objects with an owner of that group, and anybody could name the uid with another
 * one.
 */
export function isRevisionOf(revision: KubeObject, workflowUid: string | undefined): boolean {
  const owner = controllerOf(revision);
  return owner?.uid === workflowUid && owner?.apiVersion.startsWith(`${GROUP}/`) === true;
}

/** Whether the revision was ever that of an active workflow. */
export function wasActivated({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION.activated] !== undefined;
}

/** Whether the revision was made of a draft that was neither published in the console nor active since. */
export function isOfDraft({ metadata }: KubeObject): boolean {
  return isMarkedAsDraft(metadata.annotations);
}

/** The names of the revisions that unfinished runs execute or will execute. */
export function revisionsInUse(runs: readonly WorkflowRun[]): Set<string> {
  const open = runs.filter((run) => !isTerminal(run.status?.phase));
  return new Set(
    open.flatMap((run) => [run.status?.revision, run.spec.revision].filter((name) => name !== undefined)),
  );
}
