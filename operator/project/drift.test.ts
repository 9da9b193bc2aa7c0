import { expect, test } from 'vitest';
import { nextDriftCheckMs } from './drift.ts';

const MINUTE_MS = 60_000;

test.each([
  [1, 5],
  [60, 5],
  [1_000, 75],
  [10_000, 750],
])('the pools of %i projects are compared every %i minutes on average', (projects, minutes) => {
  expect(nextDriftCheckMs(projects, () => 0.5)).toBe(minutes * MINUTE_MS);
});

test('comparisons are spread, so that those of all projects never come at once', () => {
  expect(nextDriftCheckMs(1, () => 0)).toBe(2.5 * MINUTE_MS);
  expect(nextDriftCheckMs(1, () => 0.999)).toBeLessThan(7.5 * MINUTE_MS);
});
