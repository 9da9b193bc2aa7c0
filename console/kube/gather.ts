/** Where events come by the hundred, what is shown changes a few times a second and not with each of them. */

type Change<T> = (before: T) => T;

export type Changes<T> = {
  add(change: Change<T>): void;
  /** Forgets what was not made yet: something newer was read. */
  drop(): void;
};

/** Shorter than anybody notices. */
const GATHER_MS = 80;

/** Makes the changes that come within that time as one, in their order. */
export function gatherChanges<T>(make: (change: Change<T>) => unknown): Changes<T> {
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
      }, GATHER_MS);
    },
    drop: () => {
      clearTimeout(timer);
      timer = undefined;
      waiting = [];
    },
  };
}
