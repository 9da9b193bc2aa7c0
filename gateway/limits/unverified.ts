/**
 * Limits how often calls of a webhook with `auth` may fail verification, per client address and in all. A
 * call is counted before it is verified; a call that passes returns its token, so that only failures count.
 * An address with a recently verified call has its own limit: neither other addresses nor an attacker behind
 * the same proxy can exclude it. Memory is bounded; a forgotten address starts with a full bucket.
 */
import {
  createBucket,
  returnToken,
  isUnlimited,
  secondsToWait,
  take,
  type Bucket,
  type Rate,
} from './bucket.ts';
import type { TooMany } from './rates.ts';
import { createRecentMap, type RecentMap } from './boundedMaps.ts';
import type { LimitSettings } from './settings.ts';

/** A counted call. */
export type Attempt = { key: string; buckets: readonly Bucket[] };

export type Unverified = {
  /** Counts a call before its verification; the refusal if there are too many. */
  begin: (webhook: string, address: string, now: number) => Attempt | TooMany;
  /** Gives the call back, and trusts its address for TRUSTED_MS. */
  passed: (attempt: Attempt, now: number) => void;
};

const TRUSTED_MS = 600_000;
const MAX_REMEMBERED = 20_000;

type Trust = { until: number; bucket: Bucket | undefined };

export function createUnverifiedRates({
  unverifiedPerAddress,
  unverifiedPerRoute,
  perRoute,
}: Pick<LimitSettings, 'unverifiedPerAddress' | 'unverifiedPerRoute' | 'perRoute'>): Unverified {
  const strangers = createRecentMap<Bucket>(MAX_REMEMBERED);
  const webhooks = createRecentMap<Bucket>(MAX_REMEMBERED);
  // Only verified calls add entries: attackers with many addresses cannot displace any.
  const trusted = createRecentMap<Trust>(MAX_REMEMBERED);

  function bucketsOf(webhook: string, key: string, now: number): Bucket[] {
    const trust = trusted.find(key);
    const buckets =
      trust !== undefined && trust.until > now
        ? [trust.bucket]
        : [
            bucketIn(strangers, key, unverifiedPerAddress, now),
            bucketIn(webhooks, webhook, unverifiedPerRoute, now),
          ];
    return buckets.filter((bucket) => bucket !== undefined);
  }

  return {
    begin: (webhook, address, now) => {
      const key = `${webhook} ${address}`;
      const buckets = bucketsOf(webhook, key, now);
      const retryAfter = Math.max(0, ...buckets.map((bucket) => secondsToWait(bucket, now)));
      if (retryAfter > 0) return { reason: 'rate-unverified', retryAfter };
      buckets.forEach(take);
      return { key, buckets };
    },
    passed: ({ key, buckets }, now) => {
      buckets.forEach(returnToken);
      const trust = trusted.of(key, () => ({ until: 0, bucket: bucketOf(perRoute, now) }));
      trust.until = now + TRUSTED_MS;
    },
  };
}

function bucketIn(buckets: RecentMap<Bucket>, key: string, rate: Rate, now: number): Bucket | undefined {
  return isUnlimited(rate) ? undefined : buckets.of(key, () => createBucket(rate, now));
}

function bucketOf(rate: Rate, now: number): Bucket | undefined {
  return isUnlimited(rate) ? undefined : createBucket(rate, now);
}
