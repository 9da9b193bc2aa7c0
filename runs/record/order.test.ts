import { expect, test } from 'vitest';
import { inOrderOf } from './order.ts';

const ids = (order: string[], ...nodes: string[]) =>
  inOrderOf(
    nodes.map((id) => ({ id })),
    order,
  ).map(({ id }) => id);

test('nodes are listed as their graph lists them, whenever they began', () => {
  expect(ids(['trigger', 'a', 'b', 'c'], 'c', 'a', 'trigger')).toEqual(['trigger', 'a', 'c']);
});

test('nodes that the order does not name stay as they are, at the end', () => {
  expect(ids(['a'], 'z', 'y', 'a')).toEqual(['a', 'z', 'y']);
  expect(ids([], 'z', 'y')).toEqual(['z', 'y']);
});
