/** The status of a run that is not in the run store: nobody else would ever write it. */
import type { WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import type { TerminalPhase } from '../../api/run.ts';
import type { OperatorContext } from '../context.ts';
import { workflowRuns } from '../resources.ts';

export type RunEnding = { phase: TerminalPhase; reason: FailureReason; message: string };

/** Writes the end into the status, once: the API server admits no second one. */
export async function endRun(
  { client, world, clock }: Pick<OperatorContext, 'client' | 'world' | 'clock'>,
  run: WorkflowRun,
  { phase, reason, message }: RunEnding,
): Promise<void> {
  const { name, namespace = '', uid } = run.metadata;
  const now = clock.date().toISOString();
  const condition = { type: 'Succeeded', status: 'False' as const, reason, message, lastTransitionTime: now };
  const status = { phase, reason, message, completionTime: now, conditions: [condition] };
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  world.runs.noteWrite(await client.apply(workflowRuns, { metadata, status }, { subresource: 'status' }));
}

/** Says that the run waits, and for what; without a reason it takes back what it waited for. Only before it is submitted. */
export async function tellPending(
  { client, world }: Pick<OperatorContext, 'client' | 'world'>,
  { metadata: { name, namespace = '', uid } }: WorkflowRun,
  why: { reason?: FailureReason; message?: string },
): Promise<void> {
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  const status = { phase: 'Pending' as const, ...why };
  world.runs.noteWrite(await client.apply(workflowRuns, { metadata, status }, { subresource: 'status' }));
}
