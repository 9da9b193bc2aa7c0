/** Calls `work` with 0 to `total` - 1, at most `width` at the same time. Rejects with the first failure. */
export async function inParallel(
  total: number,
  width: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < total; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
