import { expect, test } from 'vitest';
import { FAILURES } from '../../api/reasons.ts';
import { adviceOn } from './advice.ts';

test.each(Object.keys(FAILURES))('%s has a meaning and advice', (reason) => {
  const { meaning = '', todo = '' } = adviceOn(reason) ?? {};
  expect(meaning).toMatch(/\.$/);
  expect(todo).toMatch(/^[A-Z].{20,}\.$/);
});

test('what the console calls a connection is one', () => {
  expect(adviceOn('ConditionFailed')?.meaning).toBe('The condition of a connection could not be evaluated.');
});

test.each([undefined, '', 'NotAReason', 'constructor'])('%j is an unknown reason', (reason) => {
  expect(adviceOn(reason)).toBeUndefined();
});
