/**
 * When the loops of a runner read the run store. While the runner has runs in flight, each loop polls in its
 * own interval, because a lost message must not delay a run. While it has none, a loop waits until a message
 * or a pulse says that there is work, or until the time that it knows of.
 */
import type { Pulse } from './pulse.ts';

export type Pace = {
  /**
   * Resolves when there may be work: `raise` was called since the last wait, `nextMs` has passed, `busyMs`
   * has passed with runs in flight, or the signal is aborted. For one waiter.
   */
  wait(times: { busyMs: number; nextMs?: number | undefined }, signal?: AbortSignal): Promise<void>;
  /** There may be work. */
  raise: () => void;
};

export type Paces = {
  /** The pace of one loop. `hasWork`: whether a pulse says that there is work for it. */
  of(hasWork: (pulse: Pulse) => boolean): Pace;
  /** Raises the paces for which the pulse says that there is work. */
  note: (pulse: Pulse) => void;
  /** Whether the runner has runs in flight. It counts as busy until this is called. */
  setBusy(isBusy: boolean): void;
};

/** The longest delay of Node.js; longer ones would become 1 ms. */
const LONGEST_MS = 2 ** 31 - 1;

const nothing = (): void => undefined;

type OwnPace = Pace & { setBusy: (isBusy: boolean) => void };

/** The paces of one runner. */
export function createPaces(): Paces {
  const all: { pace: OwnPace; hasWork: (pulse: Pulse) => boolean }[] = [];
  let isBusy = true;
  return {
    of: (hasWork) => {
      const pace = createOwnPace(isBusy);
      all.push({ pace, hasWork });
      return pace;
    },
    note: (pulse) => {
      for (const { pace, hasWork } of all) if (hasWork(pulse)) pace.raise();
    },
    setBusy: (busy) => {
      if (busy === isBusy) return;
      isBusy = busy;
      for (const { pace } of all) pace.setBusy(busy);
    },
  };
}

/** The pace of a loop that polls: of a runner without pulses. */
export function createPollingPace(): Pace {
  return createOwnPace(true);
}

/**
 * A runner that becomes idle ends no wait: each loop reads once more in its own interval, and finds what the
 * last run left.
 */
function createOwnPace(busyAtFirst: boolean): OwnPace {
  let isBusy = busyAtFirst;
  let isRaised = false;
  let wake = nothing;
  let shorten = nothing;
  const raise = (): void => {
    isRaised = true;
    wake();
  };
  return {
    raise,
    setBusy: (busy) => {
      isBusy = busy;
      if (busy) shorten();
    },
    wait: async ({ busyMs, nextMs = Infinity }, signal) => {
      if (signal?.aborted) return;
      signal?.addEventListener('abort', raise, { once: true });
      const timers = new Set<NodeJS.Timeout>();
      if (!isRaised)
        await new Promise<void>((resolve) => {
          const wakeAfter = (ms: number): void => {
            if (ms < Infinity) timers.add(setTimeout(resolve, Math.min(Math.max(ms, 0), LONGEST_MS)));
          };
          wakeAfter(isBusy ? Math.min(busyMs, nextMs) : nextMs);
          wake = resolve;
          shorten = () => {
            shorten = nothing;
            wakeAfter(busyMs);
          };
        });
      timers.forEach((timer) => clearTimeout(timer));
      wake = nothing;
      shorten = nothing;
      isRaised = false;
      signal?.removeEventListener('abort', raise);
    },
  };
}
