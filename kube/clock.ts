/** A clock that tests can replace. */

export type Clock = {
  /** Milliseconds since an arbitrary moment; never goes back. */
  now(): number;
  /** The wall-clock time, for timestamps in objects. */
  date(): Date;
  /** Calls `callback` after `ms`. The returned function cancels the timer. */
  timer(ms: number, callback: () => void): () => void;
};

/** The longest delay of Node.js; longer ones would become 1 ms. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  timer: (ms, callback) => {
    const handle = setTimeout(callback, Math.min(Math.max(ms, 0), longestTimer));
    return () => clearTimeout(handle);
  },
};

/** Resolves after `ms`, or at once when the signal is aborted. It never rejects: callers check the signal. */
export function sleep(ms: number, signal?: AbortSignal, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.timer(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Waits until the work has ended, at most this long. Leaves no timer, which would keep the process alive. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, sleep(ms, over.signal)]);
  } finally {
    over.abort();
  }
}
