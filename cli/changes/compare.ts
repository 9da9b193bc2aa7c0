/** What applying one set of manifests in place of another would create, change and delete. Pure. */
import { isRecord } from '../../api/record.ts';

export type FieldChange = {
  /** `spec.nodes[mail].skill.parameters.to` */
  path: string;
  /** As JSON; left out: the field is new. */
  before?: string;
  /** As JSON; left out: the field was removed. */
  after?: string;
};

export type ObjectChange = {
  change: 'Created' | 'Changed' | 'Deleted';
  kind: string;
  name: string;
  /** Empty: that of the command that applies it. */
  namespace: string;
  /** Those of a changed object. */
  fields: FieldChange[];
};

type Manifest = Record<string, unknown>;

/** The changes from one set of objects to another, by namespace, kind and name. */
export function compareObjects(before: readonly Manifest[], after: readonly Manifest[]): ObjectChange[] {
  const [old, fresh] = [byKey(before), byKey(after)];
  const keys = [...new Set([...old.keys(), ...fresh.keys()])].toSorted();
  return keys.flatMap((key) => changeOf(old.get(key), fresh.get(key)));
}

/** If an object is there twice, the last one counts, as with `kubectl apply`. */
function byKey(manifests: readonly Manifest[]): Map<string, Manifest> {
  return new Map(
    manifests.map((manifest) => {
      const { kind, name, namespace } = identityOf(manifest);
      return [JSON.stringify([namespace, kind, name]), manifest];
    }),
  );
}

function identityOf({ kind, metadata }: Manifest): Pick<ObjectChange, 'kind' | 'name' | 'namespace'> {
  const { name, generateName, namespace } = isRecord(metadata) ? metadata : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return { kind: text(kind), name: text(name ?? generateName), namespace: text(namespace) };
}

function changeOf(before: Manifest | undefined, after: Manifest | undefined): ObjectChange[] {
  const identity = identityOf(after ?? before ?? {});
  if (!before) return [{ change: 'Created', ...identity, fields: [] }];
  if (!after) return [{ change: 'Deleted', ...identity, fields: [] }];
  const fields = fieldChanges(leavesOf(before), leavesOf(after));
  return fields.length > 0 ? [{ change: 'Changed', ...identity, fields }] : [];
}

function fieldChanges(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): FieldChange[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    if (was === is) return [];
    return [{ path, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }];
  });
}

/** What people write of an object: its values by path, as JSON. */
function leavesOf({ metadata, ...manifest }: Manifest): Map<string, string> {
  const { labels, annotations } = isRecord(metadata) ? metadata : {};
  const { status: _, ...written } = manifest;
  const leaves = new Map<string, string>();
  collect({ ...written, metadata: { labels, annotations } }, '', leaves);
  return leaves;
}

function collect(value: unknown, path: string, into: Map<string, string>): void {
  if (value === undefined) return;
  const entries = entriesOf(value, path);
  if (entries.length === 0) into.set(path, JSON.stringify(value));
  for (const [at, member] of entries) collect(member, at, into);
}

function entriesOf(value: unknown, path: string): [path: string, value: unknown][] {
  if (Array.isArray(value)) {
    const names = namesOf(value);
    return value.map((item: unknown, index) => [`${path}[${names?.[index] ?? index}]`, item]);
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).map(([name, member]) => [path === '' ? name : `${path}.${name}`, member]);
}

/** The names of the items of a list, if each has one of its own: a node that moves is the same node. */
function namesOf(list: readonly unknown[]): string[] | undefined {
  const names = list.map((item) => {
    if (!isRecord(item)) return '';
    const { id, name, from, to } = item;
    if (typeof from === 'string' && typeof to === 'string') return `${from} → ${to}`;
    return typeof id === 'string' ? id : typeof name === 'string' ? name : '';
  });
  return new Set(names).size === names.length && !names.includes('') ? names : undefined;
}
