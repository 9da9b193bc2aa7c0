import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { checkGraph } from '../../../api/graph.ts';
import { edgeId, edgesOf, connectionProblem } from './graph.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import {
  addNode,
  connect,
  disconnect,
  freeId,
  insertOnEdge,
  removeNodes,
  renameNode,
  updateEdge,
  updateSettings,
  type Draft,
  type Operation,
} from './model.ts';

const trigger: WorkflowNode = { id: 'trigger', manual: {} };
const step = (id: string, body: unknown = ''): WorkflowNode => ({ id, response: { body } });

/** A chain of nodes, or a graph with these edges, such as `a>b`. */
function draftOf(ids: string[], pairs?: string[]): Draft {
  const nodes = [trigger, ...ids.map((id) => step(id))];
  const edges = pairs?.map((pair) => {
    const [from = '', to = ''] = pair.split('>');
    return { from, to };
  });
  const positions = Object.fromEntries(nodes.map(({ id }, index) => [id, { x: index * 288, y: 0 }]));
  return { spec: { active: false, nodes, ...(edges && { edges }) }, positions };
}

const shape = ({ spec }: Draft) => ({
  nodes: spec.nodes.map(({ id }) => id).join(' '),
  edges: spec.edges === undefined ? 'chain' : spec.edges.map(edgeId).join(' '),
});

test.each<[string, Draft, Operation, { nodes: string; edges: string }]>([
  [
    'a node behind the last one makes the chain longer',
    draftOf(['a']),
    (draft) => addNode(draft, step('b'), 'a'),
    { nodes: 'trigger a b', edges: 'chain' },
  ],
  [
    'a node behind one that has a successor is a new branch',
    draftOf(['a', 'b']),
    (draft) => addNode(draft, step('c'), 'a'),
    { nodes: 'trigger a b c', edges: 'trigger>a a>b a>c' },
  ],
  [
    'a node without a place stands alone',
    draftOf([]),
    (draft) => addNode(draft, step('a')),
    { nodes: 'trigger a', edges: '' },
  ],
  [
    'a node on an edge stands between its ends, also in the list',
    draftOf(['a', 'b']),
    (draft) => insertOnEdge(draft, { from: 'a', to: 'b' }, step('c')),
    { nodes: 'trigger a c b', edges: 'chain' },
  ],
  [
    'an edge against the order of the list reorders the nodes',
    draftOf(['a', 'b'], ['trigger>a', 'trigger>b']),
    (draft) => connect(draft, { from: 'b', to: 'a' }),
    { nodes: 'trigger b a', edges: 'trigger>a trigger>b b>a' },
  ],
  [
    'an edge that would close a circle changes nothing',
    draftOf(['a', 'b']),
    (draft) => connect(draft, { from: 'b', to: 'a' }),
    { nodes: 'trigger a b', edges: 'chain' },
  ],
  [
    'an edge into the trigger changes nothing',
    draftOf(['a']),
    (draft) => connect(draft, { from: 'a', to: 'trigger' }),
    { nodes: 'trigger a', edges: 'chain' },
  ],
  [
    'a graph that becomes a chain is written as one',
    draftOf(['a', 'b'], ['trigger>a']),
    (draft) => connect(draft, { from: 'a', to: 'b' }),
    { nodes: 'trigger a b', edges: 'chain' },
  ],
  [
    'a chain without one of its edges writes the others',
    draftOf(['a', 'b']),
    (draft) => disconnect(draft, [{ from: 'a', to: 'b' }]),
    { nodes: 'trigger a b', edges: 'trigger>a' },
  ],
  [
    'what stood around a removed node is joined',
    draftOf(['a', 'b']),
    (draft) => removeNodes(draft, ['a']),
    { nodes: 'trigger b', edges: 'chain' },
  ],
  [
    'a removed fork leaves its branches where they are',
    draftOf(['a', 'b', 'c'], ['trigger>a', 'a>b', 'a>c']),
    (draft) => removeNodes(draft, ['a']),
    { nodes: 'trigger b c', edges: '' },
  ],
  [
    'a trigger in a workflow without one leads to what nothing led to',
    {
      spec: { active: false, nodes: [step('a'), step('b')], edges: [{ from: 'a', to: 'b' }] },
      positions: {},
    },
    (draft) => addNode(draft, trigger),
    { nodes: 'trigger a b', edges: 'chain' },
  ],
  [
    'another trigger takes the place of the first',
    draftOf(['a']),
    (draft) => addNode(draft, { id: 'trigger', webhook: { path: 'x' } }),
    { nodes: 'trigger a', edges: 'chain' },
  ],
  [
    'edges of a chain are not written, even if they say after success',
    draftOf(['a', 'b'], ['trigger>a', 'a>b']),
    (draft) => updateEdge(draft, { from: 'a', to: 'b' }, { after: 'Success' }),
    { nodes: 'trigger a b', edges: 'chain' },
  ],
  [
    'a condition is written, though the nodes are a chain',
    draftOf(['a']),
    (draft) => updateEdge(draft, { from: 'trigger', to: 'a' }, { when: 'true' }),
    { nodes: 'trigger a', edges: 'trigger>a' },
  ],
])('%s', (_what, draft, operation, expected) => {
  const next = operation(draft);
  expect(shape(next)).toEqual(expected);
  const nodes = next.spec.nodes.map((node) => ({ id: node.id, trigger: isTrigger(node) }));
  expect(checkGraph(nodes, next.spec.edges)).toEqual([]);
});

