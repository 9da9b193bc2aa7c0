/**
 * How often the API server is asked about callers: at most so many questions at once, so many a second for tokens that
 * nobody has vouched for, of one address and in all, and so many a second about what one identity may do. Neither garbage on the
 * internal listener nor one busy caller loads it, or keeps others from being asked about.
 */
import type { Clock } from '../../kube/clock.ts';
import { createExpiringMap, type ExpiringMap } from '../limits/boundedMaps.ts';

/** There are too many questions under way, or there were too many just now. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** One identity wants too many different things, or one namespace is asked about too much. */
export class TooOften extends Error {
  override readonly name = 'TooOften';
}

export type ReviewLimit = {
  /** For a token that nothing speaks for, from this address. Throws Overloaded. */
  forUnknown: <T>(address: string, question: () => Promise<T>) => Promise<T>;
  /** For a token that was accepted lately, or that a known issuer signed. Throws Overloaded. */
  forKnown: <T>(question: () => Promise<T>) => Promise<T>;
  /** For what this user may do. Throws TooOften, or Overloaded. */
  forUser: <T>(username: string, question: () => Promise<T>) => Promise<T>;
};

const AT_ONCE = 64;
/** Few: most tokens are signed by an issuer that is known, or were accepted lately. */
const UNKNOWN = { perSecond: 20, burst: 50 };
const ADDRESS = { perSecond: 10, burst: 25 };
/** What is left in all for addresses that asked little of late, however many others ask all the time. */
const RESERVED = 25;
/** So many questions are few. */
const LITTLE = 5;
const MAX_ADDRESSES = 8_192;
const USER = { perSecond: 20, burst: 40 };
const MAX_USERS = 2_048;

export function createReviewLimit(clock: Clock): ReviewLimit {
  let running = 0;
  let unknownRunning = 0;
  const unknown = createBucket(clock, UNKNOWN);
  const addresses = createExpiringMap<Bucket>(MAX_ADDRESSES, clock);
  const users = createExpiringMap<Bucket>(MAX_USERS, clock);

  async function bounded<T>(question: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) throw new Overloaded('Too many questions are under way.');
    running += 1;
    try {
      return await question();
    } finally {
      running -= 1;
    }
  }

  /** Whether the user may be asked about now. */
  function takeFor(username: string): boolean {
    return bucketIn(users, username, USER).take();
  }

  function takeFrom(address: string): boolean {
    const own = bucketIn(addresses, address, ADDRESS);
    const hasAskedLittle = own.left() >= ADDRESS.burst - LITTLE;
    // Attempts count, not questions: whoever asks on and on has not asked little because others leave no room.
    if (!own.take() || unknownRunning >= AT_ONCE / 2) return false;
    return unknown.left() >= (hasAskedLittle ? 1 : RESERVED) && unknown.take();
  }

  /** A bucket that has had time to fill again is as good as a new one. */
  function bucketIn(buckets: ExpiringMap<Bucket>, key: string, rate: BucketRate): Bucket {
    const bucket = buckets.get(key) ?? createBucket(clock, rate);
    buckets.set(key, bucket, clock.now() + (rate.burst / rate.perSecond) * 1_000);
    return bucket;
  }

  return {
    forUnknown: async (address, question) => {
      if (!takeFrom(address)) throw new Overloaded('Too many tokens that are not known.');
      unknownRunning += 1;
      try {
        return await bounded(question);
      } finally {
        unknownRunning -= 1;
      }
    },
    forKnown: bounded,
    forUser: async (username, question) => {
      if (!takeFor(username)) throw new TooOften('Too many questions about one user.');
      return bounded(question);
    },
  };
}

type BucketRate = { perSecond: number; burst: number };

type Bucket = {
  left: () => number;
  /** Says yes as often as `burst` at once, and `perSecond` times a second from then on. */
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
