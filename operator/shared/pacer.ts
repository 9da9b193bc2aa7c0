/** Lets something happen so often a second, and no more often. */
import { sleep, type Clock } from '../../kube/clock.ts';

export type Pacer = {
  /** Resolves when the next one may happen. */
  take(): Promise<void>;
};

/** At most `perSecond` a second, evenly spread. */
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
