/**
 * The digest of the routes that a gateway replica serves: 64 buckets by uid, each the XOR of the hashes of
 * its (uid, generation) pairs. A change of a route changes one bucket, and the operator compares only the
 * bucket of that route.
 */
import { shortHash } from './names.ts';

const BUCKETS = 64;
const WIDTH = 13;
const hash = (text: string) =>
  BigInt.asUintN(64, BigInt(Number.parseInt(shortHash(text), 36)) * 0x9e3779b97f4a7c15n);

/** The bucket that a route's uid falls into. */
export function bucketOf(uid: string): number {
  return Number(hash(uid) % BigInt(BUCKETS));
}

export type Digest = bigint[];

/** The digest without routes. */
export function emptyDigest(): Digest {
  return Array.from({ length: BUCKETS }, () => 0n);
}

/** Adds a pair to the digest, or removes it if it was added before. Changes the digest in place. */
export function toggle(digest: Digest, uid: string, generation: number): void {
  const bucket = bucketOf(uid);
  digest[bucket] = (digest[bucket] ?? 0n) ^ hash(`${uid}:${generation}`);
}

/** The digest as the text of an annotation. */
export function formatDigest(digest: Digest): string {
  return digest.map((bucket) => bucket.toString(36).padStart(WIDTH, '0')).join('');
}

/** Whether the annotation of a replica and a digest have the same bucket for the uid. */
export function agrees(annotation: string | undefined, digest: Digest, uid: string): boolean {
  const bucket = bucketOf(uid);
  const said = annotation?.slice(bucket * WIDTH, (bucket + 1) * WIDTH);
  return said === (digest[bucket] ?? 0n).toString(36).padStart(WIDTH, '0');
}
