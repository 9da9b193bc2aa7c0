/** Works on a list with a limit of how much happens at the same time. */

/**
 * Calls `work` for each item in order, at most `atOnce` at a time. After `signal` aborts no further item
 * begins. Rejects with the first failure of `work`.
 */
export async function eachAtOnce<T>(
  items: readonly T[],
  { atOnce, signal }: { atOnce: number; signal?: AbortSignal },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const workOn = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      if (signal?.aborted === true) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, workOn));
}
