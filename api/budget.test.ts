import { expect, test } from 'vitest';
import { limitOfBudget, projectBudget, projectBudgetProblems, stepBudget } from './budget.ts';

const annotated = (tokens?: string, cost?: string) => ({
  ...(tokens !== undefined && { 'windlass.dev/budget-tokens-per-day': tokens }),
  ...(cost !== undefined && { 'windlass.dev/budget-cost-per-day': cost }),
});

test.each<[Parameters<typeof limitOfBudget>[0], object]>([
  [{ tokens: 10 }, { tokens: 10 }],
  [{ cost: '0.50' }, { cost: 500_000_000 }],
  [
    { tokens: 0, cost: '0' },
    { tokens: 0, cost: 0 },
  ],
])('the budget %o is the limit %o', (budget, limit) => {
  expect(limitOfBudget(budget)).toEqual(limit);
});

test.each(['1e3', '-0.5', '0,5', '1000001', '0.1234567891'])('a budget refuses the cost %j', (cost) => {
  expect(stepBudget.safeParse({ cost }).success).toBe(false);
});

test('annotations of a namespace are the budget of its project', () => {
  expect(projectBudget({})).toBeUndefined();
  expect(projectBudget(annotated('1000'))).toEqual({ tokens: 1000 });
  expect(projectBudget(annotated('1000', '2.50'))).toEqual({ tokens: 1000, cost: 2_500_000_000 });
});

test('an invalid annotation allows nothing, and is reported', () => {
  expect(projectBudget(annotated('10k', 'ten'))).toEqual({ tokens: 0, cost: 0 });
  expect(projectBudgetProblems(annotated('10k', 'ten'))).toEqual([
    'windlass.dev/budget-tokens-per-day must be a whole number of tokens',
    'windlass.dev/budget-cost-per-day must be a decimal text such as "10.00"',
  ]);
  expect(projectBudgetProblems(annotated('10', '0.1'))).toEqual([]);
});
