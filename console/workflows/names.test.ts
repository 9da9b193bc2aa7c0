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
])('the object name of "%s" is "%s"', (displayName, name) => {
  expect(nameFor(displayName)).toBe(name);
});

test.each([
  ['a', [], 'a'],
  ['a', ['a'], 'a-2'],
  ['a', ['a', 'a-2', 'a-3'], 'a-4'],
  ['x'.repeat(63), ['x'.repeat(63)], `${'x'.repeat(61)}-2`],
])('for %s with %j taken the name %s is free', (name, taken, free) => {
  expect(freeName(name, new Set(taken))).toBe(free);
});

test.each([
  ['orders', undefined],
  ['2-orders', undefined],
  ['', 'Enter a name.'],
  ['x'.repeat(64), 'Use at most 63 characters. This name has 64.'],
  ['Orders', 'Use only lowercase letters, digits and hyphens.'],
  ['a.b', 'Use only lowercase letters, digits and hyphens.'],
  ['-a', 'Start and end with a letter or digit.'],
  ['a-', 'Start and end with a letter or digit.'],
  ['taken', 'A workflow with this name already exists. taken-2 is available.'],
])('the problem with the name "%s" is: %s', (name, problem) => {
  expect(nameProblem(name, new Set(['taken']))).toBe(problem);
});
