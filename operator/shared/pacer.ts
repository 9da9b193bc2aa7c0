/** Limits how often per second something happens. */
import { sleep, type Clock } from '../../kube/clock.ts';

export type Pacer = {
  /** Resolves when the next one is permitted. */
  take(): Promise<void>;
};

/** At most `perSecond` per second, evenly spaced. */
export function createPacer(perSecond: number, clock: Clock): Pacer {
  const gapMs = 1_000 / perSecond;
  let next = -Infinity;
  return {
    take: async () => {
      const now = clock.now();
      const at = Math.max(now, next);
      next = at + gapMs;
      if (at > now) await sleep(at - now, undefined, clock);
    },
  };
}
