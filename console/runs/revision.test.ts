import { expect, test } from 'vitest';
import { otherThanToday, shapeOf } from './revision.ts';

const shape = shapeOf({
  trigger: { id: 'trigger' },
  steps: [
    { id: 'rows' },
    { id: 'outer', kind: 'group', forEach: { items: 'list' } },
    { id: 'inner', within: 'outer' },
    { id: 'a', within: 'inner' },
    { id: 'b', within: 'inner', kind: 'workflow' },
    { id: 'c', kind: 'agent', agent: { tools: [{ skill: 'set' }, { workflow: 'refund' }] } },
    { id: 'd', kind: 'agent', agent: { tools: [{ skill: 'set' }] } },
  ],
  edges: [
    { from: 'trigger', to: 'rows' },
    { from: 'rows', to: 'outer' },
    { from: 'a', to: 'b' },
  ],
});

test.each([
  ['b', ['a'], 2],
  ['a', ['rows'], 2],
  ['inner', ['rows'], 1],
  ['trigger', [], 0],
])('%s has the nodes before it and its depth', (id, before, depth) => {
  expect(shape.before(id)).toEqual(before);
  expect(shape.depth(id)).toBe(depth);
});

test('the innermost loop around a node, and the calls of its items, are known', () => {
  const outer = { id: 'outer', items: 'list', batch: 1 };
  expect(['rows', 'outer', 'inner', 'a'].map(shape.loopAround)).toEqual([undefined, undefined, outer, outer]);
  expect(['a', 'b', 'outer', 'inner'].map(shape.callsOf)).toEqual([[], ['b'], ['b'], ['b']]);
  expect(['a', 'b', 'c', 'd'].map(shape.hasWorkflowTools)).toEqual([false, false, true, false]);
});

test.each<[Parameters<typeof otherThanToday>[0], string | undefined]>([
  [{ revision: 'a', test: true, today: 'a', isDraft: true }, undefined],
  [{ revision: 'b', test: true, today: undefined, isDraft: true }, undefined],
  [{ revision: 'b', test: true, today: 'a', isDraft: undefined }, undefined],
  [{ revision: 'b', test: true, today: 'a', isDraft: true }, 'Draft'],
  [{ revision: 'b', test: true, today: 'a', isDraft: false }, 'Other version'],
  [{ revision: 'b', test: true, today: 'a', isDraft: null }, 'Draft or other version'],
  [{ revision: 'b', test: false, today: 'a', isDraft: undefined }, 'Other version'],
])('%j is shown as %s', (ran, text) => {
  expect(otherThanToday(ran)?.text).toBe(text);
});
