import { expect, test } from 'vitest';
import { checkGraph } from '../../../api/graph.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { annotationOf } from './annotation.ts';
import { fragmentOf, pasted } from './fragment.ts';
import { boxesOf, groupAt, withRoom } from './frames.ts';
import { addInside, moveInto, removeWithBodies } from './grouping.ts';
import { connectionProblem, edgeId, edgesOf, removalProblem } from './graph.ts';
import { layoutOf } from './layout.ts';
import {
  addNode,
  disconnect,
  insertOnEdge,
  removeNodes,
  renameNode,
  type Draft,
  type Operation,
} from './model.ts';

const step = (id: string): WorkflowNode => ({ id, response: { body: '' } });

/** Nodes such as `trigger g{ a b } c`, with edges such as `a>b`; the layout gives the positions. */
function draftOf(text: string, pairs?: string): Draft {
  const nodes: WorkflowNode[] = [];
  const groups: string[] = [];
  for (const word of text.split(' ')) {
    if (word === '}') groups.pop();
    else {
      const id = word.replace('{', '');
      const within = groups.at(-1);
      const node = id === 'trigger' ? { id, manual: {} } : word === id ? step(id) : { id, group: {} };
      nodes.push({ ...node, ...(within !== undefined && { within }) });
      if (word !== id) groups.push(id);
    }
  }
  const edges = pairs?.split(' ').map((pair) => {
    const [from = '', to = ''] = pair.split('>');
    return { from, to };
  });
  const spec = { active: false, nodes, ...(edges && { edges }) };
  return { spec, positions: layoutOf(spec) };
}

const shape = ({ spec }: Draft) => ({
  nodes: spec.nodes.map(({ id, within }) => (within === undefined ? id : `${within}/${id}`)).join(' '),
  edges: spec.edges === undefined ? 'chain' : spec.edges.map(edgeId).join(' '),
});

const moved =
  (id: string, group?: string): Operation =>
  (draft) => {
    const result = moveInto(draft, [id], group);
    return typeof result === 'string' ? draft : result.draft;
  };

