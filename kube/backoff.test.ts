import { expect, test } from 'vitest';
import { backoffDelay } from './backoff.ts';

const backoff = { initialMs: 100, factor: 3, maxMs: 5_000, jitter: 0.5 };
const middle = (): number => 0.5;

test.each([
  { failures: 0, expected: 100 },
  { failures: 1, expected: 100 },
  { failures: 2, expected: 300 },
  { failures: 3, expected: 900 },
  { failures: 5, expected: 5_000 },
  { failures: 10_000, expected: 5_000 },
])('without jitter, failure $failures waits $expected ms', ({ failures, expected }) => {
  expect(backoffDelay(backoff, failures, middle)).toBe(expected);
});

test('jitter spreads by its share to both sides and never beyond the maximum', () => {
  expect(backoffDelay(backoff, 2, () => 0)).toBe(150);
  expect(backoffDelay(backoff, 2, () => 0.999)).toBeCloseTo(449.7);
  expect(backoffDelay(backoff, 9, () => 0.999)).toBe(5_000);
});
