import { expect, test } from 'vitest';
import { canonicalJson, goJson, hashOf, includes } from './json.ts';

test('the hash depends on content and not on the order of keys', () => {
  expect(hashOf({ a: 1, b: { c: [1, 2], d: undefined } })).toBe(hashOf({ b: { c: [1, 2] }, a: 1 }));
  expect(hashOf({ a: [1, 2] })).not.toBe(hashOf({ a: [2, 1] }));
  expect(canonicalJson({ b: 1, a: { d: null, c: '' } })).toBe('{"a":{"c":"","d":null},"b":1}');
});

test('the JSON of Go has sorted keys and escapes what means something in HTML', () => {
  const value = { b: '<a> & \u2028', a: 1 };
  expect(goJson(value)).toBe(String.raw`{"a":1,"b":"\u003ca\u003e \u0026 \u2028"}`);
  expect(JSON.parse(goJson(value))).toEqual(value);
});

test('numbers that a double cannot represent keep their digits', () => {
  const number = {
    toJSON: () => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('12345678901234567890'),
  };
  expect(canonicalJson({ b: [number], a: number })).toBe(
    '{"a":12345678901234567890,"b":[12345678901234567890]}',
  );
});

test.each([
  { name: 'defaults of the server beside it', actual: { a: 1, b: 2 }, wanted: { a: 1 }, expected: true },
  { name: 'a changed value', actual: { a: { b: 2 } }, wanted: { a: { b: 1 } }, expected: false },
  { name: 'a missing value', actual: {}, wanted: { a: '' }, expected: false },
  { name: 'defaults inside lists', actual: [{ a: 1, b: 2 }], wanted: [{ a: 1 }], expected: true },
  { name: 'a longer list', actual: [1, 2], wanted: [1], expected: false },
  {
    name: 'a member that is not asked for',
    actual: { a: 1 },
    wanted: { a: 1, b: undefined },
    expected: true,
  },
  { name: 'another type', actual: { a: '1' }, wanted: { a: 1 }, expected: false },
  { name: 'nothing', actual: undefined, wanted: { a: 1 }, expected: false },
])('with $name, what is wanted is there: $expected', ({ actual, wanted, expected }) => {
  expect(includes(actual, wanted)).toBe(expected);
});
