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
  /** May be that of another workflow. */
  before: RouteSpec | undefined;
  after: RouteSpec;
  violations: readonly Violation[];
};

/** Records that a workflow is suspended or active from now on, or no longer, if its route has changed so. */
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

/** Where the workflow itself did not change, whoever changed it last is not who did this. */
const NOT_THE_EDITOR = { manager: undefined, resourceVersion: undefined };

/** Why a workflow that should be active no longer is; nothing where its spec says so. */
function causeOfDeactivation(workflow: Workflow, violations: readonly Violation[]): Cause {
  const violation = violations.find(({ trigger }) => trigger) ?? violations[0];
  if (violation === undefined || !isEnabled(workflow.spec)) return {};
  const { reason } = violation;
  return reason === 'AuthRequired' && isUnchanged(workflow) ? { reason, ...NOT_THE_EDITOR } : { reason };
}

/** Nothing where its spec says so; otherwise public webhooks are no longer refused. */
function causeOfActivation(workflow: Workflow): Cause {
  const valid = findCondition(workflow.status?.conditions, 'Valid');
  if (valid?.reason !== 'AuthRequired' || !isUnchanged(workflow)) return {};
  return { reason: 'AuthNoLongerRequired', ...NOT_THE_EDITOR };
}

/** Whether the spec is the one that the status was made from before. */
function isUnchanged({ metadata, status }: Workflow): boolean {
  return status?.observedGeneration === metadata.generation;
}

/** Records that the webhook of a workflow verified its callers by this scheme until now, and is public from now on. */
export function recordMadePublic(
  { audit }: Pick<OperatorContext, 'audit'>,
  workflow: Workflow,
  scheme: string,
): void {
  audit.record({ event: 'webhook.madePublic', result: 'allowed', reason: scheme, ...auditFields(workflow) });
}