test('the condition stays on the first half of a split edge', () => {
  const draft = updateEdge(draftOf(['a']), { from: 'trigger', to: 'a' }, { when: 'true', after: 'Failure' });
  expect(edgesOf(insertOnEdge(draft, { from: 'trigger', to: 'a' }, step('b')).spec)).toEqual([
    { from: 'trigger', to: 'b', when: 'true', after: 'Failure' },
    { from: 'b', to: 'a' },
  ]);
});

test('inserting a node moves later nodes so that none overlap', () => {
  const { positions } = insertOnEdge(draftOf(['a', 'b']), { from: 'trigger', to: 'a' }, step('c'));
  expect(positions).toEqual({
    trigger: { x: 0, y: 0 },
    c: { x: 288, y: 0 },
    a: { x: 576, y: 0 },
    b: { x: 864, y: 0 },
  });
});

test('a new branch is placed below the first', () => {
  expect(addNode(draftOf(['a']), step('b'), 'trigger').positions['b']).toEqual({ x: 288, y: 104 });
});

test('renaming a node keeps its edges, position and references', () => {
  const spec: WorkflowSpec = {
    active: false,
    nodes: [trigger, step('a'), step('b', { text: "{{ $('a').text_content }}" })],
    edges: [
      { from: 'trigger', to: 'a' },
      { from: 'a', to: 'b', when: 'nodes.a.data_content.ok' },
    ],
  };
  const next = renameNode({ spec, positions: { a: { x: 1, y: 2 } } }, 'a', 'answer');
  expect(next.spec.nodes[2]).toEqual(step('b', { text: "{{ $('answer').text_content }}" }));
  expect(next.spec.edges).toEqual([
    { from: 'trigger', to: 'answer' },
    { from: 'answer', to: 'b', when: 'nodes.answer.data_content.ok' },
  ]);
  expect(next.positions).toEqual({ answer: { x: 1, y: 2 } });
});

test('an ID that is taken cannot be used', () => {
  const draft = draftOf(['a', 'b']);
  expect(renameNode(draft, 'a', 'b')).toBe(draft);
});

test('an undefined setting is removed', () => {
  const named = updateSettings(draftOf([]), { displayName: 'Orders' });
  expect(named.spec.displayName).toBe('Orders');
  expect('displayName' in updateSettings(named, { displayName: undefined }).spec).toBe(false);
});

test.each([
  ['agent_1', [], 'agent_1'],
  ['agent_1', ['agent_1'], 'agent_2'],
  ['send_email', ['send_email', 'send_email_2'], 'send_email_3'],
  ['9 lives!', [], 'lives_'],
  ['é', [], 'node'],
  ['x'.repeat(70), ['x'.repeat(63)], `${'x'.repeat(56)}_2`],
])('for %s with %j taken the free ID is %s', (base, taken, id) => {
  expect(freeId(taken, base)).toBe(id);
});

test.each([
  ['a', 'a', 'A node cannot connect to itself.'],
  ['b', 'a', 'This connection would create a cycle.'],
  ['a', 'trigger', 'Nothing can connect to the trigger.'],
  ['a', 'b', 'These nodes are already connected.'],
  ['a', 'z', 'This node does not exist.'],
  ['trigger', 'b', undefined],
])('connecting %s to %s: %s', (from, to, why) => {
  expect(connectionProblem(draftOf(['a', 'b']).spec, { from, to })).toBe(why);
});
