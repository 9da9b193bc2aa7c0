/** The end of a run that never was in the run store: nobody else would ever write its status. */
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
