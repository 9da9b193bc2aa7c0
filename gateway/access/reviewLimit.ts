/**
 * Limits reviews by the API server: in progress at a time, per second for unknown tokens (per address and in
 * all), and per second and user for access reviews. Neither garbage at the internal listener nor one busy
 * caller overloads the API server or delays the reviews of others.
 */
import type { Clock } from '../../kube/clock.ts';
import { createExpiringMap, type ExpiringMap } from '../limits/boundedMaps.ts';

/** Too many reviews are in progress, or were started recently. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** One user requests too many different reviews, or one namespace too many lists. */
export class TooOften extends Error {
  override readonly name = 'TooOften';
}

export type ReviewLimit = {
  /** Reviews an unknown token from this address. Throws Overloaded. */
  forUnknown: <T>(address: string, review: () => Promise<T>) => Promise<T>;
  /** Reviews a token that was accepted recently or has a valid signature. Throws Overloaded. */
  forKnown: <T>(review: () => Promise<T>) => Promise<T>;
  /** Reviews the access of a user. Throws TooOften or Overloaded. */
  forUser: <T>(username: string, review: () => Promise<T>) => Promise<T>;
};

const MAX_CONCURRENT = 64;
/** Low: most tokens are signed by a known issuer or were accepted recently. */
const UNKNOWN = { perSecond: 20, burst: 50 };
const ADDRESS = { perSecond: 10, burst: 25 };
/** Reserved in the total for addresses with few recent reviews, however many others send unknown tokens. */
const RESERVED = 25;
/** At most this many reviews are few. */
const FEW_REVIEWS = 5;
const MAX_ADDRESSES = 8_192;
const USER = { perSecond: 20, burst: 40 };
const MAX_USERS = 2_048;

export function createReviewLimit(clock: Clock): ReviewLimit {
  let running = 0;
  let unknownRunning = 0;
  const unknown = createBucket(clock, UNKNOWN);
  const addresses = createExpiringMap<Bucket>(MAX_ADDRESSES, clock);
  const users = createExpiringMap<Bucket>(MAX_USERS, clock);

  async function bounded<T>(review: () => Promise<T>): Promise<T> {
    if (running >= MAX_CONCURRENT) throw new Overloaded('too many reviews in progress');
    running += 1;
    try {
      return await review();
    } finally {
      running -= 1;
    }
  }

  function takeFor(username: string): boolean {
    return bucketIn(users, username, USER).take();
  }

  function takeFrom(address: string): boolean {
    const own = bucketIn(addresses, address, ADDRESS);
    const hasFewReviews = own.left() >= ADDRESS.burst - FEW_REVIEWS;
    // Attempts count, not reviews: an address that keeps trying stays over the limit while there is no room.
    if (!own.take() || unknownRunning >= MAX_CONCURRENT / 2) return false;
    return unknown.left() >= (hasFewReviews ? 1 : RESERVED) && unknown.take();
  }

  /** A bucket that had time to refill equals a new one. */
  function bucketIn(buckets: ExpiringMap<Bucket>, key: string, rate: BucketRate): Bucket {
    const bucket = buckets.get(key) ?? createBucket(clock, rate);
    buckets.set(key, bucket, clock.now() + (rate.burst / rate.perSecond) * 1_000);
    return bucket;
  }

  return {
    forUnknown: async (address, review) => {
      if (!takeFrom(address)) throw new Overloaded('too many unknown tokens');
      unknownRunning += 1;
      try {
        return await bounded(review);
      } finally {
        unknownRunning -= 1;
      }
    },
    forKnown: bounded,
    forUser: async (username, review) => {
      if (!takeFor(username)) throw new TooOften('too many reviews of one user');
      return bounded(review);
    },
  };
}

type BucketRate = { perSecond: number; burst: number };

type Bucket = {
  left: () => number;
  /** Succeeds `burst` times at once, then `perSecond` times a second. */
  take: () => boolean;
};

function createBucket(clock: Clock, { perSecond, burst }: BucketRate): Bucket {
  let tokens = burst;
  let filledAt = clock.now();
  const left = (): number => {
    const now = clock.now();
    tokens = Math.min(burst, tokens + ((now - filledAt) / 1_000) * perSecond);
    filledAt = now;
    return tokens;
  };
  return {
    left,
    take: () => {
      if (left() < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
