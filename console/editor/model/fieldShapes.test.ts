import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { NO_SHAPES } from '../../forms/shapes.ts';
import { shapesAt, withoutAdded, withRenamedShapes, withShapes } from './fieldShapes.ts';

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
  const renamed = withRenamedShapes(all, ['sum', 'total'], after);
  expect(shapesAt(renamed, { ...at, node: 'total' }, after)).toBe(shapes);
  expect(shapesAt(renamed, at, spec)).toBe(shapes);
  expect(withRenamedShapes(renamed, ['sum', 'total'], after)).toHaveLength(2);
});

test('a node that is added has no shapes of one that was removed before', () => {
  const without: WorkflowSpec = { ...spec, nodes: spec.nodes.slice(0, 1) };
  expect(withoutAdded(all, spec, without)).toBe(all);
  expect(withoutAdded(all, without, spec)).toEqual([]);
});
