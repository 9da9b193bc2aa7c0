/**
 * A bound on how many lines are written in a second, so that whoever causes them cannot fill a disk. What is left out is counted, and the
 * count is told every 10 s, and at the end.
 */

/** Time, as `kube/clock.ts` has it. */
export type RateClock = {
  /** Milliseconds; never goes back. */
  now(): number;
  date(): Date;
  /** Calls back after so many milliseconds; the function it returns cancels that. */
  timer(ms: number, callback: () => void): () => void;
};

export type BoundedRate = {
  /** Whether the next line may be written. */
  admit(): boolean;
  /** Tells what was left out and not told yet. */
  close(): void;
};

export type BoundedRateOptions = {
  perSecond: number;
  /** How many may come at once. */
  burst: number;
  onLeftOut: (count: number) => void;
  clock: RateClock;
};

const TELL_MS = 10_000;

export function createBoundedRate({ perSecond, burst, onLeftOut, clock }: BoundedRateOptions): BoundedRate {
  let left = burst;
  let filledAt = clock.now();
  let leftOut = 0;
  let cancel: (() => void) | undefined;

  function tell(): void {
    cancel?.();
    cancel = undefined;
    if (leftOut > 0) onLeftOut(leftOut);
    leftOut = 0;
  }

  return {
    admit: () => {
      const now = clock.now();
      left = Math.min(burst, left + ((now - filledAt) / 1_000) * perSecond);
      filledAt = now;
      if (left >= 1) {
        left -= 1;
        return true;
      }
      leftOut += 1;
      cancel ??= clock.timer(TELL_MS, tell);
      return false;
    },
    close: tell,
  };
}
