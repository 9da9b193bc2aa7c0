/**
 * Bounds the rate of Events: the same Event once in two minutes; in total a burst of 50 and one per second;
 * per namespace a burst of 25 and one in ten seconds, so that no namespace uses up the budget of others.
 */
import type { Clock } from './clock.ts';

const SAME_FOR_MS = 120_000;

/** The burst, and the rate per second after it. */
type Rate = { burst: number; perSecond: number };

const OF_ALL: Rate = { burst: 50, perSecond: 1 };
const OF_NAMESPACE: Rate = { burst: 25, perSecond: 0.1 };

export type EventBudget = {
  /**
   * Decides whether to write an Event of the namespace. `key` identifies its content: `repeated` if the same
   * Event was written in the last two minutes, `drop` if the budget is used up.
   */
  take(namespace: string, key: string): 'write' | 'repeated' | 'drop';
};

export function createEventBudget(clock: Pick<Clock, 'now'>): EventBudget {
  const written = createMemory<true>(clock, SAME_FOR_MS);
  const all = createBucket(clock, OF_ALL);
  // A bucket that was unused for as long as it takes to fill is the same as a new one.
  const buckets = createMemory<Bucket>(clock, (OF_NAMESPACE.burst / OF_NAMESPACE.perSecond) * 1_000);

  return {
    take: (namespace, key) => {
      if (written.get(key)) return 'repeated';
      const own = buckets.get(namespace) ?? createBucket(clock, OF_NAMESPACE);
      if (!own.hasRoom() || !all.hasRoom()) return 'drop';
      for (const bucket of [own, all]) bucket.take();
      buckets.set(namespace, own);
      written.set(key, true);
      return 'write';
    },
  };
}

type Bucket = { hasRoom(): boolean; take(): void };

function createBucket(clock: Pick<Clock, 'now'>, { burst, perSecond }: Rate): Bucket {
  let tokens = burst;
  let filledAt = clock.now();
  return {
    hasRoom: () => {
      const now = clock.now();
      tokens = Math.min(burst, tokens + ((now - filledAt) / 1_000) * perSecond);
      filledAt = now;
      return tokens >= 1;
    },
    take: () => void (tokens -= 1),
  };
}

/** A map whose entries expire after they were set last. */
function createMemory<T>(
  clock: Pick<Clock, 'now'>,
  forMs: number,
): { get(key: string): T | undefined; set(key: string, value: T): void } {
  const entries = new Map<string, { at: number; value: T }>();
  return {
    get: (key) => {
      for (const [old, { at }] of entries) {
        if (clock.now() - at < forMs) break;
        entries.delete(old);
      }
      return entries.get(key)?.value;
    },
    set: (key, value) => {
      // The oldest entries are first.
      entries.delete(key);
      entries.set(key, { at: clock.now(), value });
    },
  };
}
