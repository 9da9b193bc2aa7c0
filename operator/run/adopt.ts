/**
 * Adds the labels and the owner of records to a WorkflowRun that a person or a program created, so that
 * selectors find it and it is deleted with its workflow.
 */
import { API_VERSION, LABEL } from '../../api/group.ts';
import { EVALUATION, WORKFLOW, type Workflow, type WorkflowRun } from '../../api/kinds.ts';
import { unlessDeleted } from '../../kube/deleted.ts';
import { ApiError, isConflict } from '../../kube/errors.ts';
import type { OwnerReference } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { workflowRuns } from '../shared/resources.ts';

const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;

type Adoption = { labels: Record<string, string>; ownerReferences: OwnerReference[] };

/**
 * The missing metadata; undefined if none is missing. Other owners and labels stay. A trigger type that is
 * not a valid label value gets no label: `spec.trigger.type` is free text. A run of an Evaluation is deleted
 * with that, so it gets no other owner.
 */
export function adoptionOf(
  { metadata, spec }: WorkflowRun,
  { metadata: { name, uid = '' } }: Workflow,
): Adoption | undefined {
  const trigger = spec.trigger?.type ?? 'execute';
  const labels = {
    [LABEL.workflow]: spec.workflow,
    ...(LABEL_VALUE.test(trigger) && { [LABEL.trigger]: trigger }),
    ...(spec.test === true && { [LABEL.test]: 'true' }),
  };
  const owners = metadata.ownerReferences ?? [];
  const isOwned = owners.some((owner) => owner.uid === uid || owner.kind === EVALUATION.kind);
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

/**
 * Writes the missing metadata. The run is executed even without it: if the API server refuses the write, for
 * example by a policy on labels, the operator logs it. Throws a conflict if the run was changed, and a
 * DeletedError if it was deleted since it was read.
 */
export async function adopt(
  context: Pick<OperatorContext, 'client' | 'caches' | 'log'>,
  run: WorkflowRun,
  workflow: Workflow,
): Promise<void> {
  const adoption = adoptionOf(run, workflow);
  if (!adoption) return;
  try {
    await writeMetadata(context, run, adoption);
  } catch (error) {
    if (!(error instanceof ApiError) || isConflict(error)) throw error;
    const { name, namespace } = run.metadata;
    context.log.warn({ namespace, run: name, err: error }, 'cannot adopt run');
  }
}

async function writeMetadata(
  { client, caches }: Pick<OperatorContext, 'client' | 'caches'>,
  run: WorkflowRun,
  adoption: Adoption,
): Promise<void> {
  const { name, namespace = '', uid, resourceVersion } = run.metadata;
  const metadata = { ...adoption, uid, resourceVersion };
  const write = client.patch<WorkflowRun>(workflowRuns, { namespace, name }, { metadata }, { type: 'merge' });
  const written = await unlessDeleted(workflowRuns, name, write);
  caches.runs.noteWrite(written);
}
