import { expect, test } from 'vitest';
import { pollDelayMs } from './delay.ts';

test.each([
  [1, 60, 60],
  [2, 60, 120],
  [3, 60, 240],
  [5, 60, 900],
  [400, 60, 900],
  [1, 5, 5],
  [4, 5, 40],
  [30, 5, 900],
  [1, 3_600, 3_600],
  [9, 3_600, 3_600],
])(
  'after failure %d of a poll each %d s the next one comes after %d s',
  (failures, intervalSeconds, seconds) => {
    expect(pollDelayMs({ failures, intervalSeconds }, 0)).toBe(seconds * 1_000);
  },
);

test.each([
  ['a longer time', 600, 600],
  ['a shorter time', 30, 240],
  ['longer than a day', 1_000_000, 86_400],
])('where the provider asks for %s, %d s, it is %d s', (_what, retryAfterSeconds, seconds) => {
  expect(pollDelayMs({ failures: 3, intervalSeconds: 60, retryAfterSeconds }, 0)).toBe(seconds * 1_000);
});

test('accounts that failed together come back up to a tenth apart, and none before its interval', () => {
  expect(pollDelayMs({ failures: 3, intervalSeconds: 60 }, 1)).toBe(216_000);
  expect(pollDelayMs({ failures: 1, intervalSeconds: 60 }, 1)).toBe(60_000);
});
