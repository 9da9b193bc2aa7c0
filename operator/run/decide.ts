/** What is to be done about a WorkflowRun that somebody made as an object. Pure. */
import { ANNOTATION } from '../../api/group.ts';
import type { WebhookRoute, Workflow, WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import { isTerminal } from '../../api/phase.ts';
import { findCondition } from '../../kube/conditions.ts';

/** Objects of one manifest may arrive in any order: this long a run waits for its workflow, in milliseconds. */
export const PATIENCE_MS = 30_000;

export type Decision =
  | { kind: 'submit'; route: WebhookRoute }
  | { kind: 'wait' }
  | { kind: 'fail'; reason: FailureReason; message: string };

/** Whether the run was made by a person or a program, and nobody has taken it up yet. */
export function isNew({ metadata, status }: WorkflowRun): boolean {
  // What the operator says while it waits has no sequence; what a runner recorded always has.
  const isTaken =
    status?.phase !== undefined && (status.phase !== 'Pending' || status.sequence !== undefined);
  return !isTaken && metadata.annotations?.[ANNOTATION.recorded] === undefined;
}

/** Whether somebody wants the run cancelled and it has not ended. */
export function isToBeCancelled({ spec, status }: WorkflowRun): boolean {
  return spec.cancel === true && !isTerminal(status?.phase);
}

/** What becomes of a new run. `waitedMs`: since the operator first saw it. */
export function decide(
  run: WorkflowRun,
  workflow: Workflow | undefined,
  route: WebhookRoute | undefined,
  waitedMs: number,
): Decision {
  const { workflow: name, test = false } = run.spec;
  if (workflow?.spec.suspend) return { kind: 'fail', ...suspended(name) };
  const isOwn = route !== undefined && route.spec.workflowUID === workflow?.metadata.uid;
  // The route of a workflow that was resumed just now may still say that it is suspended: the run waits for the new one.
  const isOpen = isOwn && route.spec.suspended !== true && (route.spec.active || test);
  if (isOpen) return { kind: 'submit', route };
  if (workflow && !workflow.spec.active && !test) {
    const message = `Workflow ${name} is inactive: set spec.active to true, or create the run with spec.test: true.`;
    return { kind: 'fail', reason: 'WorkflowInactive', message };
  }
  return waitedMs < PATIENCE_MS ? { kind: 'wait' } : afterPatience(name, workflow);
}

function afterPatience(name: string, workflow: Workflow | undefined): Decision {
  if (!workflow) {
    const message = `There is no workflow ${name} in this namespace: apply it, then create a new WorkflowRun.`;
    return { kind: 'fail', reason: 'WorkflowMissing', message };
  }
  // One that nobody has looked at yet, or whose revision cannot be stored now, is not to blame.
  const problem = foundInvalid(workflow);
  if (problem === undefined) return { kind: 'wait' };
  const message = `Workflow ${name} is not in effect (${problem}): see its conditions with kubectl describe workflows.windlass.dev ${name}`;
  return { kind: 'fail', reason: 'WorkflowInvalid', message };
}

/** The end of a run that a suspended workflow refuses. */
export function suspended(workflow: string): { reason: FailureReason; message: string } {
  const message = `Workflow ${workflow} is suspended: set spec.suspend to false, then create a new WorkflowRun.`;
  return { reason: 'Suspended', message };
}

/** Why the spec as it is now is invalid, if the operator found that. */
function foundInvalid({ status, metadata: { generation } }: Workflow): string | undefined {
  const valid = findCondition(status?.conditions, 'Valid');
  return valid?.status === 'False' && valid.observedGeneration === generation ? valid.reason : undefined;
}
