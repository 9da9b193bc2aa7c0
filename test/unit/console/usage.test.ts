import { expect, test } from 'vitest';
import { costText, sumOfUsage, usageText } from '../../../console/ui/usage.ts';

test.each([
  ['0.00', '0.00'],
  ['0.5', '0.50'],
  ['1234.567', '1,234.56'],
  ['0.000053', '0.000053'],
  ['0.00012345', '0.00012'],
])('the cost %s is shown as %s', (cost, text) => {
  expect(costText(cost)).toBe(text);
});

test('usage is shown with its cost and with what is estimated', () => {
  expect(usageText({ tokens: 1_200 })).toBe('1,200 tokens');
  expect(usageText({ tokens: 1_200, estimatedTokens: 500, cost: '0.0042', currency: 'USD' })).toBe(
    '1,200 tokens (500 estimated), 0.0042 USD',
  );
});

test('the usage of a project is that of its workflows today', () => {
  const date = '2026-11-25';
  const usages = [
    { date, tokens: 10, cost: '0.10', currency: 'USD' },
    { date, tokens: 5 },
    { date, tokens: 1, cost: '0.000000001', currency: 'USD' },
    { date: '2026-11-24', tokens: 99, cost: '9', currency: 'USD' },
  ];
  expect(sumOfUsage(usages, date)).toEqual({
    tokens: 16,
    workflows: 3,
    cost: '0.100000001',
    currency: 'USD',
  });
  expect(sumOfUsage(usages, '2026-11-26')).toBeUndefined();
});
