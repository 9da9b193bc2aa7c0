import { expect, test } from 'vitest';
import { mergePatch } from './patch.ts';

test.each([
  [{ a: 1 }, { a: 1 }, undefined],
  [{ a: 1 }, { a: 2 }, { a: 2 }],
  [{ a: 1, b: 1 }, { b: 1 }, { a: null }],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 3 } }],
  [{ a: [1, 2] }, { a: [1, 3] }, { a: [1, 3] }],
  [{}, { a: { b: 1 } }, { a: { b: 1 } }],
  [{ a: undefined }, {}, undefined],
  [{ constructor: 1 }, {}, { constructor: null }],
  [{}, JSON.parse('{"__proto__":{}}'), JSON.parse('{"__proto__":{}}')],
])('the patch from %j to %j is %j', (from, to, patch) => {
  expect(mergePatch(from, to)).toEqual(patch);
});
