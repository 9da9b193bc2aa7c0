import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { markText, type NodeView } from '../../runs/live/nodeView.ts';
import { groupsOf, hoveredGroup, placesOf } from './drag.ts';
import { flowEdges, flowNodes, type Shown } from './flow.ts';
import { layoutOf } from '../model/layout.ts';

const COUNTS = { total: 3, succeeded: 3, failed: 0, running: 0 };
const nodes = [
  { id: 'trigger', manual: {} },
  { id: 'one', skill: { name: 'set', parameters: { values: { n: '1' } } } },
];
const shown = {
  draft: { spec: { active: false, nodes }, positions: {} },
  selection: { nodes: [], edges: [] },
  problems: { nodes: new Map(), edges: new Map(), workflow: [] },
  isReadOnly: false,
  collapsed: new Set<string>(),
};

const edgesDrawn = (all: Shown, before: Parameters<typeof flowEdges>[1] = []) =>
  flowEdges({ ...all, spec: all.draft.spec }, before);

test.each([
  [true, 'waits for its turn while the run goes on'],
  [false, 'has nothing to say when the run is over'],
])('a node without information about it (run unfinished: %s) %s', (isUnfinished) => {
  const drawn = flowNodes({ ...shown, views: new Map(), isUnfinished }, []);
  expect(drawn.map(({ data }) => data.isInRun)).toEqual([isUnfinished, isUnfinished]);
});

test('a node of a loop tells whose item its phase is', () => {
  const views = new Map([['one', { id: 'one', phase: 'Skipped', item: 2 } as const]]);
  const [, one] = flowNodes({ ...shown, views, isUnfinished: false }, []);
  expect(one && markText(one.data.view, 'skipped')).toBe('Skipped · item [2]');
});

test.each([
  [{ phase: 'Skipped', item: 0 } as const, undefined, 'Skipped · item [0]'],
  [{ phase: 'Succeeded', item: 3 } as const, '20 ms', 'Item [3] · 20 ms'],
  [{ phase: 'Succeeded', items: COUNTS } as const, '37 ms', '3 items · 37 ms'],
  [{ phase: 'Succeeded' } as const, undefined, 'Skipped'],
  [undefined, undefined, 'Skipped'],
])('the mark of %j that took %s says %s', (view, took, words) => {
  expect(markText(view, 'skipped', took)).toBe(words);
});

test.each([
  ['the trigger, without a selection', [], 'trigger'],
  ['the node that was selected last', ['trigger', 'one'], 'one'],
])('Tab reaches %s', (_what, selected, reached) => {
  const selection = { nodes: selected, edges: [] };
  const drawn = flowNodes({ ...shown, selection, views: undefined, isUnfinished: false }, []);
  expect(drawn.filter(({ data }) => data.isTabStop).map(({ id }) => id)).toEqual([reached]);
});

test.each([
  ['a disabled node that was reached', { phase: 'Skipped', reason: 'Disabled' } as const, true],
  ['a disabled node that was not reached', { phase: 'Skipped' } as const, false],
  ['a node that succeeded', { phase: 'Succeeded' } as const, true],
])('the connections into and out of %s are drawn as taken or not', (_what, view, isTaken) => {
  const three = [...nodes, { id: 'two', wait: { duration: '1m' } }];
  const views = new Map<string, NodeView>([
    ['trigger', { id: 'trigger', phase: 'Succeeded' as const }],
    ['one', { id: 'one', ...view }],
    ['two', { id: 'two', phase: isTaken ? ('Succeeded' as const) : ('Skipped' as const) }],
  ]);
  const draft = { spec: { active: false, nodes: three }, positions: {} };
  const drawn = edgesDrawn({ ...shown, draft, views, isUnfinished: false });
  expect(drawn.map(({ data }) => data?.isTaken)).toEqual([isTaken, isTaken]);
});

test('of the connections the one whose condition failed is drawn as failed', () => {
  const drawn = flowEdges(
    { ...shown, spec: ofGroups.draft.spec, views: undefined, failed: 'g>end' },
    edgesDrawn(ofGroups),
  );
  const failed = drawn.filter(({ data }) => data?.hasFailed);
  expect(failed.map(({ ariaLabel }) => ariaLabel)).toEqual(['Connection from g to end, failed']);
});

