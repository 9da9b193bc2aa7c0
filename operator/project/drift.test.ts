import { expect, test } from 'vitest';
import { latestDriftCheckMs, nextDriftCheckMs } from './drift.ts';

const MINUTE_MS = 60_000;

test.each([
  { isAsleep: false, count: 1, minutes: 5 },
  { isAsleep: false, count: 60, minutes: 5 },
  { isAsleep: false, count: 1_000, minutes: 75 },
  { isAsleep: false, count: 10_000, minutes: 750 },
  { isAsleep: true, count: 1, minutes: 5 },
  { isAsleep: true, count: 1_000, minutes: 600 },
])(
  '$count pools of which isAsleep is $isAsleep are compared every $minutes minutes on average',
  ({ minutes, ...pools }) => {
    expect(nextDriftCheckMs(pools, 0.5)).toBe(minutes * MINUTE_MS);
  },
);

test('comparisons are spread, so that those of all projects never come at once', () => {
  const pools = { isAsleep: false, count: 1 };
  expect(nextDriftCheckMs(pools, 0)).toBe(2.5 * MINUTE_MS);
  expect(nextDriftCheckMs(pools, 0.999)).toBeLessThan(7.5 * MINUTE_MS);
  expect(latestDriftCheckMs(pools)).toBe(7.5 * MINUTE_MS);
});
