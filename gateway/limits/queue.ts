/** First come, first served. What was taken is let go, also when the queue is never empty. */

export type Queue<T> = { push: (item: T) => void; shift: () => T | undefined; size: () => number };

export function createQueue<T>(): Queue<T> {
  let arrived: T[] = [];
  /** What arrived before all that is in `arrived`, the last of it first. */
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
