import { expect, test } from 'vitest';
import { eachAtOnce } from './eachAtOnce.ts';

test('at most the given number of items are worked on at the same time, all of them in order', async () => {
  const begun: number[] = [];
  let busy = 0;
  let most = 0;
  await eachAtOnce([1, 2, 3, 4, 5, 6, 7], { atOnce: 3 }, async (item) => {
    begun.push(item);
    most = Math.max(most, ++busy);
    await Promise.resolve();
    busy -= 1;
  });
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

test('no item begins after it was stopped', async () => {
  const stop = new AbortController();
  const begun: number[] = [];
  await eachAtOnce([1, 2, 3], { atOnce: 1, signal: stop.signal }, (item) => {
    begun.push(item);
    if (item === 2) stop.abort();
    return Promise.resolve();
  });
  expect(begun).toEqual([1, 2]);
});

test('the first failure is the failure of all', async () => {
  const work = () => Promise.reject(new Error('refused'));
  await expect(eachAtOnce([1, 2], { atOnce: 2 }, work)).rejects.toThrow('refused');
});
