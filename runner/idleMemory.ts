/**
 * Returns memory of a runner that has nothing to do. V8 collects garbage when a program allocates: one that
 * is idle would keep what its last runs took for hours.
 */
import { systemClock, type Clock } from '../kube/clock.ts';

/** Long enough that a runner with steady work never collects for this. */
const IDLE_MS = 60_000;

type IdleMemory = {
  /** Says whether the runner executes runs. */
  setBusy(isBusy: boolean): void;
  stop(): void;
};

type IdleMemoryOptions = {
  /** Collects all garbage and returns its pages, which takes some tens of milliseconds. */
  collect: () => void;
  clock?: Clock;
};

/**
 * Collects once after each start and each run that were followed by a minute without runs. A runner that
 * starts counts as idle.
 */
export function createIdleMemory({ collect, clock = systemClock }: IdleMemoryOptions): IdleMemory {
  let idleSince: number | undefined = clock.now();
  let cancel: (() => void) | undefined;

  // Runs begin and end thousands of times a second: the timer stays, and checks at its end.
  function wait(ms: number): void {
    cancel = clock.timer(ms, () => {
      cancel = undefined;
      if (idleSince === undefined) return;
      const leftMs = idleSince + IDLE_MS - clock.now();
      if (leftMs > 0) wait(leftMs);
      else collect();
    });
  }

  wait(IDLE_MS);
  return {
    setBusy: (isBusy) => {
      idleSince = isBusy ? undefined : clock.now();
      if (!isBusy && cancel === undefined) wait(IDLE_MS);
    },
    stop: () => cancel?.(),
  };
}
