/**
 * Bounds how many lines are written per second, so that callers cannot fill a disk. Lines beyond the bound
 * are counted, and the count is reported every 10 s and at the end.
 */

/** A subset of the clock in `kube/clock.ts`. */
export type RateClock = {
  /** Milliseconds; never goes back. */
  now(): number;
  date(): Date;
  /** Calls back after so many milliseconds. The returned function cancels the timer. */
  timer(ms: number, callback: () => void): () => void;
};

export type BoundedRate = {
  /** Whether the next line may be written. */
  admit(): boolean;
  /** Reports the count that was not reported yet. */
  close(): void;
};

export type BoundedRateOptions = {
  perSecond: number;
  /** The most lines at once. */
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
