/** Room for labels, which authors get without tidying up. */
import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { addBranches } from './branches.ts';
import { boxesOf, covers } from './frames.ts';
import { edgesOf } from './graph.ts';
import { gapFor, labelOf } from './labelRoom.ts';
import { layoutOf } from './layout.ts';
import { addNode, insertOnEdge, updateEdge, type Draft } from './model.ts';
import { GAP, type Positions } from './place.ts';

const TOTAL = { when: 'nodes.trigger.data_content.total > 1000.0' };
const FAILURE = { after: 'Failure' } as const;

/** Nodes such as `trigger a g b@g`, of which b is in the group g, with edges such as `trigger>a`. */
function draftOf(ids: string, pairs: string, positions?: Positions): Draft {
  const nodes = ids.split(' ').map((word): WorkflowNode => {
    const [id = '', within] = word.split('@');
    const kind = id === 'trigger' ? { manual: {} } : id.startsWith('g') ? { group: {} } : { wait: {} };
    return { id, ...kind, ...(within !== undefined && { within }) };
  });
  const edges = pairs.split(' ').map((pair) => {
    const [from = '', to = ''] = pair.split('>');
    return { from, to };
  });
  const spec = { active: false, nodes, edges };
  return { spec, positions: positions ?? layoutOf(spec) };
}

const at = (x: number, y = 0) => ({ x, y });
const xOf = ({ positions }: Draft, id: string) => positions[id]?.x ?? NaN;

/** The connections with a label that is wider than the space between their ends. */
function cutLabels({ spec, positions }: Draft): string[] {
  const boxes = boxesOf(spec.nodes, positions);
  const edges = edgesOf(spec);
  return edges.flatMap(({ from, to }) => {
    const [source, target] = [boxes.get(from), boxes.get(to)];
    const space = (target?.x ?? 0) - (source?.x ?? 0) - (source?.width ?? 0);
    return space < gapFor(labelOf(edges, { from, to })) ? [`${from}>${to}`] : [];
  });
}

function covered({ spec, positions }: Draft): string[] {
  const boxes = [...boxesOf(spec.nodes, positions)].filter(([id]) => !id.startsWith('g'));
  return boxes.flatMap(([id, box]) =>
    boxes.flatMap(([other, its]) => (id < other && covers(box, its) ? [`${id} ${other}`] : [])),
  );
}

test.each([
  ['a condition', TOTAL],
  ['a connection for failures', FAILURE],
])('%s moves what follows it, and other branches along with it', (_what, change) => {
  const draft = draftOf('trigger a b c', 'trigger>a trigger>b a>c');
  const next = updateEdge(draft, { from: 'trigger', to: 'a' }, change);
  expect(cutLabels(next)).toEqual([]);
  expect(next.positions['trigger']).toEqual(draft.positions['trigger']);
  expect(xOf(next, 'b')).toBe(xOf(next, 'a'));
  expect(xOf(next, 'c') - xOf(next, 'a')).toBe(xOf(draft, 'c') - xOf(draft, 'a'));
  const heights = (all: Draft) => Object.values(all.positions).map(({ y }) => y);
  expect(heights(next)).toEqual(heights(draft));
});

test.each([
  ['has room already', at(900), TOTAL],
  ['leads to another row', at(0, 200), TOTAL],
  ['has no label', at(230), { when: undefined }],
])('nothing moves if a connection %s', (_what, place, change) => {
  const draft = draftOf('trigger a', 'trigger>a', { trigger: at(0), a: place });
  expect(updateEdge(draft, { from: 'trigger', to: 'a' }, change).positions).toEqual(draft.positions);
});

test('the next row of a workflow that is drawn in rows stays', () => {
  const positions = { trigger: at(0), a: at(288), b: at(0, 200), c: at(288, 200) };
  const draft = draftOf('trigger a b c', 'trigger>a a>b b>c', positions);
  const next = updateEdge(draft, { from: 'trigger', to: 'a' }, TOTAL);
  expect([next.positions['b'], next.positions['c']]).toEqual([at(0, 200), at(288, 200)]);
  expect(xOf(next, 'a')).toBeGreaterThan(288);
  const inserted = insertOnEdge(draft, { from: 'trigger', to: 'a' }, { id: 'n', wait: {} });
  expect([inserted.positions['b'], inserted.positions['c']]).toEqual([at(0, 200), at(288, 200)]);
});

test('what moves covers no other node', () => {
  const positions = { trigger: at(0), a: at(288), b: at(80, 104), c: at(560) };
  const draft = draftOf('trigger a b c', 'trigger>a trigger>b b>c', positions);
  expect(covered(updateEdge(draft, { from: 'trigger', to: 'a' }, TOTAL))).toEqual([]);
});

test('a node on a connection keeps its label whole and covers no other node', () => {
  const positions = { trigger: at(0), a: at(288), b: at(576) };
  const draft = draftOf('trigger a b', 'trigger>a a>b trigger>b', positions);
  const ends = { from: 'trigger', to: 'b' };
  const next = insertOnEdge(updateEdge(draft, ends, TOTAL), ends, { id: 'n', wait: {} });
  expect(cutLabels(next)).toEqual([]);
  expect(covered(next)).toEqual([]);
});

test('branches that are added at once, and later ones, are in one column with whole labels', () => {
  const { draft, ids } = addBranches(draftOf('trigger a', 'trigger>a'), 'trigger', [
    { label: 'Large', ...TOTAL },
    { label: 'Middle', when: 'nodes.trigger.data_content.total > 100.0' },
    { label: 'Otherwise' },
  ]);
  const next = addNode(draft, { id: 'last', wait: {} }, 'trigger');
  expect(cutLabels(next)).toEqual([]);
  expect(covered(next)).toEqual([]);
  expect(new Set(['a', ...ids, 'last'].map((id) => xOf(next, id))).size).toBe(1);
});

test('a frame that grows for a label leaves the label behind it whole', () => {
  const grouped = draftOf('trigger g a@g b@g c', 'trigger>g g>c a>b');
  const outside = updateEdge(grouped, { from: 'g', to: 'c' }, FAILURE);
  const next = updateEdge(outside, { from: 'a', to: 'b' }, TOTAL);
  expect(cutLabels(next)).toEqual([]);
  expect(xOf(next, 'c')).toBeGreaterThan(xOf(outside, 'c'));
});

test('a label that is too long takes the room of its short form', () => {
  expect(gapFor({ full: 'if '.repeat(20), short: 'if …' })).toBe(GAP.x);
});
