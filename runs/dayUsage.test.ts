import { expect, test } from 'vitest';
import { latestUsage } from './dayUsage.ts';

const used = { day: 20_782, tokens: 100, cost: 1_500_000_000, currency: 'EUR' };

test('live runs and test runs of the last day count together', () => {
  expect(latestUsage([used, { ...used, tokens: 50 }])).toEqual({
    date: '2026-11-25',
    tokens: 150,
    cost: '3.00',
    currency: 'EUR',
  });
});

test('an earlier day does not count, and an unknown cost is left out', () => {
  expect(
    latestUsage([
      { ...used, day: 20_781 },
      { ...used, tokens: 7, cost: 0 },
    ]),
  ).toEqual({
    date: '2026-11-25',
    tokens: 7,
  });
  expect(latestUsage([])).toBeUndefined();
});
