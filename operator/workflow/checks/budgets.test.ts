import { expect, test } from 'vitest';
import { NO_PRICES, priceTable } from '../../../api/price.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { budgetNotes, budgetsFit } from './budgets.ts';

const prices = priceTable.parse({
  models: [
    { model: 'priced', input: '1', output: '2', source: 'https://models.example', date: '2026-11-25' },
  ],
});

function spec(agent: object, budget?: object): WorkflowSpec {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'a', agent: { credential: 'llm', model: 'priced', prompt: 'Hi', ...agent } },
  ];
  return { active: true, nodes, ...(budget && { budget }) };
}

test.each<[string, object, object | undefined, RegExp | undefined]>([
  ['with a price', { budget: { cost: '1' } }, undefined, undefined],
  ['in tokens without a price', { model: 'new', budget: { tokens: 9_000 } }, undefined, undefined],
  [
    'of the step',
    { model: 'new', budget: { cost: '1' } },
    undefined,
    /node a: agent.budget .*no price of new/,
  ],
  ['of the run', { model: 'new' }, { run: { cost: '1' } }, /budget.run limits the cost/],
  ['of the day', { model: 'new' }, { day: { cost: '1' } }, /budget.day limits the cost/],
  [
    'of a fallback',
    { fallback: [{ credential: 'b', model: 'other' }], budget: { cost: '1' } },
    undefined,
    /no price of other/,
  ],
  [
    'of a model that a reference gives',
    { model: '{{ $vars.m }}', budget: { cost: '1' } },
    undefined,
    undefined,
  ],
  ['smaller than an answer', { budget: { tokens: 4_096 } }, undefined, /no request is sent/],
  ['with room for an answer', { maxTokens: 10, budget: { tokens: 4_096 } }, undefined, undefined],
])('a budget %s: %#', (_name, agent, budget, note) => {
  const notes = budgetNotes(spec(agent, budget), { prices });
  expect(notes).toHaveLength(note ? 1 : 0);
  expect(notes.join('')).toMatch(note ?? /^$/);
});

test('budgets of the namespace are checked, too', () => {
  const annotations = { 'windlass.dev/budget-cost-per-day': 'much' };
  expect(budgetNotes(spec({}), { prices: NO_PRICES, annotations })).toEqual([
    expect.stringMatching(/^Annotation of the namespace: windlass.dev\/budget-cost-per-day must be/),
    expect.stringMatching(/the budget of the project limits the cost/),
  ]);
});

test('a budget without an agent is noted', () => {
  const { nodes, ...rest } = spec({}, { day: { tokens: 1 } });
  expect(budgetNotes({ ...rest, nodes: nodes.slice(0, 1) }, { prices })).toEqual([
    'budget has no effect, because the workflow has no agent.',
  ]);
  const chat = [{ id: 'trigger', chat: { access: 'Public' } }] as unknown as WorkflowSpec['nodes'];
  expect(budgetNotes({ ...rest, nodes: chat }, { prices })).toEqual([]);
});

test('options that lift the limit of output are refused under a budget alone', () => {
  const options = { max_tokens: 9_999 };
  expect(budgetsFit(spec({ options }))).toEqual([]);
  expect(budgetsFit(spec({ options, budget: { tokens: 9_000 } }))).toMatchObject([
    {
      reason: 'InvalidParameters',
      message: expect.stringMatching(/^node a: agent: options: max_tokens/) as string,
    },
  ]);
  expect(budgetsFit(spec({ options }, { day: { tokens: 9_000 } }))).toHaveLength(1);
});
