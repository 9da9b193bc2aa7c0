/** Server-side apply of child objects: owner references, and no write if nothing would change. */
import type { KubeClient } from './client.ts';
import type { ApplyOptions, Manifest } from './writes.ts';
import { objectKey, type KubeObject, type OwnerReference, type Resource } from './resource.ts';
import { hashOf, includes } from './json.ts';

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
