/** What to do with a WorkflowRun that was created as an object. Pure. */
import { ANNOTATION } from '../../api/group.ts';
import type { WebhookRoute, Workflow, WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import { isTerminal } from '../../api/phase.ts';
import { findCondition } from '../../kube/conditions.ts';

/**
 * Objects of one manifest may arrive in any order: a run waits this long for its workflow, in milliseconds.
 */
export const PATIENCE_MS = 30_000;

/** The same for a workflow whose current spec was found invalid: its correction may be on the way. */
export const INVALID_PATIENCE_MS = 5_000;

export type Decision =
  | { kind: 'submit'; route: WebhookRoute }
  | { kind: 'wait'; reason?: FailureReason; message?: string }
  | { kind: 'fail'; reason: FailureReason; message: string };

/** Whether the run was created as an object, and is not submitted yet. */
export function isNew({ metadata, status }: WorkflowRun): boolean {
  // A status of the operator has no sequence; one of a runner always has.
  const isSubmitted =
    status?.phase !== undefined && (status.phase !== 'Pending' || status.sequence !== undefined);
  return !isSubmitted && metadata.annotations?.[ANNOTATION.recorded] === undefined;
}

/** Whether the unfinished run is to be cancelled. */
export function isToBeCancelled({ spec, status }: WorkflowRun): boolean {
  return spec.cancel === true && !isTerminal(status?.phase);
}

/** Decides about a new run. `waitedMs`: since the operator first saw it. */
export function decide(
  run: WorkflowRun,
  workflow: Workflow | undefined,
  route: WebhookRoute | undefined,
  waitedMs: number,
): Decision {
  const { workflow: name, test = false } = run.spec;
  if (workflow?.spec.suspend) return { kind: 'fail', ...suspended(name) };
  const isOwn = route !== undefined && route.spec.workflowUID === workflow?.metadata.uid;
  // After a resume, the route may still be suspended for a moment: the run waits for the new route.
  const isOpen = isOwn && route.spec.suspended !== true && (route.spec.active || test);
  if (isOpen) return { kind: 'submit', route };
  if (workflow && !workflow.spec.active && !test) {
    const message = `Workflow ${name} is inactive: set spec.active to true, or create the run with spec.test: true.`;
    return { kind: 'fail', reason: 'WorkflowInactive', message };
  }
  return workflow ? whileNotServed(workflow, waitedMs) : whileMissing(name, waitedMs);
}

function whileMissing(name: string, waitedMs: number): Decision {
  const isOver = waitedMs >= PATIENCE_MS;
  const message = `Workflow ${name} does not exist in this namespace${isOver ? ': apply it, then create a new WorkflowRun.' : ' yet: apply it.'}`;
  return { kind: isOver ? 'fail' : 'wait', reason: 'WorkflowMissing', message };
}

/** The workflow may not be reconciled yet, or its revision cannot be stored now: then the run waits. */
function whileNotServed(workflow: Workflow, waitedMs: number): Decision {
  const { name } = workflow.metadata;
  const problem = foundInvalid(workflow);
  if (problem === undefined) return { kind: 'wait' };
  const message = `Workflow ${name} is not in effect (${problem}): see its conditions with kubectl describe workflows.windlass.dev ${name}`;
  const kind = waitedMs < INVALID_PATIENCE_MS ? 'wait' : 'fail';
  return { kind, reason: 'WorkflowInvalid', message };
}

/** Why a suspended workflow refuses a run. */
export function suspended(workflow: string): { reason: FailureReason; message: string } {
  const message = `Workflow ${workflow} is suspended: set spec.suspend to false, then create a new WorkflowRun.`;
  return { reason: 'Suspended', message };
}

/** The reason for which the current spec is invalid, if the operator has found one. */
function foundInvalid({ status, metadata: { generation } }: Workflow): string | undefined {
  const valid = findCondition(status?.conditions, 'Valid');
  return valid?.status === 'False' && valid.observedGeneration === generation ? valid.reason : undefined;
}
