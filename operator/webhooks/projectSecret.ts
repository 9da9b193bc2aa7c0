/**
 * The one Secret of a project with verification material for the gateway: an entry for each workflow that has
 * material, and for each test run that listens for an event. Those own it, so that it is deleted with the
 * last of them. Pure.
 */
import { API_VERSION } from '../../api/group.ts';
import { encodeKeys, entryName, parseEntryName, WEBHOOKS } from '../../api/webhookAuth.ts';
import { canonicalJson } from '../../kube/json.ts';
import type { Manifest } from '../../kube/writes.ts';
import type { OwnerReference, Secret } from '../../kube/resource.ts';

/** The entries of the Secret, as text by their name. */
export type Entries = ReadonlyMap<string, string>;

/** A workflow, or a test run that listens for an event, as the owner of its entries. */
export type Owner = { kind: 'Workflow' | 'WorkflowRun'; name: string; uid: string };

/** The change of the entries of one owner. */
export type Change = {
  uid: string;
  /** The material and the keys; left out if it has none. */
  current?: { material: string; keys: readonly Uint8Array[] };
  /** The material that gateways still verify with: it stays until the route names the current one. */
  routed?: string | undefined;
};

/** The valid entries of the Secret. */
export function entriesOf(secret: Secret | undefined): Entries {
  const found = Object.entries(secret?.data ?? {}).filter(([name]) => parseEntryName(name));
  return new Map(found.map(([name, value]) => [name, Buffer.from(value, 'base64').toString('utf8')]));
}

/** The material of the workflow's entry with these keys, if there is one; that of the route first. */
export function materialOf(
  entries: Entries,
  uid: string,
  keys: readonly Uint8Array[],
  routed: string | undefined,
): string | undefined {
  const text = encodeKeys(keys);
  const found = [...entries].flatMap(([name, value]) => {
    const entry = parseEntryName(name);
    return entry?.uid === uid && value === text ? [entry.material] : [];
  });
  return found.find((material) => material === routed) ?? found[0];
}

/** The entries after the change, without those of deleted workflows. */
export function changedEntries(entries: Entries, change: Change, owners: readonly Owner[]): Entries {
  const { uid, current, routed } = change;
  const existing = new Set(owners.map((owner) => owner.uid));
  const kept = [...entries].filter(([name]) => {
    const entry = parseEntryName(name);
    if (entry === undefined || !existing.has(entry.uid)) return false;
    return entry.uid !== uid || (current !== undefined && entry.material === routed);
  });
  const own: [string, string][] =
    current === undefined ? [] : [[entryName(uid, current.material), encodeKeys(current.keys)]];
  return new Map([...kept, ...own].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The Secret with these entries. With `before`, applying it fails with a conflict if the Secret changed
 * meanwhile.
 */
export function secretOf(
  namespace: string,
  entries: Entries,
  owners: readonly Owner[],
  before: Secret | undefined,
): Manifest<Secret> {
  const { resourceVersion } = before?.metadata ?? {};
  return {
    metadata: {
      name: WEBHOOKS,
      namespace,
      ...(resourceVersion !== undefined && { resourceVersion }),
      labels: { 'app.kubernetes.io/name': WEBHOOKS, 'app.kubernetes.io/managed-by': 'windlass' },
      ownerReferences: ownersOf(entries, owners),
    },
    type: 'Opaque',
    data: Object.fromEntries(
      [...entries].map(([name, text]) => [name, Buffer.from(text, 'utf8').toString('base64')]),
    ),
  };
}

function ownersOf(entries: Entries, owners: readonly Owner[]): OwnerReference[] {
  const uids = new Set([...entries.keys()].map((name) => parseEntryName(name)?.uid));
  return owners
    .filter(({ uid }) => uids.has(uid))
    .map((owner) => ({ apiVersion: API_VERSION, ...owner }))
    .toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
}

/** Whether the Secret already has these entries and owners. */
export function isWritten(secret: Secret | undefined, manifest: Manifest<Secret>): boolean {
  const owners = (list: readonly OwnerReference[] = []) =>
    list
      .map(({ uid }) => uid)
      .toSorted()
      .join();
  const data = (entries: Entries) => canonicalJson(Object.fromEntries(entries));
  return (
    secret !== undefined &&
    owners(secret.metadata.ownerReferences) === owners(manifest.metadata.ownerReferences) &&
    data(entriesOf(secret)) === data(entriesOf(manifest as Secret))
  );
}
