import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { clipboardOf, fragmentOf, pasted, readFragment } from './fragment.ts';
import type { Draft } from './model.ts';
import { bodyOf, readBody } from './storedDraft.ts';

const nodes: WorkflowNode[] = [
  { id: 'trigger', manual: {} },
  { id: 'a', response: { body: "{{ $('trigger').data_content }}" } },
  { id: 'b', response: { body: "{{ $('a').text_content }}" } },
];
const positions = { trigger: { x: 0, y: 0 }, a: { x: 288, y: 0 }, b: { x: 576, y: 0 } };
const draft: Draft = { spec: { active: false, nodes }, positions };

test('a pasted fragment gets free IDs, renamed references and a place below the original', () => {
  const { draft: next, ids } = pasted(draft, fragmentOf(draft, ['a', 'b']));
  expect(ids).toEqual(['a_2', 'b_2']);
  expect(next.spec.nodes.find(({ id }) => id === 'b_2')?.response?.body).toBe("{{ $('a_2').text_content }}");
  expect(next.spec.nodes.find(({ id }) => id === 'a_2')?.response?.body).toBe(
    "{{ $('trigger').data_content }}",
  );
  expect(next.spec.edges).toContainEqual({ from: 'a_2', to: 'b_2' });
  expect(next.positions['a_2']).toEqual({ x: 288, y: 104 });
});

test('a second trigger is dropped and references to it point to the first', () => {
  const start: WorkflowNode = { id: 'start', webhook: { path: 'x' } };
  const other: Draft = { spec: { active: false, nodes: [start] }, positions: { start: { x: 0, y: 0 } } };
  const { draft: next } = pasted(other, fragmentOf(draft, ['trigger', 'a']));
  expect(next.spec.nodes.map(({ id }) => id)).toEqual(['start', 'a']);
  expect(next.spec.nodes[1]?.response?.body).toBe("{{ $('start').data_content }}");
});

test('the clipboard content can be read back', () => {
  const fragment = fragmentOf(draft, ['a', 'b']);
  expect(readFragment(clipboardOf(fragment))).toEqual(fragment);
});

test('two pasted nodes with one ID get two IDs and two places', () => {
  const twice = readFragment({
    nodes: [
      { id: 'a', response: {} },
      { id: 'a', response: {} },
      { id: 'c', response: { body: "{{ $('a').text_content }}" } },
    ],
    edges: [{ from: 'a', to: 'c' }],
  });
  if (twice === undefined) throw new Error('it can be pasted');
  const { draft: next, ids } = pasted(draft, twice);
  expect(ids).toEqual(['a_2', 'a_3', 'c']);
  expect(readBody(bodyOf(next), next.spec)?.spec).toEqual(next.spec);
  expect(next.spec.edges).toContainEqual({ from: 'a_2', to: 'c' });
  expect(next.positions['a_2']).not.toEqual(next.positions['a_3']);
});

test('a whole Workflow can be pasted', () => {
  expect(readFragment({ kind: 'Workflow', spec: { nodes } })?.nodes).toEqual(nodes);
});

test.each([undefined, 'text', {}, { nodes: [] }, { nodes: [{ no: 'id' }] }, { nodes: 'x' }])(
  '%j cannot be pasted',
  (value) => {
    expect(readFragment(value)).toBeUndefined();
  },
);
