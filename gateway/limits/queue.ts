/** A first-in, first-out queue. Removed items are released even if the queue never becomes empty. */

export type Queue<T> = { push: (item: T) => void; shift: () => T | undefined; size: () => number };

export function createQueue<T>(): Queue<T> {
  let arrived: T[] = [];
  /** Items older than those in `arrived`, in reverse order. */
  let due: T[] = [];
  return {
    push: (item) => void arrived.push(item),
    shift: () => {
      if (due.length === 0) [due, arrived] = [arrived.toReversed(), []];
      return due.pop();
    },
    size: () => due.length + arrived.length,
  };
}
