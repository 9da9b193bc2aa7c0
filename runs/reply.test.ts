import { expect, test } from 'vitest';
import { recheckDelayMs } from './reply.ts';

test.each([
  [1, 0, 500],
  [1, 1, 1_500],
  [500, 0.5, 1_000],
  [4_000, 0, 4_000],
  [4_000, 1, 12_000],
])('one of %i waiters at chance %d reads again after %i ms', (waiting, random, expected) => {
  expect(recheckDelayMs(waiting, random)).toBe(expected);
});
