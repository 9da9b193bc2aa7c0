import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { layoutOf } from './layout.ts';

const set = (id: string, n = 1) => ({ id, skill: { name: 'set', parameters: { values: { n } } } });
const specOf = (nodes: object[], edges?: object[]) => ({ nodes, ...(edges && { edges }) }) as WorkflowSpec;
const trigger = { id: 'trigger', manual: {} };
const EDGES = [
  { from: 'trigger', to: 'one' },
  { from: 'trigger', to: 'two' },
];
const spec = specOf([trigger, set('one'), set('two')], EDGES);

test('a graph is laid out once, whatever its nodes do', () => {
  expect(layoutOf(specOf([trigger, set('one', 2), set('two', 3)], EDGES))).toBe(layoutOf(spec));
});

test.each<[string, WorkflowSpec]>([
  ['another node', specOf([trigger, set('one'), set('two'), set('three')], EDGES)],
  ['other edges', specOf([trigger, set('one'), set('two')], EDGES.slice(0, 1))],
  ['a chain', specOf([trigger, set('one'), set('two')])],
  ['a longer label', specOf([trigger, set('one'), set('two')], [{ ...EDGES[0], when: 'a'.repeat(40) }])],
  [
    'a body',
    specOf([trigger, { id: 'one', group: {} }, { ...set('two'), within: 'one' }], EDGES.slice(0, 1)),
  ],
])('a graph with %s is laid out again', (_what, other) => {
  expect(layoutOf(other)).not.toEqual(layoutOf(spec));
});

test('branches are one below the other in the order of their connections', () => {
  const branches = ['one', 'two', 'three', 'four'];
  const edges = branches.map((to) => ({ from: 'trigger', to }));
  const places = layoutOf(specOf([trigger, ...branches.map((id) => set(id))], edges));
  expect(branches.toSorted((one, other) => (places[one]?.y ?? 0) - (places[other]?.y ?? 0))).toEqual(
    branches,
  );
});
