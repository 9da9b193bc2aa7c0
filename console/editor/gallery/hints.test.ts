import { expect, test } from 'vitest';
import { searchHint } from './hints.ts';

test.each([
  ['IF ', /^Conditions are on connections/],
  ['switch', /Only if/],
  ['error', /When it fails/],
  ['merge', /several incoming connections/],
])('a search for "%s" gets a hint', (text, hint) => {
  expect(searchHint(text)).toMatch(hint);
});

test('other searches get no hint', () => {
  expect(['', 'http', 'gif'].map((text) => searchHint(text))).toEqual([undefined, undefined, undefined]);
});
