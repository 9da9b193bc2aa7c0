import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cycleProblems, findCycles, foldersOf, importProblems } from '../../scripts/imports.ts';

const ROOT = join(import.meta.dirname, '../..');
const graph = (imports: Record<string, string[]>) =>
  new Map(Object.entries(imports).map(([file, others]) => [file, new Set(others)]));

test('every folder imports only what the table of the design admits', () => {
  expect(importProblems(ROOT)).toEqual([]);
});

test('no files and no folders import each other in a cycle', () => {
  expect(cycleProblems(ROOT)).toEqual([]);
});

test.each([
  ['nothing for a tree', { a: ['b', 'c'], b: ['c'], c: [] }, []],
  ['two files that import each other', { a: ['b'], b: ['a'] }, [['a', 'b', 'a']]],
  ['a file that imports itself', { a: ['a'] }, [['a', 'a']]],
  ['a cycle that is reached from outside', { a: ['b'], b: ['c'], c: ['b'] }, [['b', 'c', 'b']]],
  ['the shortest of two cycles', { a: ['b', 'c'], b: ['c'], c: ['a'] }, [['a', 'c', 'a']]],
  [
    'separate cycles',
    { a: ['b'], b: ['a'], c: ['d'], d: ['c'] },
    [
      ['a', 'b', 'a'],
      ['c', 'd', 'c'],
    ],
  ],
])('the cycles found are %s', (_title, imports, cycles) => {
  const found = findCycles(graph(imports));
  expect(found.slice(0, cycles.length)).toEqual(cycles);
  expect(found.length > 0).toBe(cycles.length > 0);
});

test('folders import each other although no file does', () => {
  const files = graph({
    'a/one.ts': ['b/two.ts'],
    'b/three.ts': ['a/four.ts'],
    'a/four.ts': [],
    'b/two.ts': [],
  });
  expect(findCycles(files)).toEqual([]);
  expect(findCycles(foldersOf(files))).toEqual([['a', 'b', 'a']]);
});
