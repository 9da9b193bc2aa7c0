/** Whether a test run that is started now executes what was saved: when every gateway replica serves that revision. */
import type { WorkflowObject } from '../../kube/resources.ts';

export type Served = { kind: 'served' } | { kind: 'waits' | 'refused'; why: string };

/** What the status says of a generation of the spec. */
export function servedState({ status }: Pick<WorkflowObject, 'status'>, generation: number): Served {
  const { observedGeneration = 0, conditions = [] } = status ?? {};
  const routed = conditions.find(({ type }) => type === 'Routed');
  if (routed === undefined || Math.min(observedGeneration, routed.observedGeneration ?? 0) < generation)
    return { kind: 'waits', why: 'The operator has not processed the change yet.' };
  // Of a bot that another workflow has only the messages go elsewhere.
  if (routed.status === 'True' || routed.reason === 'BotTaken') return { kind: 'served' };
  if (routed.reason !== 'InvalidSpec') return { kind: 'waits', why: routed.message };
  const valid = conditions.find(({ type }) => type === 'Valid');
  return { kind: 'refused', why: valid?.message ?? routed.message };
}
