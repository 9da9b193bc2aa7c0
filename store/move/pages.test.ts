/** How many keys one round trip reads. */
import { expect, test } from 'vitest';
import { nextGroupSize } from './pages.ts';

test.each([
  [16, 0, 32],
  [512, 0, 512],
  [512, 5 * 2 ** 20, 512],
  [512, 9 * 2 ** 20, 128],
  [16, 100 * 2 ** 20, 16],
])('after %d keys with %d bytes, the next group has %d keys', (keys, bytes, next) => {
  expect(nextGroupSize(keys, bytes)).toBe(next);
});
