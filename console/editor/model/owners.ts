/** Owners of fields of an object, by its managed fields. Pure. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { ManagedField, ObjectMeta } from '../../kube/resources.ts';
import { FIELD_MANAGER } from '../../kube/objects.ts';

/** Writes to subresources do not change the content. */
const isContent = ({ subresource }: ManagedField) => subresource === undefined || subresource === '';

/** Who wrote the object last, except its status. */
export function whoChanged({ metadata }: { metadata: ObjectMeta }): string {
  const writes = (metadata.managedFields ?? []).filter(isContent);
  const last = writes.toSorted((one, other) => (one.time ?? '').localeCompare(other.time ?? '')).at(-1);
  if (last?.manager === FIELD_MANAGER) return 'Someone in the console';
  return last?.manager?.startsWith('kubectl') === true
    ? 'Someone with kubectl'
    : (last?.manager ?? 'Someone');
}

/** The other managers that own the field at the path, such as `['spec', 'active']`. */
function ownersOf({ managedFields = [] }: ObjectMeta, path: readonly string[]): string[] {
  const owners = managedFields.filter(
    (entry) => isContent(entry) && entry.manager !== FIELD_MANAGER && hasField(entry.fieldsV1, path),
  );
  return [...new Set(owners.flatMap(({ manager }) => (manager === undefined ? [] : [manager])))].toSorted();
}

function hasField(fields: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  if (typeof fields !== 'object' || fields === null) return false;
  const inner = (fields as Record<string, unknown>)[`f:${first}`];
  return inner !== undefined && hasField(inner, rest);
}

/** The managers that apply manifests and would revert the field. */
export function appliersOf(
  { managedFields = [], ...metadata }: ObjectMeta,
  path: readonly string[],
): string[] {
  const applied = managedFields.filter(
    ({ operation, manager = '' }) =>
      operation === 'Apply' || /apply|controller|argocd|flux|helm/i.test(manager),
  );
  return ownersOf({ ...metadata, managedFields: applied }, path);
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The managers that applied a manifest without `spec.edges`, if the draft needs edges. The next apply of that
 * manifest restores the nodes but keeps the edges, and the API server refuses edges that name missing nodes.
 */
export function appliersWithoutEdges(
  metadata: ObjectMeta,
  saved: Pick<WorkflowSpec, 'edges'>,
  draft: Pick<WorkflowSpec, 'edges'>,
): string[] {
  if (draft.edges === undefined) return [];
  const manifest = lastApplied(metadata) ?? { spec: saved };
  return manifest.spec?.edges === undefined ? appliersOf(metadata, ['spec']) : [];
}

/** The manifest that `kubectl apply` stored in an annotation. The console does not change it. */
function lastApplied({ annotations }: ObjectMeta): { spec?: Partial<WorkflowSpec> } | undefined {
  try {
    return (JSON.parse(annotations?.[LAST_APPLIED] ?? 'null') as { spec?: object } | null) ?? undefined;
  } catch {
    return undefined;
  }
}
