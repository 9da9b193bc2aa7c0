/** What a workflow that starts no runs has to lose before its route is looked at: neither needs a valid spec, or the other. */
import { isEnabled } from '../../api/access.ts';
import type { Workflow } from '../../api/kinds.ts';
import { keyOf } from '../../kube/controller.ts';
import type { OperatorContext } from '../shared/context.ts';
import { deleteSchedule } from '../schedule/ensure.ts';
import type { ProjectStore } from '../store/types.ts';
import { limitsOf } from '../store/limits.ts';

/**
 * Sets the suspension in the run store, and removes the CronJob of a workflow that is inactive or suspended. Tries both, whatever
 * becomes of the other, and throws the first error. An unreachable run store is no error: the steps that follow report it.
 */
export async function switchOff(
  context: OperatorContext & { store: Pick<ProjectStore, 'putLimits'> },
  workflow: Workflow,
  { projectUid, isServed }: { projectUid: string; isServed: boolean },
): Promise<void> {
  const { spec } = workflow;
  const steps: Promise<unknown>[] = [];
  if (spec.suspend === true && isServed) steps.push(context.store.putLimits(projectUid, limitsOf(workflow)));
  if (!isEnabled(spec)) steps.push(deleteSchedule(context, keyOf(workflow)));
  const failed = (await Promise.allSettled(steps)).find((step) => step.status === 'rejected');
  if (failed) throw failed.reason;
}
