import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { disabledIn, switchNodes, switchOf } from './disabling.ts';
import type { Draft } from './model.ts';

const step = (id: string, more: Partial<WorkflowNode> = {}): WorkflowNode => ({
  id,
  wait: { duration: '1m' },
  ...more,
});
const draft: Draft = {
  spec: {
    active: true,
    nodes: [
      { id: 'trigger', manual: {} },
      step('a'),
      step('off', { disabled: true }),
      { id: 'g', group: {}, disabled: true },
      step('inner', { within: 'g' }),
    ],
  },
  positions: {},
};
const offIn = ({ spec }: Draft) => spec.nodes.filter(({ disabled }) => disabled).map(({ id }) => id);

test.each<[selected: string[], action: string | undefined, off: string[]]>([
  [[], undefined, ['off', 'g']],
  [['trigger'], undefined, ['off', 'g']],
  [['nobody'], undefined, ['off', 'g']],
  [['a'], 'Disable', ['a', 'off', 'g']],
  [['off'], 'Enable', ['g']],
  [['off', 'g'], 'Enable', []],
  [['a', 'off'], 'Disable', ['a', 'off', 'g']],
  [['trigger', 'a'], 'Disable', ['a', 'off', 'g']],
])('with %j selected, D does %s', (selected, action, off) => {
  expect(switchOf(draft, selected)).toBe(action);
  expect(offIn(switchNodes(draft, selected))).toEqual(off);
});

test('an enabled node is what it was before it was disabled, and a change of nothing is none', () => {
  const again = switchNodes(switchNodes(draft, ['a']), ['a']);
  expect(again).toEqual(draft);
  expect(again.spec.nodes[1]).not.toHaveProperty('disabled');
  expect(switchNodes(draft, ['trigger'])).toBe(draft);
});

test('runs do not execute disabled nodes, nor the body of a disabled group', () => {
  expect([...disabledIn(draft.spec)]).toEqual(['off', 'g', 'inner']);
  expect(disabledIn({ nodes: [step('a')] }).size).toBe(0);
});
