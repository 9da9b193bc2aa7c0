/**
 * What the operator records in the audit trail. It sees objects and no requests, so that it knows no user but the one that an object
 * names (`requestedBy`). Each line names the field manager of the last change, and the resourceVersion, which finds the request and its user in the
 * audit log of the Kubernetes API.
 */
import { isEnabled } from '../../api/access.ts';
import type { AuditEvent } from '../../api/audit/events.ts';
import type { AuditEntry } from '../../api/audit/line.ts';
import type { Workflow, WorkflowRun } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { OperatorContext } from './context.ts';
import type { Violation } from '../workflow/checks/check.ts';

/** The members of an entry of `managedFields` that are read. */
type ManagedFields = { manager?: string; time?: string; subresource?: string };

/** The operator's own writes are no change by a user. */
const OWN_MANAGER = 'windlass-operator';

/** The object with the last manager alone in its `managedFields`, to save memory. */
export function withLastManager<T extends KubeObject>(object: T): T {
  const { managedFields: _all, ...metadata } = object.metadata;
  const manager = lastManager(object);
  return {
    ...object,
    metadata: { ...metadata, ...(manager !== undefined && { managedFields: [{ manager }] }) },
  };
}

/** The field manager of the last change beside the status, as the client names itself. */
function lastManager({ metadata }: KubeObject): string | undefined {
  const entries = (metadata.managedFields ?? []) as ManagedFields[];
  const others = entries.filter(
    ({ manager, subresource }) => manager !== OWN_MANAGER && subresource === undefined,
  );
  return others.toSorted((a, b) => (a.time ?? '').localeCompare(b.time ?? '')).at(-1)?.manager;
}

/** The fields of a line about an object and its last change. */
function fieldsOf(object: KubeObject): Pick<AuditEntry, 'object' | 'manager' | 'resourceVersion'> {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return { object: { namespace, name, uid }, manager: lastManager(object), resourceVersion };
}

type RouteChange = {
  /** May be that of another workflow. */
  before: RouteSpec | undefined;
  after: RouteSpec;
  violations: readonly Violation[];
};

/** Records that a workflow is suspended or active from now on, or no longer, if its route has changed so. */
export function recordActivation(
  { audit }: OperatorContext,
  workflow: Workflow,
  { before, after, violations }: RouteChange,
): void {
  const own = before?.workflowUID === after.workflowUID ? before : undefined;
  const record = (event: AuditEvent, cause: Cause = {}): void =>
    audit.record({ event, result: 'allowed', ...fieldsOf(workflow), ...cause });
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
export function recordMadePublic({ audit }: OperatorContext, workflow: Workflow, scheme: string): void {
  audit.record({ event: 'webhook.madePublic', result: 'allowed', reason: scheme, ...fieldsOf(workflow) });
}

/** Records each workflow and credential that is deleted from now on. */
export function recordDeletions({ audit, caches }: OperatorContext): void {
  caches.workflows.onChange(({ type, object }) => {
    if (type === 'deleted') audit.record({ event: 'workflow.delete', result: 'allowed', ...goneOf(object) });
  });
  caches.credentials.onChange(({ type, object }) => {
    if (type === 'deleted')
      audit.record({ event: 'credential.delete', result: 'allowed', ...goneOf(object) });
  });
}

/** Who changed it last need not be who deleted it. */
function goneOf(object: KubeObject): Pick<AuditEntry, 'object' | 'resourceVersion'> {
  const { object: named, resourceVersion } = fieldsOf(object);
  return { object: named, resourceVersion };
}

/** Records what became of a run that was created as an object. The workflow is what its line names. */
export function recordSubmission(
  { audit, caches }: OperatorContext,
  run: WorkflowRun,
  result: Pick<AuditEntry, 'result' | 'reason'>,
): void {
  const { workflow: name, requestedBy, retryOf } = run.spec;
  const { namespace } = run.metadata;
  const uid = caches.workflows.get(namespace, name)?.metadata.uid;
  audit.record({
    event: submissionEvent(run),
    ...result,
    ...fieldsOf(run),
    user: userOf(requestedBy),
    object: { namespace, name, uid },
    run: run.metadata.name,
    retryOf,
  });
}

function submissionEvent({ spec }: WorkflowRun): AuditEvent {
  if (spec.retryOf !== undefined) return 'run.retry';
  return spec.test === true ? 'run.test' : 'run.execute';
}

/** Records that a run ends because its object says so, or is deleted. Whoever did that need not be who requested the run. */
export function recordCancel({ audit }: OperatorContext, run: WorkflowRun, reason?: 'deleted'): void {
  const { workflow } = run.spec;
  audit.record({ event: 'run.cancel', result: 'allowed', reason, ...fieldsOf(run), workflow });
}

function userOf(username: string | undefined): AuditEntry['user'] {
  return username === undefined ? undefined : { username };
}
