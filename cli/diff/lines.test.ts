import { expect, test } from 'vitest';
import { diffLines, shownLines } from './lines.ts';

const shown = (before: string, after: string) =>
  shownLines(diffLines(before.split(' '), after.split(' '))).map(({ sign, text }) => sign + text);

test.each([
  ['a b c', 'a b c', []],
  ['a b c', 'a x c', [' a', '-b', '+x', ' c']],
  ['a', 'b a c', ['+b', ' a', '+c']],
  ['a b', 'b', ['-a', ' b']],
  ['x a b c d e f', 'a b c d e f', ['-x', ' a', ' b', ' c', ' …']],
])('%s and %s differ in %j', (before, after, expected) => {
  expect(shown(before, after)).toEqual(expected);
});
