/** Lines of the audit trail about runs that were created, or cancelled, as objects. */
import type { AuditEvent } from '../../api/audit/events.ts';
import type { AuditEntry } from '../../api/audit/line.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { auditFields } from '../shared/audit.ts';
import type { OperatorContext } from '../shared/context.ts';

/** Records the result for a run that was created as an object. The object of the line is its workflow. */
export function recordSubmission(
  { audit, caches }: Pick<OperatorContext, 'audit' | 'caches'>,
  run: WorkflowRun,
  result: Pick<AuditEntry, 'result' | 'reason'>,
): void {
  const { workflow: name, requestedBy, retryOf } = run.spec;
  const { namespace } = run.metadata;
  const uid = caches.workflows.get(namespace, name)?.metadata.uid;
  audit.record({
    event: submissionEvent(run),
    ...result,
    ...auditFields(run),
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

/**
 * Records that a run is cancelled by its object, or because the object was deleted. The user who did it is
 * unknown.
 */
export function recordCancel(
  { audit }: Pick<OperatorContext, 'audit'>,
  run: WorkflowRun,
  reason?: 'deleted',
): void {
  const { workflow } = run.spec;
  audit.record({ event: 'run.cancel', result: 'allowed', reason, ...auditFields(run), workflow });
}

function userOf(username: string | undefined): AuditEntry['user'] {
  return username === undefined ? undefined : { username };
}
