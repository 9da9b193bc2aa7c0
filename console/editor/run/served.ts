/** Whether test runs execute the published version: every gateway replica serves that revision. Pure. */
import type { WorkflowObject } from '../../kube/resources.ts';

export type Served = { kind: 'served' } | { kind: 'waits' | 'refused'; why: string };

/** Whether the generation is served, by the status. */
export function servedState({ status }: Pick<WorkflowObject, 'status'>, generation: number): Served {
  const { observedGeneration = 0, conditions = [] } = status ?? {};
  const routed = conditions.find(({ type }) => type === 'Routed');
  if (routed === undefined || Math.min(observedGeneration, routed.observedGeneration ?? 0) < generation)
    return { kind: 'waits', why: 'The operator has not processed the change yet.' };
  // A bot that belongs to another workflow only receives no messages; test runs work.
  if (routed.status === 'True' || routed.reason === 'BotTaken') return { kind: 'served' };
  if (routed.reason !== 'InvalidSpec') return { kind: 'waits', why: routed.message };
  const valid = conditions.find(({ type }) => type === 'Valid');
  return { kind: 'refused', why: valid?.message ?? routed.message };
}

/** Whether the operator found what is published now not valid, so that it is not in effect. */
export function isInvalid(workflow: Pick<WorkflowObject, 'metadata' | 'status'>): boolean {
  return servedState(workflow, workflow.metadata.generation ?? 0).kind === 'refused';
}
