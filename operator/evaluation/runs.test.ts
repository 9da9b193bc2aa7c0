import { expect, test } from 'vitest';
import { judge, type Verdict } from './expectations.ts';
import { resultsOf, type PinnedVariant } from './runs.ts';

const variant = (name: string): PinnedVariant => ({ name, revision: `${name}-1`, trigger: 'manual' });
const variants = [variant('small'), variant('large')];
const given = { name: 'a', phase: 'Succeeded' as const, mocks: [], expect: [] };
const runs = ['0', '1', '2', '3'].map((name, index) => ({
  name,
  case: given,
  variant: variants[index % 2] as PinnedVariant,
}));
const verdict = (more: Partial<Verdict> = {}): Verdict => ({ findings: [], tokens: 10, seconds: 1, ...more });

test('each variant has the sums of its ended runs, with the cost as far as it is known', () => {
  const failed = { findings: [{ expectation: 'contains: x', got: 'y' }] };
  const {
    result,
    variants: all,
    failures,
  } = resultsOf(
    runs,
    variants,
    new Map([
      ['0', verdict({ cost: { nano: 100_000_000, currency: 'EUR' } })],
      ['2', verdict({ ...failed, cost: { nano: 25_000_000, currency: 'EUR' }, seconds: 2 })],
      ['1', verdict()],
    ]),
  );
  expect(result).toBe('small: 1/2 (50%), 20 tokens, 0.125 EUR, 1.5s | large: 1/1 (100%), 10 tokens, 1s');
  expect(all[0]).toMatchObject({ cost: '0.125', currency: 'EUR', passed: 1, failed: 1, total: 2 });
  expect(all[1]).not.toHaveProperty('cost');
  expect(failures).toEqual([{ case: 'a', variant: 'small', run: '2', ...failed.findings[0] }]);
});

test('the cost of a run is that of its status', () => {
  const run = (usage: object) => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowRun',
    metadata: { name: 'r' },
    spec: { workflow: 'w' },
    status: { phase: 'Succeeded', usage },
  });
  const costOf = (usage: object) => judge({ phase: 'Succeeded', expect: [] }, run(usage) as never).cost;
  expect(costOf({ tokens: 9, cost: '0.0001', currency: 'USD' })).toEqual({ nano: 100_000, currency: 'USD' });
  expect(costOf({ tokens: 9 })).toBeUndefined();
});