test.each<[string, Draft, Operation, { nodes: string; edges: string }]>([
  [
    'a node after one of a body joins the body and its chain',
    draftOf('trigger g{ a } b'),
    (draft) => addNode(draft, step('n'), 'a'),
    { nodes: 'trigger g g/a g/n b', edges: 'chain' },
  ],
  [
    'a node after a group is outside of it',
    draftOf('trigger g{ a }'),
    (draft) => addNode(draft, step('n'), 'g'),
    { nodes: 'trigger g g/a n', edges: 'chain' },
  ],
  [
    'the first node of an empty group',
    draftOf('trigger g{ } b'),
    (draft) => addInside(draft, step('n'), 'g'),
    { nodes: 'trigger g g/n b', edges: 'chain' },
  ],
  [
    'a node on a connection of a body joins the body',
    draftOf('trigger g{ a b }'),
    (draft) => insertOnEdge(draft, { from: 'a', to: 'b' }, step('n')),
    { nodes: 'trigger g g/a g/n g/b', edges: 'chain' },
  ],
  [
    'a branch in a body writes the edges of the body alone',
    draftOf('trigger g{ a b } c'),
    (draft) => addNode(draft, step('n'), 'a'),
    { nodes: 'trigger g g/a g/b g/n c', edges: 'a>b a>n' },
  ],
  [
    'a node moves into a chain by its position, and its neighbors are connected',
    draftOf('trigger a b g{ c d }'),
    moved('a', 'g'),
    { nodes: 'trigger b g g/a g/c g/d', edges: 'chain' },
  ],
  [
    'a node moves into a group that is no chain without a connection',
    draftOf('trigger a g{ c d e }', 'trigger>a a>g c>d c>e'),
    moved('a', 'g'),
    { nodes: 'trigger g g/a g/c g/d g/e', edges: 'c>d c>e' },
  ],
  [
    'a node moves out without a connection',
    draftOf('trigger g{ a b } c'),
    moved('b'),
    { nodes: 'trigger g g/a b c', edges: 'trigger>g g>c' },
  ],
  [
    'a group moves with its body',
    draftOf('trigger a g{ c } h{ d }', 'trigger>a a>g trigger>h'),
    moved('g', 'h'),
    { nodes: 'trigger a h h/d h/g g/c', edges: 'trigger>a trigger>h' },
  ],
  [
    'the body of a removed group takes its place',
    draftOf('trigger g{ a b } c'),
    (draft) => removeNodes(draft, ['g']),
    { nodes: 'trigger a b c', edges: 'chain' },
  ],
  [
    'the body of a removed inner group stays in the outer one',
    draftOf('trigger g{ a h{ b } }'),
    (draft) => removeNodes(draft, ['h']),
    { nodes: 'trigger g g/a g/b', edges: 'chain' },
  ],
  [
    'a group is removed with its body',
    draftOf('trigger g{ a h{ b } } c'),
    (draft) => removeWithBodies(draft, ['g']),
    { nodes: 'trigger c', edges: 'chain' },
  ],
  [
    'a renamed group keeps its body',
    draftOf('trigger g{ a }'),
    (draft) => renameNode(draft, 'g', 'lines'),
    { nodes: 'trigger lines lines/a', edges: 'chain' },
  ],
  [
    'the last connection of a body stays',
    draftOf('trigger g{ a b }'),
    (draft) => disconnect(draft, [{ from: 'a', to: 'b' }]),
    { nodes: 'trigger g g/a g/b', edges: 'chain' },
  ],
  [
    'other connections of a body can be removed',
    draftOf('trigger g{ a b c }'),
    (draft) => disconnect(draft, [{ from: 'a', to: 'b' }]),
    { nodes: 'trigger g g/a g/b g/c', edges: 'b>c' },
  ],
  [
    'a copy of a group has a copy of its body',
    draftOf('trigger g{ a b }'),
    (draft) => pasted(draft, fragmentOf(draft, ['g'])).draft,
    { nodes: 'trigger g g/a g/b g_2 g_2/a_2 g_2/b_2', edges: 'trigger>g' },
  ],
  [
    'a copy of a node of a body is in the same body',
    draftOf('trigger g{ a b c }', 'trigger>g a>b a>c'),
    (draft) => pasted(draft, fragmentOf(draft, ['c'])).draft,
    { nodes: 'trigger g g/a g/b g/c g/c_2', edges: 'a>b a>c' },
  ],
])('%s', (_what, draft, operation, expected) => {
  const next = operation(draft);
  expect(shape(next)).toEqual(expected);
  const nodes = next.spec.nodes.map((node) => ({ id: node.id, trigger: isTrigger(node) }));
  expect(checkGraph(nodes, next.spec.edges)).toEqual([]);
});

test('a node pasted into another workflow leaves the group that is not there', () => {
  const { draft } = pasted(draftOf('trigger'), fragmentOf(draftOf('trigger g{ a }'), ['a']));
  expect(shape(draft).nodes).toBe('trigger a');
});

test('the connections of chains are drawn for each body', () => {
  const { spec } = draftOf('trigger g{ a b h{ c d } } e');
  expect(edgesOf(spec).map(edgeId)).toEqual(['trigger>g', 'g>e', 'a>b', 'b>h', 'c>d']);
});

test('a node within something that is no group is drawn outside of groups', () => {
  const nodes: WorkflowNode[] = [
    { id: 'trigger', manual: {} },
    { ...step('a'), within: 'nowhere' },
  ];
  expect(edgesOf({ nodes }).map(edgeId)).toEqual(['trigger>a']);
});

test.each([
  ['a', 'c', 'a is in the group g. Connect g and c.'],
  ['c', 'b', 'b is in the group g. Connect c and g.'],
  ['a', 'd', 'a is in the group g, d in the group h. Connect the groups.'],
  ['a', 'b', 'These nodes are already connected.'],
  ['g', 'h', undefined],
])('connecting %s to %s across a border: %s', (from, to, why) => {
  const { spec } = draftOf('trigger g{ a b } c h{ d }');
  expect(connectionProblem(spec, { from, to })).toBe(why);
});

