/** Writes the status of runs that are not in the run store, which no runner writes. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { FAILURES, type FailureReason } from '../../api/reasons.ts';
import type { TerminalPhase } from '../../api/phase.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import type { RunStatus } from '../../api/run.ts';
import type { OperatorContext } from '../shared/context.ts';
import { applyStatus } from '../shared/status.ts';

export type RunEnding = {
  phase: TerminalPhase;
  reason: string;
  message: string;
  /** In milliseconds since 1970; left out: now. */
  endedAt?: number;
  /** Whether the effect of the node with this id may be repeated. */
  isRepeatable?: (node: string) => boolean;
};

/**
 * Writes the end into the status, once: the API server admits no second one. A node that had begun may have
 * had its effect: it becomes `Unknown` unless its effect may be repeated.
 */
export async function endRun(
  { client, caches, clock }: Pick<OperatorContext, 'client' | 'caches' | 'clock'>,
  run: WorkflowRun,
  { phase, reason, message, endedAt, isRepeatable = () => false }: RunEnding,
): Promise<void> {
  const time = (endedAt === undefined ? clock.date() : new Date(endedAt)).toISOString();
  const status = phase === 'Succeeded' ? ('True' as const) : ('False' as const);
  const condition = { type: 'Succeeded', status, reason, message, lastTransitionTime: time };
  const nodes = run.status?.nodes?.map((node) => settled(node, { phase, time }, isRepeatable(node.id)));
  const end = { phase, reason, message, completionTime: time, conditions: [condition] };
  await applyStatus({ client }, caches.runs, run, { ...end, ...(nodes && { nodes }) });
}

/** In an ended run, no node is unfinished. */
function settled(
  node: NodeStatus,
  { phase, time }: { phase: TerminalPhase; time: string },
  isRepeatable: boolean,
): NodeStatus {
  const isOpen = node.phase === 'Running' || node.phase === 'Waiting' || node.phase === 'Pending';
  if (!isOpen) return node;
  const ended = { ...node, completionTime: time };
  if (node.phase === 'Running' && !isRepeatable)
    return { ...ended, phase: 'Unknown', reason: 'EffectUnknown', message: FAILURES.EffectUnknown.meaning };
  return { ...ended, phase: phase === 'Cancelled' ? 'Cancelled' : 'Failed' };
}

/**
 * Writes that the run is pending, and what it waits for; without a reason, removes the earlier one. Only
 * before it is submitted.
 */
export async function writePending(
  { client, caches }: Pick<OperatorContext, 'client' | 'caches'>,
  run: WorkflowRun,
  why: { reason?: FailureReason; message?: string; listening?: RunStatus['listening'] },
): Promise<void> {
  await applyStatus({ client }, caches.runs, run, { phase: 'Pending', ...why });
}
