import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomText } from '../store/random.ts';
import { dedupeHash, newRunName } from './names.ts';

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const workflowName = fc
  .array(fc.constantFrom('a', 'z', '0', '9', '-', '.'), { maxLength: 61 })
  .map((middle) => ['a', ...middle, 'b'].join(''));

test('every run name is a label of DNS, whatever the workflow is called', () => {
  fc.assert(
    fc.property(workflowName, (workflow) => {
      expect(newRunName(workflow)).toMatch(label);
    }),
  );
});

test('a key has the same hash each time, and another key or workflow another', () => {
  expect(dedupeHash('a', 'k')).toBe(dedupeHash('a', 'k'));
  expect(dedupeHash('a', 'k')).not.toBe(dedupeHash('a', 'l'));
  expect(dedupeHash('a', 'k')).not.toBe(dedupeHash('b', 'k'));
  // What parts uid and key is part of neither.
  expect(dedupeHash('a', 'bc')).not.toBe(dedupeHash('ab', 'c'));
});

test('names that are made later sort later', () => {
  const times = [1_700_000_000_000, 1_700_000_000_001, 1_800_000_000_000, 2_900_000_000_000];
  const names = times.map((now) => newRunName('orders', now));
  expect(names.toSorted()).toEqual(names);
});

test('random text has the length that is asked for, of the characters of base 36', () => {
  expect(randomText(5_000)).toMatch(/^[0-9a-z]{5000}$/);
  expect(new Set(randomText(5_000)).size).toBe(36);
});
