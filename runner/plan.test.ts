import { expect, test } from 'vitest';
import { revision, webhook } from '../test/support/runner/passes.ts';
import { planOf } from './plan.ts';

test('code sees the nodes before it alone, however it names others', () => {
  const code = (id: string) => ({
    id,
    kind: 'code' as const,
    code: { source: 'const { trigger, first, beside } = nodes; return first;' },
  });
  const edges = [
    { from: 'trigger', to: 'first' },
    { from: 'first', to: 'last' },
    { from: 'trigger', to: 'beside' },
  ];
  const plan = planOf(revision([webhook, code('first'), code('last'), code('beside')], edges));
  const input = (id: string) =>
    plan.steps.get(id)?.fields({ node: () => ({ text_content: '', data_content: null }) });
  expect(Object.keys(Object(input('last')?.['nodes']))).toEqual(['trigger', 'first']);
  expect(Object.keys(Object(input('beside')?.['nodes']))).toEqual(['trigger']);
});
