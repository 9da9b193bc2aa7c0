/** Lines of the audit trail about workflows that become active, inactive, suspended, or public. */
import { isEnabled } from '../../api/access.ts';
import type { AuditEvent } from '../../api/audit/events.ts';
import type { AuditEntry } from '../../api/audit/line.ts';
import type { Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import { findCondition } from '../../kube/conditions.ts';
import { auditFields } from '../shared/audit.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { Violation } from './checks/check.ts';

type RouteChange = {
  /** It may be the route of another workflow. */
  before: RouteSpec | undefined;
  after: RouteSpec;
  violations: readonly Violation[];
};

/**
 * Records that a workflow was suspended, resumed, activated or deactivated, if its route changed accordingly.
 */
export function recordActivation(
  { audit }: Pick<OperatorContext, 'audit'>,
  workflow: Workflow,
  { before, after, violations }: RouteChange,
): void {
  const own = before?.workflowUID === after.workflowUID ? before : undefined;
  const record = (event: AuditEvent, cause: Cause = {}): void =>
    audit.record({ event, result: 'allowed', ...auditFields(workflow), ...cause });
  const isSuspended = after.suspended === true;
  if ((own?.suspended === true) !== isSuspended) record(isSuspended ? 'workflow.suspend' : 'workflow.resume');
  if ((own?.active === true) === after.active) return;
  if (after.active) record('workflow.activate', causeOfActivation(workflow));
  else record('workflow.deactivate', causeOfDeactivation(workflow, violations));
}

type Cause = Pick<AuditEntry, 'reason' | 'manager' | 'resourceVersion'>;

/** If the workflow itself did not change, its last editor is not the cause. */
const NOT_THE_EDITOR = { manager: undefined, resourceVersion: undefined };

/** Why a workflow that should be active is not; empty if its spec is inactive. */
function causeOfDeactivation(workflow: Workflow, violations: readonly Violation[]): Cause {
  const violation = violations.find(({ trigger }) => trigger) ?? violations[0];
  if (violation === undefined || !isEnabled(workflow.spec)) return {};
  const { reason } = violation;
  return reason === 'AuthRequired' && isUnchanged(workflow) ? { reason, ...NOT_THE_EDITOR } : { reason };
}

/** Empty if the spec was activated; otherwise public webhooks are no longer refused. */
function causeOfActivation(workflow: Workflow): Cause {
  const valid = findCondition(workflow.status?.conditions, 'Valid');
  if (valid?.reason !== 'AuthRequired' || !isUnchanged(workflow)) return {};
  return { reason: 'AuthNoLongerRequired', ...NOT_THE_EDITOR };
}

/** Whether the status is of the current spec. */
function isUnchanged({ metadata, status }: Workflow): boolean {
  return status?.observedGeneration === metadata.generation;
}

/** Records that a webhook that verified its callers by this scheme became public. */
export function recordMadePublic(
  { audit }: Pick<OperatorContext, 'audit'>,
  workflow: Workflow,
  scheme: string,
): void {
  audit.record({ event: 'webhook.madePublic', result: 'allowed', reason: scheme, ...auditFields(workflow) });
}
