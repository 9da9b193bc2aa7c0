/**
 * How often calls of a webhook with `auth` may fail verification: per webhook and address of a client, and per webhook in all. A call
 * is counted before it is verified and given back when it passes, so that only failed ones spend the rate. An address of which a call
 * passed lately has a rate of its own, so that neither many other addresses nor somebody behind the same proxy shuts it out. Memory is
 * bounded; an address that is forgotten begins with a full bucket.
 */
import {
  createBucket,
  giveBack,
  isUnlimited,
  secondsToWait,
  take,
  type Bucket,
  type Rate,
} from './bucket.ts';
import type { TooMany } from './rates.ts';
import { createRecentMap, type RecentMap } from './boundedMaps.ts';
import type { LimitSettings } from './settings.ts';

/** A call that was counted. */
export type Attempt = { key: string; buckets: readonly Bucket[] };

export type Unverified = {
  /** Counts a call of the webhook that will be verified, or says when its address may try again. */
  begin: (webhook: string, address: string, now: number) => Attempt | TooMany;
  /** Gives the call back, and trusts its address for a while. */
  passed: (attempt: Attempt, now: number) => void;
};

/** How long an address counts as one of honest callers after a call of it was verified. */
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
  // Only verified calls enter it: strangers with many addresses cannot push anybody out.
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
      buckets.forEach(giveBack);
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
