import { expect, test } from 'vitest';
import { FAILURES } from '../../api/reasons.ts';
import { adviceOn } from './advice.ts';

test.each(Object.keys(FAILURES))('%s comes with what it means and what to do', (reason) => {
  const { meaning = '', todo = '' } = adviceOn(reason) ?? {};
  expect(meaning).toMatch(/\.$/);
  expect(todo).toMatch(/^[A-Z].{20,}\.$/);
});

test.each([undefined, '', 'NotAReason', 'constructor'])('%j is no reason that is known', (reason) => {
  expect(adviceOn(reason)).toBeUndefined();
});
