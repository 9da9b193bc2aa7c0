/** Connections that are taken otherwise. */
import { expect, test } from 'vitest';
import type { WorkflowEdge } from '../../../api/workflow.ts';
import { edgesOf } from './graph.ts';
import { disconnect, renameNode, updateEdge, type Draft } from './model.ts';
import { hasOtherwise, isOtherwise, otherwiseOf } from './otherwise.ts';

const edge = (to: string, when?: string, after?: 'Failure'): WorkflowEdge => ({
  from: 'a',
  to,
  ...(when !== undefined && { when }),
  ...(after && { after }),
});
const x1 = 'nodes.a.data_content.x == 1';
const x2 = 'nodes.a.data_content.x == 2';

test('otherwise is the negation of the conditions beside it, of the same outcome', () => {
  const last = edge('d');
  const edges = [edge('b', x1), edge('c', x2), edge('e', 'true', 'Failure'), edge('f'), last];
  expect(otherwiseOf(edges, last)).toBe(`!(${x1}) && !(${x2})`);
  expect(otherwiseOf([last], last)).toBeUndefined();
});

test('there is one at most: the condition that it negates is not taken otherwise itself', () => {
  const [one, other] = [edge('b', x1), edge('c', `!(${x1})`)];
  expect([one, other].map((each) => isOtherwise([one, other], each))).toEqual([false, true]);
  expect([one, other].map((each) => hasOtherwise([one, other], each))).toEqual([true, false]);
});

const set = (id: string) => ({ id, skill: { name: 'set', parameters: { values: { n: '1' } } } });
const draft: Draft = {
  spec: {
    active: false,
    nodes: [{ id: 'a', manual: {} }, set('b'), set('c'), set('d')],
    edges: [edge('b', x1), edge('c', x2), edge('d', `!(${x1}) && !(${x2})`)],
  },
  positions: {},
};
const whenOf = ({ spec }: Draft, to: string) => edgesOf(spec).find((each) => each.to === to)?.when;

test('it follows a condition beside it that is changed or removed', () => {
  const changed = updateEdge(draft, { from: 'a', to: 'b' }, { when: 'nodes.a.data_content.y > 3' });
  expect(whenOf(changed, 'd')).toBe(`!(nodes.a.data_content.y > 3) && !(${x2})`);
  expect(whenOf(disconnect(draft, [{ from: 'a', to: 'b' }]), 'd')).toBe(`!(${x2})`);
  const alone = disconnect(draft, [edge('b'), edge('c')]);
  expect(whenOf(alone, 'd')).toBeUndefined();
});

test('it stays one when a node gets another ID', () => {
  const { spec } = renameNode(draft, 'a', 'start');
  const edges = edgesOf(spec);
  expect(edges.filter((each) => isOtherwise(edges, each)).map(({ to }) => to)).toEqual(['d']);
});

test('a condition that someone writes in its place stays as it is written', () => {
  const written = updateEdge(draft, { from: 'a', to: 'd' }, { when: 'true' });
  expect(whenOf(updateEdge(written, { from: 'a', to: 'b' }, { when: 'false' }), 'd')).toBe('true');
});
