/** The status of a run that is not in the run store: nobody else would ever write it. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { FAILURES, type FailureReason } from '../../api/reasons.ts';
import type { TerminalPhase } from '../../api/phase.ts';
import type { NodeStatus } from '../../api/run.ts';
import type { OperatorContext } from '../shared/context.ts';
import { workflowRuns } from '../shared/resources.ts';

export type RunEnding = {
  phase: TerminalPhase;
  reason: string;
  message: string;
  /** When it ended, in milliseconds since 1970; left out: now. */
  endedAt?: number;
  /** Whether the effect of the node with this id may be repeated. */
  isRepeatable?: (node: string) => boolean;
};

/**
 * Writes the end into the status, once: the API server admits no second one. A node that had begun may have had its effect: it is
 * `Unknown`, unless `isRepeatable` says that it could have been done again.
 */
export async function endRun(
  { client, caches, clock }: Pick<OperatorContext, 'client' | 'caches' | 'clock'>,
  run: WorkflowRun,
  { phase, reason, message, endedAt, isRepeatable = () => false }: RunEnding,
): Promise<void> {
  const { name, namespace = '', uid } = run.metadata;
  const time = (endedAt === undefined ? clock.date() : new Date(endedAt)).toISOString();
  const status = phase === 'Succeeded' ? ('True' as const) : ('False' as const);
  const condition = { type: 'Succeeded', status, reason, message, lastTransitionTime: time };
  const nodes = run.status?.nodes?.map((node) => settled(node, phase, isRepeatable(node.id)));
  const end = { phase, reason, message, completionTime: time, conditions: [condition] };
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  const manifest = { metadata, status: { ...end, ...(nodes && { nodes }) } };
  caches.runs.noteWrite(await client.apply(workflowRuns, manifest, { subresource: 'status' }));
}

/** No node goes on in a run that has ended. */
function settled(node: NodeStatus, end: TerminalPhase, isRepeatable: boolean): NodeStatus {
  if (node.phase === 'Running' && !isRepeatable) {
    return { ...node, phase: 'Unknown', reason: 'EffectUnknown', message: FAILURES.EffectUnknown.meaning };
  }
  const isOpen = node.phase === 'Running' || node.phase === 'Waiting' || node.phase === 'Pending';
  return isOpen ? { ...node, phase: end === 'Cancelled' ? 'Cancelled' : 'Failed' } : node;
}

/** Says that the run waits, and for what; without a reason it takes back what it waited for. Only before it is submitted. */
export async function tellPending(
  { client, caches }: Pick<OperatorContext, 'client' | 'caches'>,
  { metadata: { name, namespace = '', uid } }: WorkflowRun,
  why: { reason?: FailureReason; message?: string },
): Promise<void> {
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  const status = { phase: 'Pending' as const, ...why };
  caches.runs.noteWrite(await client.apply(workflowRuns, { metadata, status }, { subresource: 'status' }));
}
