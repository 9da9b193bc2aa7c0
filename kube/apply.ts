/**
 * Server-side apply of what a controller owns: owner references, names that are the same each time, and no
 * write when nothing would change.
 */
import { createHash } from 'node:crypto';
import type { ApplyOptions, KubeClient, Manifest } from './client.ts';
import { objectKey, type KubeObject, type OwnerReference, type Resource } from './resource.ts';

/**
 * The reference that makes `owner` the controller of an object, so that it is deleted with it.
 * Throws if the owner was not stored yet and so has no uid.
 */
function ownerReference(owner: KubeObject): OwnerReference {
  const { name, uid } = owner.metadata;
  if (uid === undefined) throw new Error(`${owner.kind} ${objectKey(owner.metadata)} has no uid yet.`);
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true };
}

/**
 * The manifest as a child of its owner, in the owner's namespace.
 * Throws if it names another namespace: the garbage collector would delete such a child.
 */
export function asChild<T extends KubeObject>(owner: KubeObject, manifest: Manifest<T>): Manifest<T> {
  const namespace = manifest.metadata.namespace ?? owner.metadata.namespace;
  if (namespace !== owner.metadata.namespace) {
    throw new Error(
      `A child of ${objectKey(owner.metadata)} cannot be in namespace ${namespace ?? '(none)'}.`,
    );
  }
  const metadata = {
    ...manifest.metadata,
    ...(namespace !== undefined && { namespace }),
    ownerReferences: [ownerReference(owner)],
  };
  return { ...manifest, metadata };
}

export type ApplyChild<T extends KubeObject> = {
  client: Pick<KubeClient, 'apply'>;
  resource: Resource<T>;
  owner: KubeObject;
  manifest: Manifest<T>;
};

/** Applies an object that `owner` controls. */
export async function applyChild<T extends KubeObject>(
  { client, resource, owner, manifest }: ApplyChild<T>,
  options?: ApplyOptions,
): Promise<T> {
  return client.apply(resource, asChild(owner, manifest), options);
}

export type ApplyIfChanged<T extends KubeObject> = {
  client: Pick<KubeClient, 'apply'>;
  resource: Resource<T>;
  manifest: Manifest<T>;
  /** What a cache holds of it; undefined if it holds none. */
  cached: T | undefined;
  /** The annotation `<prefix>/applied-hash` holds the hash of what was applied. */
  prefix: string;
};

/**
 * Applies the manifest unless the cached object shows that it would change nothing: it carries the hash of
 * this very manifest (so no field was dropped from it) and still has each of its values (so nobody changed
 * one). Where the server writes a value differently from the manifest, it applies each time, which is
 * harmless.
 */
export async function applyIfChanged<T extends KubeObject>(
  { client, resource, manifest, cached, prefix }: ApplyIfChanged<T>,
  options?: ApplyOptions,
): Promise<{ object: T; written: boolean }> {
  const wanted = withHash(manifest, prefix);
  const unchanged =
    cached !== undefined && cached.metadata.deletionTimestamp === undefined && includes(cached, wanted);
  if (unchanged) return { object: cached, written: false };
  return { object: await client.apply(resource, wanted, options), written: true };
}

function withHash<T extends KubeObject>(manifest: Manifest<T>, prefix: string): Manifest<T> {
  const annotations = { ...manifest.metadata.annotations, [`${prefix}/applied-hash`]: hashOf(manifest) };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

/** 16 hexadecimal digits that depend on the content alone, and not on the order of its keys. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);
}

/** JSON with sorted keys and without undefined members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isRecord(member) ? Object.fromEntries(Object.entries(member).toSorted(byKey)) : member,
  );
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** True if every member of `wanted` is in `actual` with the same value; lists must be equally long. */
export function includes(actual: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return false;
    return wanted.every((item, position) => includes(actual[position], item));
  }
  if (isRecord(wanted)) {
    return isRecord(actual) && Object.entries(wanted).every(([key, member]) => includes(actual[key], member));
  }
  return Object.is(actual, wanted);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const hashLength = 8;

/**
 * `base-suffix`, the same each time. Where that is longer than `maxLength`, the base is cut and a hash of the
 * whole name takes the place of the rest, so that two long names stay two. An empty suffix is left out.
 * Throws if the limit leaves no room for the base.
 */
export function childName(base: string, suffix: string, maxLength = 253): string {
  const tail = suffix === '' ? '' : `-${suffix}`;
  const whole = base + tail;
  if (whole.length <= maxLength) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, hashLength);
  const room = maxLength - tail.length - hashLength - 1;
  if (room < 1) throw new Error(`A name of at most ${maxLength} characters has no room before "${tail}".`);
  // A label ends with a letter or a digit.
  return `${base.slice(0, room).replace(/[^a-z0-9]+$/, '')}-${hash}${tail}`;
}
