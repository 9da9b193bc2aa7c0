/**
 * How often the API server is asked about callers: at most so many questions at once, so many a second for tokens that
 * nobody has vouched for, and so many a second about what one identity may do. Neither garbage on the internal listener
 * nor one busy caller loads it, or keeps others from being asked about.
 */
import type { Clock } from '../../kube/clock.ts';
import { createExpiring } from './expiring.ts';

/** There are too many questions under way, or there were too many just now. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** One identity wants too many different things, or one namespace is asked about too much. */
export class TooOften extends Error {
  override readonly name = 'TooOften';
}

export type ReviewLimit = {
  /** For a token that nothing speaks for. Throws Overloaded. */
  forUnknown: <T>(question: () => Promise<T>) => Promise<T>;
  /** For a token that was accepted lately, or that the cluster's issuer signed. Throws Overloaded. */
  forKnown: <T>(question: () => Promise<T>) => Promise<T>;
  /** For what this user may do. Throws TooOften, or Overloaded. */
  forUser: <T>(username: string, question: () => Promise<T>) => Promise<T>;
};

const AT_ONCE = 64;
/** Few: most tokens are signed by the cluster's issuer, or were accepted lately. */
const UNKNOWN = { perSecond: 20, burst: 50 };
const USER = { perSecond: 20, burst: 40 };
const MAX_USERS = 2_048;

export function createReviewLimit(clock: Clock): ReviewLimit {
  let running = 0;
  const unknown = createBucket(clock, UNKNOWN);
  const users = createExpiring<() => boolean>(MAX_USERS, clock);

  async function bounded<T>(question: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) throw new Overloaded('Too many questions are under way.');
    running += 1;
    try {
      return await question();
    } finally {
      running -= 1;
    }
  }

  /** Whether the user may be asked about now. A bucket that has had time to fill again is as good as a new one. */
  function takeFor(username: string): boolean {
    const take = users.get(username) ?? createBucket(clock, USER);
    users.set(username, take, clock.now() + (USER.burst / USER.perSecond) * 1_000);
    return take();
  }

  return {
    forUnknown: async (question) => {
      if (!unknown()) throw new Overloaded('Too many tokens that are not known.');
      return bounded(question);
    },
    forKnown: bounded,
    forUser: async (username, question) => {
      if (!takeFor(username)) throw new TooOften('Too many questions about one user.');
      return bounded(question);
    },
  };
}

/** Says yes as often as `burst` at once, and `perSecond` times a second from then on. */
function createBucket(
  clock: Clock,
  { perSecond, burst }: { perSecond: number; burst: number },
): () => boolean {
  let left = burst;
  let filledAt = clock.now();
  return () => {
    const now = clock.now();
    left = Math.min(burst, left + ((now - filledAt) / 1_000) * perSecond);
    filledAt = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
