/**
 * What a gateway replica says of the routes that it serves: 64 buckets by uid, each the XOR of a hash of the (uid,
 * generation) pairs in it. A change touches one bucket, and the operator compares only the bucket of the route that it asks about.
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

/** The digest of nothing. */
export function emptyDigest(): Digest {
  return Array.from({ length: BUCKETS }, () => 0n);
}

/** Adds a pair to the digest, or takes it out again: the same call does both. Changes the digest in place. */
export function toggle(digest: Digest, uid: string, generation: number): void {
  const bucket = bucketOf(uid);
  digest[bucket] = (digest[bucket] ?? 0n) ^ hash(`${uid}:${generation}`);
}

/** The digest as the text of an annotation. */
export function formatDigest(digest: Digest): string {
  return digest.map((bucket) => bucket.toString(36).padStart(WIDTH, '0')).join('');
}

/** Whether a replica's annotation and a digest agree in the bucket of the uid. */
export function agrees(annotation: string | undefined, digest: Digest, uid: string): boolean {
  const bucket = bucketOf(uid);
  const said = annotation?.slice(bucket * WIDTH, (bucket + 1) * WIDTH);
  return said === (digest[bucket] ?? 0n).toString(36).padStart(WIDTH, '0');
}
