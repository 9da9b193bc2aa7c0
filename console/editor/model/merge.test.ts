import { expect, test } from 'vitest';
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { edgesOf } from './graph.ts';
import { mergeDrafts } from './merge.ts';
import type { Draft } from './model.ts';

const node = (id: string, n = '1'): WorkflowNode => ({
  id,
  skill: { name: 'set', parameters: { values: { n } } },
});
const trigger: WorkflowNode = { id: 'trigger', manual: {} };
const draft = (
  nodes: WorkflowNode[],
  rest: Partial<WorkflowSpec> = {},
  positions: Draft['positions'] = {},
) => ({
  spec: { active: false, nodes: [trigger, ...nodes], ...rest },
  positions,
});
const edges = (...pairs: string[]): WorkflowEdge[] =>
  pairs.map((pair) => {
    const [from = '', to = ''] = pair.split('>');
    return { from, to };
  });
const base = draft([node('one'), node('two')]);
const pairsOf = (merged: Draft | undefined) =>
  merged &&
  edgesOf(merged.spec)
    .map(({ from, to }) => `${from}>${to}`)
    .toSorted();

test('changes of different nodes and settings are both kept', () => {
  const mine = draft([node('one', '2'), node('two')], { displayName: 'Mine' });
  const theirs = draft([node('one'), node('two', '3')], { description: 'Theirs' });
  expect(mergeDrafts(base, mine, theirs)?.spec).toEqual({
    active: false,
    displayName: 'Mine',
    description: 'Theirs',
    nodes: [trigger, node('one', '2'), node('two', '3')],
  });
});

test('nodes that both added after the same one become two branches', () => {
  const mine = draft([node('one'), node('two'), node('mine')]);
  const theirs = draft([node('one'), node('two'), node('theirs')]);
  expect(pairsOf(mergeDrafts(base, mine, theirs))).toEqual([
    'one>two',
    'trigger>one',
    'two>mine',
    'two>theirs',
  ]);
});

test('a node that one removed is gone, also where the other one moved it', () => {
  const removed = draft([node('one')]);
  const moved = draft([node('one'), node('two')], {}, { two: { x: 9, y: 9 } });
  expect(mergeDrafts(base, removed, moved)?.spec.nodes).toEqual([trigger, node('one')]);
  expect(mergeDrafts(base, moved, removed)?.positions).toEqual({});
});

test('where both moved a node, their position counts', () => {
  const at = (x: number) => draft([node('one'), node('two')], {}, { one: { x, y: 0 } });
  expect(mergeDrafts(at(0), at(1), at(2))?.positions['one']).toEqual({ x: 2, y: 0 });
  expect(mergeDrafts(at(0), at(1), at(0))?.positions['one']).toEqual({ x: 1, y: 0 });
});

const twoBranches = (...more: string[]) =>
  draft([node('one'), node('two')], { edges: edges('trigger>one', 'trigger>two', ...more) });

test.each<[string, Draft, Draft, Draft]>([
  ['the same node', base, draft([node('one', '2'), node('two')]), draft([node('one', '3'), node('two')])],
  ['a node that the other one removed', base, draft([node('one', '2'), node('two')]), draft([node('two')])],
  ['the same setting', base, draft([], { displayName: 'A' }), draft([], { displayName: 'B' })],
  ['connections that make a cycle together', twoBranches(), twoBranches('one>two'), twoBranches('two>one')],
  [
    'a node in a group that the other one removed',
    draft([
      { id: 'loop', group: {} },
      { ...node('one'), within: 'loop' },
    ]),
    draft([
      { id: 'loop', group: {} },
      { ...node('one'), within: 'loop' },
      { ...node('new'), within: 'loop' },
    ]),
    draft([node('one')]),
  ],
])('people must decide about %s', (_what, before, mine, theirs) => {
  expect(mergeDrafts(before, mine, theirs)).toBeUndefined();
});
