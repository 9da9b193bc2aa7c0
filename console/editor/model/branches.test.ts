/** Branches that are added at once. */
import { expect, test } from 'vitest';
import { addBranches } from './branches.ts';
import { edgesOf } from './graph.ts';
import type { Draft } from './model.ts';
import { isOtherwise } from './otherwise.ts';

const draft: Draft = {
  spec: {
    active: false,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'vip', response: {} },
    ],
  },
  positions: {},
};
const paid = 'nodes.trigger.data_content.state == "paid"';
const open = 'nodes.trigger.data_content.state == "open"';

test('each branch has its condition and a node with its label, and the last one is taken otherwise', () => {
  const { draft: next, ids } = addBranches(draft, 'trigger', [
    { label: 'Paid', when: paid },
    { label: 'Still open!', when: open },
    { label: 'VIP' },
  ]);
  const edges = edgesOf(next.spec);
  expect(ids).toEqual(['paid', 'still_open_', 'vip_2']);
  expect(edges.filter(({ to }) => ids.includes(to))).toEqual([
    { from: 'trigger', to: 'paid', when: paid },
    { from: 'trigger', to: 'still_open_', when: open },
    { from: 'trigger', to: 'vip_2', when: `!(${paid}) && !(${open})` },
  ]);
  expect(edges.filter((edge) => isOtherwise(edges, edge)).map(({ to }) => to)).toEqual(['vip_2']);
  expect(next.spec.nodes.find(({ id }) => id === 'paid')).toEqual({
    id: 'paid',
    displayName: 'Paid',
    skill: { name: 'set', parameters: { values: 'nodes.trigger.data_content' } },
  });
  expect(edges).toContainEqual({ from: 'trigger', to: 'vip' });
});

test('branches stay in the group of their node, and do not overlap', () => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'loop', group: {}, forEach: { items: '' } },
    { id: 'a', within: 'loop', response: {} },
  ];
  const { draft: next, ids } = addBranches({ spec: { active: false, nodes }, positions: {} }, 'a', [
    { label: 'One', when: 'true' },
    { label: 'Two' },
  ]);
  expect(next.spec.nodes.filter(({ id }) => ids.includes(id)).map(({ within }) => within)).toEqual([
    'loop',
    'loop',
  ]);
  const [one, two] = ids.map((id) => next.positions[id]?.y ?? Number.NaN);
  expect(Math.abs((one ?? 0) - (two ?? 0))).toBeGreaterThan(40);
});
