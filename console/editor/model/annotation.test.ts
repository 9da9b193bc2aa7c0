import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { annotationOf, draftOf, POSITIONS, readPositions } from './annotation.ts';

const spec: WorkflowSpec = {
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    { id: 'a', response: { body: 1 } },
    { id: 'b', response: { body: 2 } },
  ],
  edges: [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'b' },
  ],
};

test('without an annotation the layout is automatic, without overlaps, and is not stored', () => {
  const draft = draftOf({ metadata: { name: 'orders' }, spec });
  const { trigger, a, b } = draft.positions;
  expect(trigger).toEqual({ x: 0, y: 0 });
  expect(a?.x).toBe(288);
  expect(b?.x).toBe(288);
  expect(Math.abs((a?.y ?? 0) - (b?.y ?? 0))).toBeGreaterThanOrEqual(64);
  expect(annotationOf(draft)).toBeUndefined();
});

test('positions of the annotation are used, and unknown nodes get a free place', () => {
  const annotations = { [POSITIONS]: '{"trigger":[10,20],"a":[400,0],"gone":[1,1]}' };
  const { positions } = draftOf({ metadata: { name: 'orders', annotations }, spec });
  expect(positions['trigger']).toEqual({ x: 10, y: 20 });
  expect(positions['a']).toEqual({ x: 400, y: 0 });
  expect(positions['b']).toBeDefined();
  expect(positions['gone']).toBeUndefined();
});

test.each(['', '{', '[]', 'null', '{"a":1}', '{"a":["1","2"]}', '{"a":[1]}', '{"a":[1e99,0]}'])(
  '%s is ignored',
  (text) => {
    expect(readPositions(text)).toEqual({});
  },
);

test('a node named like an inherited member gets a place', () => {
  const nodes = [...spec.nodes, { id: 'constructor', response: { body: 3 } }];
  const annotations = { [POSITIONS]: '{"trigger":[10,20],"toString":[1,2]}' };
  const { positions } = draftOf({ metadata: { name: 'orders', annotations }, spec: { ...spec, nodes } });
  expect(Object.keys(positions).toSorted()).toEqual(['a', 'b', 'constructor', 'trigger']);
  expect(positions['constructor']).toEqual({ x: expect.any(Number), y: expect.any(Number) });
});
