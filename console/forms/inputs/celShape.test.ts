import { expect, test } from 'vitest';
import { fitsShape, shapeOf } from './celShape.ts';

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
