import { expect, test } from 'vitest';
import { namespaceOfAccount, personName, shortPersonName } from './person.ts';

test.each([
  ['system:serviceaccount:shop:ada', 'ada (service account of shop)'],
  ['ada@example.com', 'ada@example.com'],
  ['system:serviceaccount:shop', 'system:serviceaccount:shop'],
  ['', ''],
])('%s is shown as %s', (username, shown) => {
  expect(personName(username)).toBe(shown);
});

test('a service account has a namespace, and other users have none', () => {
  expect(namespaceOfAccount('system:serviceaccount:shop:ada')).toBe('shop');
  expect(namespaceOfAccount('ada@example.com')).toBeUndefined();
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
