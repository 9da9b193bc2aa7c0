/** Batches frequent events, so that the page redraws a few times per second instead of once per event. */

type Change<T> = (before: T) => T;

export type Changes<T> = {
  add(change: Change<T>): void;
  /** Discards pending changes: a newer version was read. */
  drop(): void;
};

/** Short enough to go unnoticed. */
const BATCH_MS = 80;

/** Applies the changes within that time together, in order. */
export function batchChanges<T>(make: (change: Change<T>) => unknown): Changes<T> {
  let waiting: Change<T>[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    add: (change) => {
      waiting.push(change);
      timer ??= setTimeout(() => {
        const all = waiting;
        timer = undefined;
        waiting = [];
        make((before) => all.reduce((value, each) => each(value), before));
      }, BATCH_MS);
    },
    drop: () => {
      clearTimeout(timer);
      timer = undefined;
      waiting = [];
    },
  };
}
