import { expect, test } from 'vitest';
import { FAILURES } from '../../api/reasons.ts';
import { adviceOn, failureText } from './advice.ts';

test.each(Object.keys(FAILURES))('%s has a meaning and advice', (reason) => {
  const { meaning = '', todo = '' } = adviceOn(reason) ?? {};
  expect(meaning).toMatch(/\.$/);
  expect(todo).toMatch(/^[A-Z].{20,}\.$/);
});

test('what the console calls a connection is one', () => {
  expect(adviceOn('ConditionFailed')?.meaning).toBe('The condition of a connection could not be evaluated.');
  expect(failureText('edge a → b: when: line 1, column 3: no such key')).toBe(
    'Connection a → b: line 1, column 3: no such key',
  );
  expect(failureText('no edge a → b: when: x')).toBe('no edge a → b: when: x');
});

test.each([undefined, '', 'NotAReason', 'constructor'])('%j is an unknown reason', (reason) => {
  expect(adviceOn(reason)).toBeUndefined();
});
