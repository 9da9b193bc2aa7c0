import { expect, test } from 'vitest';
import { type Found, foundText } from './found.ts';

const object = { reference: '$item.x', at: '$item', type: 'object', size: 2, keys: ['a', 'b'] } as const;

test.each<[object, string | undefined]>([
  [object, '$item has: a, b.'],
  [{ ...object, size: 30 }, '$item has: a, b and 28 more.'],
  [{ ...object, size: 0, keys: [] }, undefined],
  [{ ...object, type: 'array', keys: undefined }, undefined],
])('%j in a sentence: %s', (found, text) => {
  expect(foundText(found as Found)).toBe(text);
});
