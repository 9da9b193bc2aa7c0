/**
 * How often the API server is asked about callers: at most so many questions at once, and for tokens that nobody has
 * vouched for so many a second, so that garbage on the internal listener does not load it.
 */
import type { Clock } from '../../kube/clock.ts';

/** There are too many questions under way, or there were too many just now. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

export type ReviewLimit = {
  /** For a token that was not accepted lately. Throws Overloaded. */
  forUnknown: <T>(question: () => Promise<T>) => Promise<T>;
  /** For a caller that the API server knows. Throws Overloaded. */
  forKnown: <T>(question: () => Promise<T>) => Promise<T>;
};

const AT_ONCE = 64;
const UNKNOWN_PER_SECOND = 100;
const UNKNOWN_BURST = 200;

export function createReviewLimit(clock: Clock): ReviewLimit {
  let running = 0;
  let tokens = UNKNOWN_BURST;
  let filledAt = clock.now();

  function takeToken(): void {
    const now = clock.now();
    tokens = Math.min(UNKNOWN_BURST, tokens + ((now - filledAt) / 1_000) * UNKNOWN_PER_SECOND);
    filledAt = now;
    if (tokens < 1) throw new Overloaded('Too many tokens that are not known.');
    tokens -= 1;
  }

  async function bounded<T>(question: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) throw new Overloaded('Too many questions are under way.');
    running += 1;
    try {
      return await question();
    } finally {
      running -= 1;
    }
  }

  return {
    forUnknown: async (question) => {
      takeToken();
      return bounded(question);
    },
    forKnown: bounded,
  };
}