test('a disabled group and its body are drawn as disabled', () => {
  const spec = {
    active: false,
    nodes: [
      nodes[0],
      { id: 'g', group: {}, disabled: true },
      { id: 'a', within: 'g', wait: {} },
    ] as WorkflowNode[],
  };
  const draft = { spec, positions: layoutOf(spec) };
  const drawn = flowNodes({ ...shown, draft, views: undefined, isUnfinished: false }, []);
  expect(drawn.map(({ id, data }) => [id, data.isDisabled])).toEqual([
    ['trigger', false],
    ['g', true],
    ['a', true],
  ]);
});

const grouped = [
  { id: 'trigger', manual: {} },
  { id: 'g', group: {} },
  { id: 'a', skill: { name: 'set' }, within: 'g' },
  { id: 'h', group: {}, within: 'g' },
  { id: 'b', skill: { name: 'set' }, within: 'h' },
  { id: 'end', skill: { name: 'set' } },
];
const spec = { active: false, nodes: grouped };
const ofGroups = {
  ...shown,
  draft: { spec, positions: layoutOf(spec) },
  views: undefined,
  isUnfinished: false,
};
const collapsedTo = (...ids: string[]) => ({ ...ofGroups, collapsed: new Set(ids) });

test('a group is a frame below its body, and its edges are between both', () => {
  const nodes = new Map(flowNodes(ofGroups, []).map((node) => [node.id, node]));
  const edges = edgesDrawn(ofGroups);
  const layer = (id: string) => nodes.get(id)?.zIndex ?? edges.find((edge) => edge.id === id)?.zIndex ?? -1;
  expect(nodes.get('g')?.type).toBe('frame');
  expect(edges.map(({ id }) => id)).toEqual(['trigger>g', 'g>end', 'a>h', 'g:a', 'h:b']);
  const order = ['g', 'a>h', 'h', 'h:b', 'b'].map(layer);
  expect(order).toEqual(order.toSorted((one, other) => one - other));
});

test('a collapsed group is a card without its body', () => {
  expect(flowNodes(collapsedTo('g'), []).map(({ id, type }) => [id, type])).toEqual([
    ['trigger', 'card'],
    ['g', 'card'],
    ['end', 'card'],
  ]);
  expect(edgesDrawn(collapsedTo('g')).map(({ id }) => id)).toEqual(['trigger>g', 'g>end']);
  expect(edgesDrawn(collapsedTo('h')).map(({ id }) => id)).toEqual(['trigger>g', 'g>end', 'a>h', 'g:a']);
});

test('unchanged frames and edges keep their objects', () => {
  const [nodes, edges] = [flowNodes(ofGroups, []), edgesDrawn(ofGroups)];
  const again = flowNodes({ ...ofGroups, target: 'h' }, nodes);
  expect(again.filter((node, index) => node !== nodes[index]).map(({ id }) => id)).toEqual(['h']);
  expect(edgesDrawn(ofGroups, edges).every((edge, index) => edge === edges[index])).toBe(true);
});

test.each([[[]], [['g']]])('a dragged group takes its body along (collapsed: %j)', (collapsed) => {
  const state = { draft: ofGroups.draft, collapsed: new Set<string>(collapsed) };
  const { x = 0, y = 0 } =
    flowNodes(collapsedTo(...collapsed), []).find(({ id }) => id === 'g')?.position ?? {};
  const places = placesOf(state, [{ id: 'g', position: { x: x + 10, y: y - 20 } }]);
  const before = ofGroups.draft.positions;
  expect(places['b']).toEqual({ x: (before['b']?.x ?? 0) + 10, y: (before['b']?.y ?? 0) - 20 });
  expect(Object.keys(places).toSorted()).toEqual(['a', 'b', 'g', 'h']);
});

test('dragged nodes keep their group if it is dragged too', () => {
  const state = { draft: ofGroups.draft, collapsed: new Set<string>() };
  const at = (id: string) => ({ id, position: ofGroups.draft.positions[id] ?? { x: 0, y: 0 } });
  expect(groupsOf(state, [at('h'), at('b')]).map(({ id, group }) => [id, group])).toEqual([['h', 'g']]);
  const over = { id: 'end', position: at('a').position };
  expect(hoveredGroup(state, [over])).toBe('g');
  expect(hoveredGroup(state, [at('a')])).toBeUndefined();
});
