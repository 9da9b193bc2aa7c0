import { expect, test } from 'vitest';
import { Quantity } from './quantity.ts';

test.each([
  ['500m', 0.5],
  ['2', 2],
  ['1Gi', 2 ** 30],
  ['1e3', 1000],
  ['1.5k', 1500],
])('%s is %d', (text, value) => {
  expect(new Quantity(text).value).toBe(value);
});

test.each(['', 'x', '1Q', '--1'])('%j is no quantity', (text) => {
  expect(() => new Quantity(text)).toThrow(RangeError);
});
