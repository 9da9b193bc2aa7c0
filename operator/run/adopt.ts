/**
 * Gives a WorkflowRun that a person or a program created what the records of runners have: labels that selectors find it by, and its workflow
 * as owner, so that it is deleted with the workflow.
 */
import { API_VERSION, LABEL } from '../../api/group.ts';
import { WORKFLOW, type Workflow, type WorkflowRun } from '../../api/kinds.ts';
import type { OwnerReference } from '../../kube/resource.ts';
import type { OperatorContext } from '../context.ts';
import { workflowRuns } from '../resources.ts';

type Adoption = { labels: Record<string, string>; ownerReferences: OwnerReference[] };

/** The metadata that the run lacks; undefined where it lacks nothing. Owners and labels of others stay. */
export function adoptionOf(
  { metadata, spec }: WorkflowRun,
  { metadata: { name, uid = '' } }: Workflow,
): Adoption | undefined {
  const labels = {
    [LABEL.workflow]: spec.workflow,
    [LABEL.trigger]: spec.trigger?.type ?? 'execute',
    ...(spec.test === true && { [LABEL.test]: 'true' }),
  };
  const owners = metadata.ownerReferences ?? [];
  const isOwned = owners.some((owner) => owner.uid === uid);
  const isLabelled = Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
  if (isOwned && isLabelled) return undefined;
  // An object has one controller at most.
  const isControlled = owners.some((owner) => owner.controller === true);
  const own = { apiVersion: API_VERSION, kind: WORKFLOW.kind, name, uid, controller: !isControlled };
  return {
    labels: { ...metadata.labels, ...labels },
    ownerReferences: isOwned ? owners : [...owners, own],
  };
}

/** Writes what the run lacks. Throws a conflict where somebody changed the run since it was read. */
export async function adopt(
  { client, world }: Pick<OperatorContext, 'client' | 'world'>,
  run: WorkflowRun,
  workflow: Workflow,
): Promise<void> {
  const adoption = adoptionOf(run, workflow);
  if (!adoption) return;
  const { name, namespace = '', uid, resourceVersion } = run.metadata;
  const metadata = { ...adoption, uid, resourceVersion };
  const written = await client.patch<WorkflowRun>(
    workflowRuns,
    { namespace, name },
    { metadata },
    { type: 'merge' },
  );
  world.runs.noteWrite(written);
}
