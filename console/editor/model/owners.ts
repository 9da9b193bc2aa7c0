/** Who wrote what of an object, as its managed fields say it. Pure. */
import type { ManagedField, ObjectMeta } from '../../kube/resources.ts';
import { FIELD_MANAGER } from '../../kube/objects.ts';

/** Writers that do not count: they only note what they are about. */
const isContent = ({ subresource }: ManagedField) => subresource === undefined || subresource === '';

/** Who wrote the object last, its status aside. */
export function whoChanged({ metadata }: { metadata: ObjectMeta }): string {
  const writes = (metadata.managedFields ?? []).filter(isContent);
  const last = writes.toSorted((one, other) => (one.time ?? '').localeCompare(other.time ?? '')).at(-1);
  return last?.manager === FIELD_MANAGER ? 'Someone in the console' : (last?.manager ?? 'Someone');
}

/** Who else owns the field at the path, such as `['spec', 'active']`: by the names that they write under. */
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

/** Who would write the field again: those who apply manifests. */
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
