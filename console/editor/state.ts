/** The state of the workflow in a few words, from the object's conditions. Pure. */
import type { WorkflowObject } from '../kube/resources.ts';
import { stateFrom, type WorkflowState } from '../workflows/items.ts';

/** How the saved workflow is. */
export function stateOfWorkflow({ metadata, spec, status }: WorkflowObject): WorkflowState {
  const condition = (type: string) => status?.conditions?.find((other) => other.type === type);
  if (metadata.deletionTimestamp !== undefined) return { kind: 'leaving', label: 'Being deleted' };
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation)
    return { kind: 'waiting', label: 'Taking effect' };
  const { status: isReady, reason, message = '' } = condition('Ready') ?? {};
  return stateFrom({
    reason,
    message: message === '' ? undefined : message,
    ready: isReady,
    isStalled: condition('Stalled')?.status === 'True',
    suspended: spec.suspend === true,
    waiting: status?.runs?.waiting ?? 0,
  });
}
