/** The state of the workflow in a few words, from the object's conditions. Pure. */
import type { WorkflowObject } from '../kube/resources.ts';
import { labelOf, settledState, type WorkflowState } from '../workflows/rows.ts';

/** How the saved workflow is. */
export function stateOfWorkflow({ metadata, spec, status }: WorkflowObject): WorkflowState {
  const condition = (type: string) => status?.conditions?.find((other) => other.type === type);
  const ready = condition('Ready');
  const said = ready?.message === undefined || ready.message === '' ? {} : { message: ready.message };
  const reason = ready?.reason ?? 'Pending';
  const suspended = spec.suspend === true;
  if (metadata.deletionTimestamp !== undefined) return { kind: 'leaving', label: 'Being deleted' };
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation)
    return { kind: 'waiting', label: 'Taking effect' };
  if (condition('Stalled')?.status === 'True')
    return { kind: 'attention', label: labelOf(reason, suspended), ...said };
  if (ready?.status === 'True') return settledState(reason, status?.runs?.waiting ?? 0);
  return { kind: 'waiting', label: labelOf(reason, suspended), ...said };
}
