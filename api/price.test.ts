import { expect, test } from 'vitest';
import { costOf, hasPrice, highestCost, priceTable, ratesOf, type PricedTokens } from './price.ts';

const line = { source: 'https://models.example/prices', date: '2026-11-25' };
const table = priceTable.parse({
  models: [
    { ...line, model: 'm', input: '1.25', output: '10', cachedInput: '0.125', cacheWrite: '1.5625' },
    { ...line, provider: 'openai', model: 'm', input: '2', output: '8' },
    { ...line, provider: 'anthropic', model: 'c', input: '0.1', output: '0.3' },
  ],
});
const rates = ratesOf(table, 'anthropic', 'm')!;

test.each<[PricedTokens, number]>([
  [{ inputTokens: 0, outputTokens: 0 }, 0],
  [{ inputTokens: 1, outputTokens: 0 }, 1_250],
  [{ inputTokens: 0, outputTokens: 1 }, 10_000],
  [{ inputTokens: 1_000_000, outputTokens: 1_000_000 }, 11_250_000_000],
  [{ inputTokens: 10, outputTokens: 0, cachedInputTokens: 4 }, 6 * 1_250 + 4 * 125],
  [{ inputTokens: 10, outputTokens: 0, cacheWriteTokens: 10 }, 15_625],
  // 1,562.5 nano-units: rounded up.
  [{ inputTokens: 1, outputTokens: 0, cacheWriteTokens: 1 }, 1_563],
  [{ inputTokens: 3, outputTokens: 0, cachedInputTokens: 1, cacheWriteTokens: 1 }, 1_250 + 125 + 1_563],
  // More from the cache than input: a provider that counts wrongly costs no less than its parts.
  [{ inputTokens: 1, outputTokens: 0, cachedInputTokens: 2 }, 250],
])('tokens %o cost %d nano-units', (tokens, nano) => {
  expect(costOf(rates, tokens)).toBe(nano);
});

test('a price that binary fractions cannot represent is exact for many tokens', () => {
  const exact = ratesOf(table, 'anthropic', 'c')!;
  expect(costOf(exact, { inputTokens: 3_000_000, outputTokens: 7 })).toBe(300_000_000 + 2_100);
});

test('what is reserved is never less than what any use of the cache costs', () => {
  const most = { inputTokens: 1_000, outputTokens: 50 };
  for (const cache of [{}, { cachedInputTokens: 1_000 }, { cacheWriteTokens: 1_000 }])
    expect(highestCost(rates, most)).toBeGreaterThanOrEqual(costOf(rates, { ...most, ...cache }));
});

test('a line for the kind of the credential wins over one for every kind', () => {
  expect(ratesOf(table, 'openai', 'm')).toEqual({
    input: 2_000_000_000,
    cachedInput: 2_000_000_000,
    cacheWrite: 2_000_000_000,
    output: 8_000_000_000,
  });
  expect(rates.input).toBe(1_250_000_000);
  expect(ratesOf(table, 'openai', 'c')).toBeUndefined();
  expect(hasPrice(table, 'c')).toBe(true);
  expect(hasPrice(table, 'other')).toBe(false);
});

test.each([
  [{ ...line, model: 'm', input: '-1', output: '1' }],
  [{ ...line, model: 'm', input: 1, output: '1' }],
  [{ ...line, model: 'm', input: '1' }],
  [{ model: 'm', input: '1', output: '1' }],
  [{ ...line, model: 'm', input: '1', output: '1', perToken: '1' }],
])('the table refuses %o', (model) => {
  expect(priceTable.safeParse({ models: [model] }).success).toBe(false);
});
