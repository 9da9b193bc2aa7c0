/** A trigger whose interval keeps the runners of its project awake, although they may sleep. Pure. */
import { isEnabled } from '../../../api/access.ts';
import { kindOf, type WorkflowSpec } from '../../../api/workflow.ts';
import { isPolled } from '../../../nodes/pollers.ts';
import { arePolledOften, LEAST_ASLEEP_SECONDS } from '../../poll/period.ts';
import { pollIntervalOf } from '../../poll/trigger.ts';

/** A sentence for the polled trigger of an active workflow. `sleepAfterMs`: of the project, 0 for never. */
export function sleepNotes(spec: WorkflowSpec, sleepAfterMs: number): string[] {
  if (sleepAfterMs === 0 || !isEnabled(spec)) return [];
  const seconds = pollIntervalOf(spec);
  if (!arePolledOften([seconds])) return [];
  return spec.nodes.flatMap((node) => {
    const kind = kindOf(node);
    if (!isPolled(kind)) return [];
    return [
      `node ${node.id}: ${kind}.pollIntervalSeconds: the runners of the project do not sleep while they poll every ${seconds} s: set ${LEAST_ASLEEP_SECONDS} or more to let them sleep.`,
    ];
  });
}
