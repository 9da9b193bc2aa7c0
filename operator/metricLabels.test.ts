import { expect, test } from 'vitest';
import { createLabelBound } from './metricLabels.ts';

test('the first names are shown, and stay shown whatever comes after them', () => {
  const bound = createLabelBound(2);
  expect(['a', 'b', 'c', 'a'].map((name) => bound.isShown(name))).toEqual([true, true, false, true]);
});

test('a name that is gone makes room for another one', () => {
  const bound = createLabelBound(2);
  for (const name of ['a', 'b', 'c']) bound.isShown(name);
  expect(bound.retain(new Set(['b', 'c']))).toEqual(['a']);
  expect(['c', 'd', 'b'].map((name) => bound.isShown(name))).toEqual([true, false, true]);
});

test('a bound of 0 shows none', () => {
  expect(createLabelBound(0).isShown('a')).toBe(false);
});
