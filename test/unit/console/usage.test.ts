import { expect, test } from 'vitest';
import { costText, unpricedTokens, usageNote, usageText } from '../../../console/ui/usage.ts';

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

test('tokens of a day without a price are those of workflows whose use has none', () => {
  const usages = [{ tokens: 10, cost: '0.10', currency: 'USD' }, { tokens: 5 }, { tokens: 2 }];
  expect(unpricedTokens(usages)).toBe(7);
  expect(unpricedTokens([])).toBe(0);
});

test('a cost says how many tokens it does not cover', () => {
  const used = { tokens: 5_418, cost: '0.0043', currency: 'USD' };
  expect(usageNote(used, 4_584)).toBe(
    '5,418 tokens. The cost leaves out 4,584 tokens of models without a price.',
  );
  expect(usageNote(used, 0)).toBe('5,418 tokens.');
  expect(usageNote({ tokens: 5 }, 5)).toBe('No prices are set.');
});
