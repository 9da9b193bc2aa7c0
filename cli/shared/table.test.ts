import { expect, test } from 'vitest';
import { shortDuration, tableLines } from './table.ts';

test('columns are as wide as their widest cell, and no line ends with a space', () => {
  const rows = [
    ['orders-1', 'Failed'],
    ['a', ''],
  ];
  expect(tableLines(['NAME', 'PHASE'], rows)).toEqual(['NAME      PHASE', 'orders-1  Failed', 'a']);
});

test.each([
  [0, '0s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [3_599_000, '59m'],
  [7_200_000, '2h'],
  [172_800_000, '2d'],
  [-5, '0s'],
  [Number.NaN, ''],
])('%i ms are %s', (ms, text) => {
  expect(shortDuration(ms)).toBe(text);
});
