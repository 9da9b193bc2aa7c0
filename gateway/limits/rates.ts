/**
 * Rate limits of webhooks: per route, per project, per client address. Memory is bounded: routes and projects
 * come from the cluster, and only recent addresses are kept.
 */
import type { RouteSpec } from '../../api/route.ts';
import { createBucket, isUnlimited, secondsToWait, take, type Bucket, type Rate } from './bucket.ts';
import { createRecentMap } from './boundedMaps.ts';
import type { RefusalReason } from './refusals.ts';
import type { LimitSettings } from './settings.ts';

export type TooMany = { reason: RefusalReason; retryAfter: number };

export type Called = { spec: Pick<RouteSpec, 'projectUID' | 'webhook'> };

export type Rates = {
  /** Counts a call of the address; the refusal if there are too many. */
  ofAddress: (address: string, now: number) => TooMany | undefined;
  /** The refusal if the route is called too often. Counts nothing. */
  check: (route: Called, now: number) => TooMany | undefined;
  /** Counts a call of the route; the refusal if there are too many. */
  ofRoute: (route: Called, now: number) => TooMany | undefined;
};

const MAX_ADDRESSES = 20_000;
const MAX_PROJECTS = 20_000;

export function createRates({
  perRoute,
  perProject,
  perAddress,
}: Pick<LimitSettings, 'perRoute' | 'perProject' | 'perAddress'>): Rates {
  // Keyed by the table's object: a changed or deleted route drops its bucket.
  const routes = new WeakMap<Called, Bucket>();
  const projects = createRecentMap<Bucket>(MAX_PROJECTS);
  const addresses = createRecentMap<Bucket>(MAX_ADDRESSES);

  function bucketOf(route: Called, now: number): Bucket | undefined {
    const known = routes.get(route);
    if (known !== undefined) return known;
    const rate = route.spec.webhook?.rateLimit ?? perRoute;
    if (isUnlimited(rate)) return undefined;
    const bucket = createBucket(rateOf(rate), now);
    routes.set(route, bucket);
    return bucket;
  }

  function sharedBy({ spec }: Called, now: number): Bucket | undefined {
    if (isUnlimited(perProject)) return undefined;
    return projects.of(spec.projectUID, () => createBucket(perProject, now));
  }

  function judge(route: Called, now: number, isCounted: boolean): TooMany | undefined {
    const own = bucketOf(route, now);
    const ownWait = own === undefined ? 0 : secondsToWait(own, now);
    if (ownWait > 0) return { reason: 'rate-per-route', retryAfter: ownWait };
    const shared = sharedBy(route, now);
    const sharedWait = shared === undefined ? 0 : secondsToWait(shared, now);
    if (sharedWait > 0) return { reason: 'rate-per-project', retryAfter: sharedWait };
    if (isCounted && own !== undefined) take(own);
    if (isCounted && shared !== undefined) take(shared);
    return undefined;
  }

  return {
    ofAddress: (address, now) => {
      if (isUnlimited(perAddress)) return undefined;
      const bucket = addresses.of(address, () => createBucket(perAddress, now));
      const retryAfter = secondsToWait(bucket, now);
      if (retryAfter > 0) return { reason: 'rate-per-address', retryAfter };
      take(bucket);
      return undefined;
    },
    check: (route, now) => judge(route, now, false),
    ofRoute: (route, now) => judge(route, now, true),
  };
}

function rateOf({
  requestsPerSecond,
  burst,
}: {
  requestsPerSecond: number;
  burst?: number | undefined;
}): Rate {
  return burst === undefined ? { requestsPerSecond } : { requestsPerSecond, burst };
}
