import { expect, test } from 'vitest';
import { freeName, nameFor, nameProblem } from './names.ts';

test.each([
  ['Order confirmation', 'order-confirmation'],
  ['  Größe & Preis!  ', 'grosse-preis'],
  ['Été 2026', 'ete-2026'],
  ['--a--', 'a'],
  ['日本', ''],
  ['x'.repeat(80), 'x'.repeat(63)],
  [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
])('the object of "%s" is named "%s"', (displayName, name) => {
  expect(nameFor(displayName)).toBe(name);
});

test.each([
  ['a', [], 'a'],
  ['a', ['a'], 'a-2'],
  ['a', ['a', 'a-2', 'a-3'], 'a-4'],
  ['x'.repeat(63), ['x'.repeat(63)], `${'x'.repeat(61)}-2`],
])('for %s beside %j the name %s is free', (name, taken, free) => {
  expect(freeName(name, new Set(taken))).toBe(free);
});

test.each([
  ['orders', undefined],
  ['2-orders', undefined],
  ['', 'Give it a name.'],
  ['x'.repeat(64), 'Use at most 63 characters. These are 64.'],
  ['Orders', 'Use only small letters, digits and hyphens.'],
  ['a.b', 'Use only small letters, digits and hyphens.'],
  ['-a', 'Begin and end with a letter or a digit.'],
  ['a-', 'Begin and end with a letter or a digit.'],
  ['taken', 'There is a workflow of this name already. taken-2 is free.'],
])('of the name "%s" is said: %s', (name, problem) => {
  expect(nameProblem(name, new Set(['taken']))).toBe(problem);
});
