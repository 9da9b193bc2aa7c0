/** Time that can be replaced in tests. It is monotonic: no change of the wall clock moves it. */

export type Clock = {
  /** Milliseconds since an arbitrary moment; never goes back. */
  now(): number;
  /** The time of day, for what is written into objects. */
  date(): Date;
  /** Calls `callback` after `ms`; the function it returns cancels that. */
  timer(ms: number, callback: () => void): () => void;
};

/** The longest delay that Node takes without turning it into 1 ms. */
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
