import { expect, test } from 'vitest';
import { usedByWorkflow } from './modelUse.ts';

const usage = (tokens: number) => ({ date: '2026-11-30', tokens });
const small = { workflow: 'shop.small', tokens: 10 };
const large = { workflow: 'shop.large', tokens: 500 };
const expensive = { workflow: 'shop.expensive', tokens: 5, cost: '0.20', currency: 'USD' };

test('the most expensive workflow comes first, then the largest use', () => {
  const { used, rest } = usedByWorkflow({ usage: usage(515), workflows: [small, expensive, large] });
  expect(used).toEqual([expensive, large, small]);
  expect(rest).toBe(0);
});

test.each([
  [[small], 505],
  [[], 515],
])('what %j did not use is that of other workflows: %i tokens', (workflows, rest) => {
  expect(usedByWorkflow({ usage: usage(515), workflows }).rest).toBe(rest);
});
