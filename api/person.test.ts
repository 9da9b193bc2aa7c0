import { expect, test } from 'vitest';
import { personName } from './person.ts';

test.each([
  ['system:serviceaccount:shop:ada', 'ada (service account of shop)'],
  ['ada@example.com', 'ada@example.com'],
  ['system:serviceaccount:shop', 'system:serviceaccount:shop'],
  ['', ''],
])('%s is shown as %s', (username, shown) => {
  expect(personName(username)).toBe(shown);
});
