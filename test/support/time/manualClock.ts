/** A clock that moves only when a test says so. */
import type { Clock } from '../../../kube/clock.ts';

export type ManualClock = Clock & {
  /** Moves time on, and lets what waited for it and what follows from that run. */
  advance(ms: number): Promise<void>;
  /** Moves time on while nothing runs, as on a machine without a free processor: what is due then is late. */
  stall(ms: number): void;
  /** How many timers wait. */
  timers(): number;
};

export function createManualClock(start = new Date('2026-01-01T00:00:00Z')): ManualClock {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => now,
    date: () => new Date(start.getTime() + now),
    timer: (ms, callback) => {
      const timer = { at: now + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: async (ms) => {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.callback();
        await settled();
      }
      now = end;
      await settled();
    },
    stall: (ms) => void (now += ms),
    timers: () => timers.size,
  };
}

/** Resolves when all that was ready to run has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
