import { expect, test } from 'vitest';
import { parseWorkflowId, workflowId } from './group.ts';
import { childName, shortHash, testRouteName } from './names.ts';

test('a name within the limit stays readable', () => {
  expect(childName('orders', 'abc')).toBe('orders-abc');
});

test('a name beyond the limit is cut, and a hash keeps it unique', () => {
  const [a, b] = [`${'x'.repeat(60)}a`, `${'x'.repeat(60)}b`].map((base) => childName(base, 'tick', 52));
  expect(a).toHaveLength(52);
  expect(a).toMatch(/^x+-[0-9a-z]{10}-tick$/);
  expect(a).not.toBe(b);
});

test('a cut never leaves a name that ends or continues with a dot or a dash', () => {
  expect(childName(`${'x'.repeat(30)}${'.'.repeat(40)}`, 'run', 45)).toMatch(/^x+-[0-9a-z]{10}-run$/);
});

test('a route of a test run has a name that is too long for a workflow', () => {
  expect(testRouteName(crypto.randomUUID()).length).toBeGreaterThan(63);
});

test('the hash is ten characters that a name may have', () => {
  expect(shortHash('')).toMatch(/^[0-9a-z]{10}$/);
  expect(shortHash('a')).not.toBe(shortHash('b'));
});

test('an id parts at its first dot, since a namespace has none', () => {
  expect(workflowId('shop', 'orders.v2')).toBe('shop.orders.v2');
  expect(parseWorkflowId('shop.orders.v2')).toEqual({ namespace: 'shop', name: 'orders.v2' });
});

test.each(['', 'shop', '.orders', 'shop.'])('"%s" is no id', (id) => {
  expect(parseWorkflowId(id)).toBeUndefined();
});
