import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { NO_SHAPES } from '../../forms/shapes.ts';
import { shapesAfterStep, shapesAt, withoutAdded, withRenamedShapes, withShapes } from './fieldShapes.ts';

const specWith = (id: string, skill = 'set'): WorkflowSpec => ({
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    { id, skill: { name: skill } },
  ],
});
const spec = specWith('sum');
const at = { node: 'sum', field: 'skill.parameters.values', input: 'values' };
const shapes = { chosen: 'one', values: { names: { total: '1' } } };
const all = withShapes([], { ...at, spec, shapes });

test('the shapes of a field are the last ones that were kept', () => {
  const next = { chosen: 'names', values: { one: 'a' } };
  const after = withShapes(all, { ...at, spec, shapes: next });
  expect(after).toHaveLength(1);
  expect(shapesAt(after, at, spec)).toBe(next);
});

test.each([
  ['the field', at, spec, shapes],
  ['another field', { ...at, field: 'skill.parameters.other' }, spec, NO_SHAPES],
  ['another input of the field', { ...at, input: 'expression' }, spec, NO_SHAPES],
  ['a node that has another skill now', at, specWith('sum', 'http_request'), NO_SHAPES],
])('the shapes are those of %s', (_what, asked, now, found) => {
  expect(shapesAt(all, asked, now)).toEqual(found);
});

test('shapes stay with their node when the ID changes, and when that is undone', () => {
  const after = specWith('total');
  const renamed = withRenamedShapes(all, ['sum', 'total'], [spec, after]);
  expect(shapesAt(renamed, { ...at, node: 'total' }, after)).toEqual(shapes);
  const undone = shapesAfterStep(renamed, 'back', [after, spec]);
  expect(shapesAt(undone, at, spec)).toEqual(shapes);
  expect(undone).toHaveLength(1);
});

test('shapes of a skill that the node had before do not come back under another ID', () => {
  const [now, after] = [specWith('sum', 'http_request'), specWith('total', 'http_request')];
  const renamed = withRenamedShapes(all, ['sum', 'total'], [now, after]);
  expect(shapesAt(renamed, { ...at, node: 'total' }, after)).toEqual(NO_SHAPES);
});

test('another node that gets the former ID of a node has none of its shapes, also after undo', () => {
  const specs = [
    ['sum', 'tax'],
    ['total', 'tax'],
    ['total', 'sum'],
  ].map(([one = '', other = '']) => ({
    ...spec,
    nodes: [...specWith(one).nodes, ...specWith(other).nodes.slice(1)],
  }));
  const [first = spec, second = spec, third = spec] = specs;
  const renamed = withRenamedShapes(all, ['sum', 'total'], [first, second]);
  const both = withRenamedShapes(renamed, ['tax', 'sum'], [second, third]);
  const last = shapesAfterStep(shapesAfterStep(both, 'back', [third, second]), 'back', [second, first]);
  expect([shapesAt(both, at, third), shapesAt(both, { ...at, node: 'total' }, third)]).toEqual([
    NO_SHAPES,
    shapes,
  ]);
  expect([shapesAt(last, at, first), shapesAt(last, { ...at, node: 'tax' }, first)]).toEqual([
    shapes,
    NO_SHAPES,
  ]);
});

test('references to a node whose ID changes are renamed in the shapes of all nodes', () => {
  const keep = (field: string, input: string, values: object) =>
    withShapes([], { node: 'sum', field, input, spec, shapes: { values: { ...values } } });
  const before = [
    ...keep('skill.parameters.values', 'values', { one: 'nodes.mail.id', names: { a: '"nodes.mail"' } }),
    ...keep('skill.parameters.to', 'expression', { expression: "{{ $('mail').id }}", fixed: 'nodes.mail' }),
    ...keep('loop', 'kind', {
      forEach: { items: "{{ $('mail').list }}" },
      repeat: { until: 'nodes.mail.isDone', limit: 3 },
    }),
  ];
  const after = withRenamedShapes(before, ['mail', 'post'], [spec, spec]);
  expect(after.map(({ shapes: { values } }) => values)).toEqual([
    { one: 'nodes.post.id', names: { a: '"nodes.mail"' } },
    { expression: "{{ $('post').id }}", fixed: 'nodes.mail' },
    { forEach: { items: "{{ $('post').list }}" }, repeat: { until: 'nodes.post.isDone', limit: 3 } },
  ]);
});

test('shapes come back with a node whose removal is undone, but not with another one of that ID', () => {
  const without: WorkflowSpec = { ...spec, nodes: spec.nodes.slice(0, 1) };
  const removed = withoutAdded(all, spec, without);
  expect(shapesAfterStep(removed, 'back', [without, spec])).toEqual(all);
  const other = withShapes(withoutAdded(removed, without, spec), { ...at, spec, shapes });
  expect(shapesAfterStep(other, 'back', [spec, without])).toEqual([]);
  expect(shapesAfterStep(removed, 'forward', [without, spec])).toEqual([]);
});

test('a node that is added has no shapes of one that was removed before', () => {
  const without: WorkflowSpec = { ...spec, nodes: spec.nodes.slice(0, 1) };
  expect(withoutAdded(all, spec, without)).toBe(all);
  expect(withoutAdded(all, without, spec)).toEqual([]);
});
