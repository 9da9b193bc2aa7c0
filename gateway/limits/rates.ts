/**
 * How often webhooks may be called: per route, per project, per address of a client. Memory is bounded: routes and projects
 * come from the cluster, and of addresses only so many are remembered, those that called lately.
 */
import type { RouteSpec } from '../../api/route.ts';
import { createBucket, secondsToWait, take, type Bucket, type Rate } from './bucket.ts';
import { createRecent } from './recent.ts';
import type { RefusalReason } from './refusals.ts';
import type { LimitSettings } from './settings.ts';

type TooMany = { reason: RefusalReason; retryAfter: number };

/** A route of the table. */
export type Called = { spec: Pick<RouteSpec, 'projectUID' | 'webhook'> };

export type Rates = {
  /** Counts a call of the address; what must be told if it calls too often. */
  ofAddress: (address: string, now: number) => TooMany | undefined;
  /** Counts a call of the route, unless it is one too many. */
  ofRoute: (route: Called, now: number) => TooMany | undefined;
};

const MAX_ADDRESSES = 20_000;
const MAX_PROJECTS = 20_000;

export function createRates({
  perRoute,
  perProject,
  perAddress,
}: Pick<LimitSettings, 'perRoute' | 'perProject' | 'perAddress'>): Rates {
  // An object of the table: when the route changes or goes, its bucket goes with it.
  const routes = new WeakMap<Called, Bucket>();
  const projects = createRecent<Bucket>(MAX_PROJECTS);
  const addresses = createRecent<Bucket>(MAX_ADDRESSES);

  function bucketOf(route: Called, now: number): Bucket | undefined {
    const known = routes.get(route);
    if (known !== undefined) return known;
    const rate = route.spec.webhook?.rateLimit ?? perRoute;
    if (isUnlimited(rate)) return undefined;
    const bucket = createBucket(rateOf(rate), now);
    routes.set(route, bucket);
    return bucket;
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
    ofRoute: (route, now) => {
      const own = bucketOf(route, now);
      const ownWait = own === undefined ? 0 : secondsToWait(own, now);
      if (ownWait > 0) return { reason: 'rate-per-route', retryAfter: ownWait };
      const shared = isUnlimited(perProject)
        ? undefined
        : projects.of(route.spec.projectUID, () => createBucket(perProject, now));
      const sharedWait = shared === undefined ? 0 : secondsToWait(shared, now);
      if (sharedWait > 0) return { reason: 'rate-per-project', retryAfter: sharedWait };
      if (own !== undefined) take(own);
      if (shared !== undefined) take(shared);
      return undefined;
    },
  };
}

function isUnlimited({ requestsPerSecond }: Rate): boolean {
  return requestsPerSecond === 0;
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
