import { expect, test } from 'vitest';
import { indented, printable } from './text.ts';

test('what a terminal would execute is replaced, and line breaks and tabs are kept', () => {
  expect(printable('a\u001B[31m\tb\nc\u0007\u009B')).toBe('a\uFFFD[31m\tb\nc\uFFFD\uFFFD');
});

test('a long text is cut in lines and in length', () => {
  const lines = indented(`${'x'.repeat(200)}\n`.repeat(14));
  expect(lines).toHaveLength(13);
  expect(lines[0]).toBe(`  ${'x'.repeat(160)}`);
  expect(lines.at(-1)).toBe('  … and 2 more lines');
});

test('one line more is shown, since a note would take its place', () => {
  expect(indented('x\n'.repeat(13))).toEqual(Array(13).fill('  x'));
});
