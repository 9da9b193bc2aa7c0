/**
 * Reduces objects before they are cached: no payload, and of runs, revisions and namespaces only the fields
 * that decisions need. Pure.
 */
import { ANNOTATION, LABEL } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { ControllerRevision, KubeObject, Namespace } from '../../kube/resource.ts';
import { credentialsOfRevision } from './credentialRefs.ts';

export function withoutPayload(run: WorkflowRun): WorkflowRun {
  const { input: _input, mocks: _mocks, draft: _draft, ...spec } = run.spec;
  const { phase, sequence, completionTime, revision } = run.status ?? {};
  const status = {
    ...(phase !== undefined && { phase }),
    ...(sequence !== undefined && { sequence }),
    ...(completionTime !== undefined && { completionTime }),
    ...(revision !== undefined && { revision }),
  };
  return { ...run, metadata: withoutManagedFields(run.metadata), spec, status };
}

/** The revision with the names of its credentials as its only data. */
export function withCredentialsAlone(revision: ControllerRevision): ControllerRevision {
  const { data, metadata, ...rest } = revision;
  const { [ANNOTATION.spec]: _spec, ...annotations } = metadata.annotations ?? {};
  return {
    ...rest,
    metadata: withoutManagedFields({ ...metadata, annotations }),
    data: credentialsOfRevision(data),
  };
}

/** The metadata that decisions need, with one label and the annotations of budgets. */
export function metadataOnly(namespace: Namespace): Namespace {
  const { apiVersion, kind, metadata } = namespace;
  const { name, uid, resourceVersion, deletionTimestamp, labels } = metadata;
  const budgets = budgetAnnotations(metadata.annotations);
  const requireAuth = labels?.[LABEL.requireAuth];
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(requireAuth !== undefined && { labels: { [LABEL.requireAuth]: requireAuth } }),
      ...(budgets && { annotations: budgets }),
    },
  };
}

function budgetAnnotations(annotations: Record<string, string> = {}): Record<string, string> | undefined {
  const names: string[] = [ANNOTATION.budgetTokens, ANNOTATION.budgetCost];
  const found = Object.entries(annotations).filter(([name]) => names.includes(name));
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

function withoutManagedFields<Metadata extends object>(metadata: Metadata): Metadata {
  return { ...metadata, managedFields: undefined };
}

/** The fields of `managedFields` entries that are used. */
type ManagedFields = { manager?: string; time?: string; subresource?: string };

/** The operator's own writes are not changes by a user. */
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

/** The field manager of the last change outside the status. */
export function lastManager({ metadata }: KubeObject): string | undefined {
  const entries = (metadata.managedFields ?? []) as ManagedFields[];
  const others = entries.filter(
    ({ manager, subresource }) => manager !== OWN_MANAGER && subresource === undefined,
  );
  return others.toSorted((a, b) => (a.time ?? '').localeCompare(b.time ?? '')).at(-1)?.manager;
}
