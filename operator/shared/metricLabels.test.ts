import { expect, test } from 'vitest';
import { createLabelBound, type Candidate } from './metricLabels.ts';

/** Each as `<namespace>/<name>`; one that ends in a question mark is inactive. */
const candidates = (...names: string[]): Candidate[] =>
  names.map((name) => ({
    name: name.replace('?', ''),
    namespace: name.split('/')[0] ?? '',
    isActive: !name.endsWith('?'),
  }));

/** Which of the names are shown by a bound of this size, after each list. */
function shownOf(limit: number, ...lists: string[][]): string[] {
  const bound = createLabelBound(limit);
  for (const list of lists) bound.retain(candidates(...list));
  return (lists.at(-1) ?? []).map((name) => name.replace('?', '')).filter(bound.isShown);
}

const flood = (namespace: string, suffix = '') =>
  Array.from({ length: 9 }, (_, index) => `${namespace}/${index}${suffix}`);

test('the first names become labels, and later ones do not displace them', () => {
  const bound = createLabelBound(2);
  expect(['a', 'b', 'c', 'a'].map((name) => bound.isShown(name))).toEqual([true, true, false, true]);
});

test('a removed name makes room for another', () => {
  const bound = createLabelBound(2);
  for (const name of ['a', 'b', 'c']) bound.isShown(name);
  expect(bound.retain(candidates('b', 'c'))).toEqual(['a']);
  expect(['c', 'd', 'b'].map((name) => bound.isShown(name))).toEqual([true, false, true]);
});

test.each([
  ['all, where there is room', 4, [['a/1', 'a/2', 'b/1?']], ['a/1', 'a/2', 'b/1']],
  [
    'an equal share of each namespace',
    4,
    [[...flood('a'), 'b/1', 'b/2', 'b/3']],
    ['a/0', 'a/1', 'b/1', 'b/2'],
  ],
  [
    'what a namespace leaves of its share goes to the others',
    4,
    [[...flood('a'), 'b/1']],
    ['a/0', 'a/1', 'a/2', 'b/1'],
  ],
  ['active ones first', 3, [[...flood('a', '?'), 'b/1', 'b/2', 'c/1?']], ['a/0', 'b/1', 'b/2']],
  [
    'room that a namespace took when it was alone, for others that come',
    4,
    [flood('a'), [...flood('a'), 'b/1', 'b/2']],
    ['a/0', 'a/1', 'b/1', 'b/2'],
  ],
  [
    'those that were shown before, within a namespace',
    2,
    [
      ['a/5', 'b/1'],
      ['a/1', 'a/5', 'b/0', 'b/1'],
    ],
    ['a/5', 'b/1'],
  ],
  [
    'those that were shown before, where there are more namespaces than names',
    2,
    [
      ['b/1', 'c/1'],
      ['a/1', 'b/1', 'c/1'],
    ],
    ['b/1', 'c/1'],
  ],
  ['an active one in the place of an inactive one', 1, [['a/1?'], ['a/1?', 'a/2']], ['a/2']],
])('shown is %s', (_what, limit, lists, shown) => {
  expect(shownOf(limit, ...lists)).toEqual(shown);
});

test('a bound of 0 shows none', () => {
  expect(createLabelBound(0).isShown('a')).toBe(false);
});
