import { expect, test } from 'vitest';
import { amountText, parseAmount } from './money.ts';

test.each([
  ['0', 0],
  ['0.50', 500_000_000],
  ['0.000000001', 1],
  ['12.345678901', 12_345_678_901],
  ['1000000', 1_000_000_000_000_000],
  ['999999.999999999', 999_999_999_999_999],
])('the amount %s is %d nano-units', (text, nano) => {
  expect(parseAmount(text)).toBe(nano);
});

test.each(['', '-1', '1.', '.5', '01', '1e3', '0.0000000001', '1000001', '1,5', ' 1', 'NaN'])(
  'the text %j is no amount',
  (text) => {
    expect(parseAmount(text)).toBeUndefined();
  },
);

test.each([
  [0, '0.00'],
  [1, '0.000000001'],
  [500_000_000, '0.50'],
  [1_234_000_000, '1.234'],
  [1_000_000_000_000_000, '1000000.00'],
  [-1_500_000_000, '-1.50'],
])('%d nano-units are shown as %s', (nano, text) => {
  expect(amountText(nano)).toBe(text);
});
