import { expect, test } from 'vitest';
import { isConditionTrue, removeCondition, setCondition, summarize } from './conditions.ts';
import type { Condition } from './resource.ts';

const early = new Date('2026-01-01T00:00:00.400Z');
const late = new Date('2026-01-01T00:05:00Z');

function condition(type: string, status: Condition['status'], fields: Partial<Condition> = {}): Condition {
  return {
    type,
    status,
    reason: `${type}${status}`,
    message: '',
    observedGeneration: 2,
    lastTransitionTime: '2025-12-31T00:00:00Z',
    ...fields,
  };
}

test('a new condition gets the time in whole seconds, as metav1.Time has it', () => {
  const list = setCondition([], { type: 'Ready', status: 'True', reason: 'Ok', message: '' }, early);
  expect(list).toEqual([
    { type: 'Ready', status: 'True', reason: 'Ok', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ]);
});

test('the transition time moves only when the status changes', () => {
  const before = [condition('Ready', 'False')];
  const sameStatus = setCondition(before, { ...condition('Ready', 'False'), reason: 'Other' }, late);
  expect(sameStatus[0]).toMatchObject({ reason: 'Other', lastTransitionTime: '2025-12-31T00:00:00Z' });
  const otherStatus = setCondition(before, condition('Ready', 'True'), late);
  expect(otherStatus[0]).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:05:00Z' });
});

test('what is set again unchanged leaves the very same list', () => {
  const list = [condition('Ready', 'True'), condition('Valid', 'True')];
  expect(setCondition(list, condition('Valid', 'True'), late)).toBe(list);
  expect(removeCondition(list, 'Stalled')).toBe(list);
});

test('a condition keeps its place and the others stay untouched', () => {
  const list = [condition('A', 'True'), condition('B', 'True'), condition('C', 'True')];
  const next = setCondition(list, condition('B', 'False'), late);
  expect(next.map(({ type, status }) => `${type}=${status}`)).toEqual(['A=True', 'B=False', 'C=True']);
  expect(next[0]).toBe(list[0]);
});

test('a message longer than the API admits is cut', () => {
  const [only] = setCondition([], { ...condition('Ready', 'True'), message: 'x'.repeat(40_000) }, late);
  expect(only?.message).toHaveLength(32_768);
});

const root = { type: 'Ready', generation: 2, whenTrue: { reason: 'Serving', message: 'All is in effect.' } };

test.each([
  { name: 'all True', list: [condition('A', 'True'), condition('B', 'True')], expected: 'True Serving' },
  {
    name: 'one False after an Unknown',
    list: [condition('A', 'Unknown'), condition('B', 'False')],
    expected: 'False BFalse',
  },
  {
    name: 'two False: the first in order of importance',
    list: [condition('B', 'False'), condition('A', 'False')],
    expected: 'False AFalse',
  },
  { name: 'one missing', list: [condition('A', 'True')], expected: 'Unknown Pending' },
  {
    name: 'one True for an older generation',
    list: [condition('A', 'True'), condition('B', 'True', { observedGeneration: 1 })],
    expected: 'Unknown Pending',
  },
])('the root of $name is $expected', ({ list, expected }) => {
  const summary = summarize(root, ['A', 'B'], list);
  expect(`${summary.status} ${summary.reason}`).toBe(expected);
  expect(summary.observedGeneration).toBe(2);
});

test('a condition that was True for an older generation is not true for this one', () => {
  const list = [condition('Ready', 'True', { observedGeneration: 1 })];
  expect(isConditionTrue(list, 'Ready')).toBe(true);
  expect(isConditionTrue(list, 'Ready', 2)).toBe(false);
  expect(isConditionTrue(undefined, 'Ready')).toBe(false);
});