test('the last connection of a body has a reason to stay', () => {
  const { spec } = draftOf('trigger g{ a b }');
  expect(removalProblem(spec, [{ from: 'a', to: 'b' }])).toContain('one after the other');
  expect(removalProblem(spec, [{ from: 'trigger', to: 'g' }])).toBeUndefined();
});

test.each([
  ['trigger', 'g', 'The trigger starts the workflow, so it cannot be in a group.'],
  ['g', 'h', 'A group cannot be in its own body.'],
  ['other', 'h', undefined],
  ['other', 'i', 'Groups can be nested at most 3 levels deep.'],
])('moving %s into %s: %s', (id, group, why) => {
  const draft = draftOf('trigger g{ h{ i{ a } } } other{ b }');
  const result = moveInto(draft, [id], group);
  expect(typeof result === 'string' ? result : undefined).toBe(why);
});

test('the connections that a move removes are known', () => {
  const result = moveInto(draftOf('trigger a g{ c }'), ['a'], 'g');
  expect(typeof result === 'string' ? [] : result.removed.map(edgeId)).toEqual(['trigger>a', 'a>g']);
});

test('a node dropped on another one of a chain takes its place, and later ones move to the right', () => {
  const draft = draftOf('trigger a g{ b c }');
  const at = draft.positions['b'] ?? { x: 0, y: 0 };
  const dropped = { ...draft, positions: { ...draft.positions, a: { x: at.x - 8, y: at.y + 12 } } };
  const { positions } = moved('a', 'g')(dropped);
  const [a, b, c] = ['a', 'b', 'c'].map((id) => positions[id]);
  expect(a?.y).toBe(b?.y);
  expect([(b?.x ?? 0) - (a?.x ?? 0), (c?.x ?? 0) - (b?.x ?? 0)]).toEqual([288, 288]);
});

test('frames of the layout hold their bodies and cover no other node', () => {
  const { spec, positions } = draftOf('trigger g{ a h{ b c } } d i{ }', 'trigger>g g>d trigger>i a>h');
  const boxes = boxesOf(spec.nodes, positions);
  const inside = (inner: string, outer: string) => {
    const [one, other] = [boxes.get(inner), boxes.get(outer)];
    if (!one || !other) return false;
    return (
      one.x > other.x &&
      one.y > other.y &&
      one.x + one.width < other.x + other.width &&
      one.y + one.height < other.y + other.height
    );
  };
  expect([inside('a', 'g'), inside('h', 'g'), inside('b', 'h'), inside('c', 'g')]).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(withRoom(spec, positions)).toEqual(positions);
  expect(annotationOf({ spec, positions })).toBeUndefined();
});

test('a frame that grows moves the nodes after it', () => {
  const draft = draftOf('trigger g{ a } b');
  const next = addNode(draft, step('n'), 'a');
  const boxes = boxesOf(next.spec.nodes, next.positions);
  const [frame, after] = [boxes.get('g'), boxes.get('b')];
  expect(after?.x).toBeGreaterThan((frame?.x ?? 0) + (frame?.width ?? 0));
  expect(after?.y).toBe(draft.positions['b']?.y);
});

test.each([
  ['in the middle of a frame', 'e', 'g', 0, 'g'],
  ['in the frame of an inner group', 'e', 'h', 0, 'h'],
  ['at the edge of its own frame', 'a', 'a', -150, 'g'],
  ['far from all frames', 'a', 'a', -900, undefined],
])('a node dropped %s belongs there', (_what, id, at, by, group) => {
  const { spec, positions } = draftOf('trigger g{ a h{ b } } e');
  const boxes = boxesOf(spec.nodes, positions);
  const target = boxes.get(at === 'g' ? 'a' : at === 'h' ? 'b' : at);
  const box = { x: (target?.x ?? 0) + by, y: target?.y ?? 0, width: 208, height: 64 };
  const current = spec.nodes.find((node) => node.id === id)?.within ?? '';
  expect(groupAt(spec.nodes, boxes, { id, box, current })).toBe(group);
});
