import { expect, test } from 'vitest';
import { offersGeneral, searchHint } from './hints.ts';

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

test.each([
  ['postgres', true],
  ['something new', true],
  ['merge', false],
  ['error trigger', false],
])('HTTP request and Code are offered for "%s": %s', (text, isOffered) => {
  expect(offersGeneral(text)).toBe(isOffered);
});
