/**
 * What the operator records in the audit trail. It sees objects and no requests, so the only user that it
 * knows is the one that an object names (`requestedBy`). Each line names the field manager of the last
 * change, and the resourceVersion, which finds the request and its user in the audit log of the Kubernetes
 * API.
 */
import type { AuditEntry } from '../../api/audit/line.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { lastManager } from './cachedObjects.ts';
import type { OperatorContext } from './context.ts';

/** The fields of a line about an object and its last change. */
export function auditFields(object: KubeObject): Pick<AuditEntry, 'object' | 'manager' | 'resourceVersion'> {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return { object: { namespace, name, uid }, manager: lastManager(object), resourceVersion };
}

/** Records each workflow and credential that is deleted from now on. */
export function recordDeletions({ audit, caches }: Pick<OperatorContext, 'audit' | 'caches'>): void {
  caches.workflows.onChange(({ type, object }) => {
    if (type === 'deleted')
      audit.record({ event: 'workflow.delete', result: 'allowed', ...deletedFields(object) });
  });
  caches.credentials.onChange(({ type, object }) => {
    if (type === 'deleted')
      audit.record({ event: 'credential.delete', result: 'allowed', ...deletedFields(object) });
  });
}

/** The user who deleted it is unknown. */
function deletedFields(object: KubeObject): Pick<AuditEntry, 'object' | 'resourceVersion'> {
  const { object: named, resourceVersion } = auditFields(object);
  return { object: named, resourceVersion };
}
