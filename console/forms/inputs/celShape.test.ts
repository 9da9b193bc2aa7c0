import { expect, test } from 'vitest';
import { NO_SHAPES } from '../shapes.ts';
import { fitsShape, shapeOf, shownShape, switched, type Shape } from './celShape.ts';

test.each([
  ['nodes.trigger.data_content', 'one'],
  [{ amount: 'nodes.trigger.data_content.amount' }, 'names'],
  [{ order: { amount: '1' } }, 'json'],
  [undefined, 'names'],
])('the value %j has the shape %s', (value, shape) => {
  expect(shapeOf(value)).toBe(shape);
});

test('a value stays in a shape that shows it, and one that is empty gives way to the former value', () => {
  expect(fitsShape({ a: '1' }, 'json')).toBe(true);
  expect(fitsShape({ a: '1' }, 'one')).toBe(false);
  expect(fitsShape({ a: { b: '1' } }, 'names')).toBe(false);
  expect(fitsShape('1', 'json')).toBe(false);
  expect(fitsShape(undefined, 'names')).toBe(false);
});

const total = { total: '1' };
const nested = { order: { total: '1' } };

test.each<[string, [left: Shape, value: unknown, chosen: Shape][], unknown]>([
  [
    'names come back after one value',
    [
      ['names', total, 'one'],
      ['one', 'a', 'names'],
    ],
    total,
  ],
  [
    'one value comes back after names',
    [
      ['one', 'a', 'names'],
      ['names', total, 'one'],
    ],
    'a',
  ],
  ['names are shown as JSON', [['names', total, 'json']], total],
  [
    'names are shown as JSON after an empty value',
    [
      ['names', total, 'one'],
      ['one', undefined, 'json'],
    ],
    total,
  ],
  [
    'JSON has the names as they were left',
    [
      ['names', total, 'json'],
      ['json', total, 'names'],
      ['names', { total: '3' }, 'one'],
      ['one', 'a', 'json'],
    ],
    { total: '3' },
  ],
  [
    'names have the JSON as it was left',
    [
      ['json', total, 'one'],
      ['one', 'a', 'names'],
    ],
    total,
  ],
  [
    'names that were removed do not come back',
    [
      ['json', total, 'names'],
      ['names', undefined, 'json'],
    ],
    undefined,
  ],
  [
    'nested JSON comes back after empty names',
    [
      ['json', nested, 'names'],
      ['names', undefined, 'json'],
    ],
    nested,
  ],
])('%s', (_what, steps, left) => {
  const last = steps.reduce<{ value: unknown; shapes: typeof NO_SHAPES }>(
    ({ shapes }, [from, value, chosen]) => switched(shapes, { left: from, value, chosen }),
    { value: undefined, shapes: NO_SHAPES },
  );
  expect(last.value).toEqual(left);
});

test.each<[unknown, string | undefined, Shape]>([
  [undefined, undefined, 'names'],
  [undefined, 'one', 'one'],
  [total, 'json', 'json'],
  [total, 'one', 'names'],
  ['a', 'json', 'one'],
  [nested, 'names', 'json'],
])('%j, of which %s was chosen, is shown as %s', (value, chosen, shape) => {
  expect(shownShape(value, { values: {}, ...(chosen !== undefined && { chosen }) })).toBe(shape);
});
