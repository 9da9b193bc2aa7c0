import { expect, test } from 'vitest';
import { personName, shortPersonName } from './person.ts';

test.each([
  ['system:serviceaccount:shop:ada', 'ada (service account of shop)'],
  ['ada@example.com', 'ada@example.com'],
  ['system:serviceaccount:shop', 'system:serviceaccount:shop'],
  ['', ''],
])('%s is shown as %s', (username, shown) => {
  expect(personName(username)).toBe(shown);
});

test.each([
  ['system:serviceaccount:shop:deployer', 'deployer (service account)'],
  ['system:serviceaccount:argocd:deployer', 'argocd:deployer (service account)'],
  ['https://id.example.com/realms/shop#ada@example.com', 'ada@example.com'],
  ['ada@example.com', 'ada@example.com'],
  ['deployer', 'deployer'],
  ['system:admin', 'system:admin'],
])('where there is little room %s is %s in the project shop', (username, shown) => {
  expect(shortPersonName(username, 'shop')).toBe(shown);
});
