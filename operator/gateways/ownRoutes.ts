/** The operator's routes with their digest, for comparison with the reports of replicas. */
import { agrees, bucketOf, emptyDigest, toggle } from '../../api/routes.ts';

/** A route as replicas acknowledge it. */
export type RouteVersion = { uid: string; generation: number };

export type OwnRoutes = {
  /** Adds a route. Returns the bucket that changed; undefined if the route was in it. */
  set(route: RouteVersion): number | undefined;
  /** Removes a route and returns its bucket. */
  remove(uid: string): number;
  generation(uid: string): number | undefined;
  /** The buckets that have routes. */
  buckets(): number[];
  /** Changes whenever the bucket's content does. */
  mark(bucket: number): bigint;
  /** The uids of a bucket's routes if the digest of a replica agrees about it; else none. */
  agreed(bucket: number, digest: string): string[];
};

export function createOwnRoutes(): OwnRoutes {
  const digest = emptyDigest();
  const generations = new Map<string, number>();
  const members = new Map<number, Set<string>>();

  function remove(uid: string): number {
    const bucket = bucketOf(uid);
    const generation = generations.get(uid);
    if (generation === undefined) return bucket;
    toggle(digest, uid, generation);
    generations.delete(uid);
    members.get(bucket)?.delete(uid);
    return bucket;
  }

  return {
    set: ({ uid, generation }) => {
      if (generations.get(uid) === generation) return undefined;
      const bucket = remove(uid);
      toggle(digest, uid, generation);
      generations.set(uid, generation);
      members.set(bucket, (members.get(bucket) ?? new Set()).add(uid));
      return bucket;
    },
    remove,
    generation: (uid) => generations.get(uid),
    buckets: () => [...members.keys()],
    mark: (bucket) => digest[bucket] ?? 0n,
    agreed: (bucket, reported) => {
      const uids = [...(members.get(bucket) ?? [])];
      const [sample] = uids;
      return sample !== undefined && agrees(reported, digest, sample) ? uids : [];
    },
  };
}
