import { expect, test } from 'vitest';
import type { KubeObject } from './resource.ts';
import { createStore } from './store.ts';

function object(
  namespace: string | undefined,
  name: string,
  labels: Record<string, string> = {},
): KubeObject {
  const metadata = { name, labels, ...(namespace !== undefined && { namespace }) };
  return { apiVersion: 'v1', kind: 'Secret', metadata };
}

const indexes = { label: (of: KubeObject) => Object.keys(of.metadata.labels ?? {}) };
const names = (objects: KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);

test('objects are found by name, by namespace and by every key of an index', () => {
  const store = createStore(indexes);
  store.put(object('shop', 'a', { x: '', y: '' }));
  store.put(object('shop', 'b', { y: '' }));
  store.put(object('bank', 'a', { y: '' }));
  expect(store.get({ namespace: 'bank', name: 'a' })?.metadata.namespace).toBe('bank');
  expect(names(store.list('shop'))).toEqual(['a', 'b']);
  expect(store.list()).toHaveLength(3);
  expect(names(store.byIndex('label', 'x'))).toEqual(['a']);
  expect(store.byIndex('label', 'y')).toHaveLength(3);
  expect(store.byIndex('label', 'z')).toEqual([]);
});

test('a replaced or removed object leaves the keys that it had', () => {
  const store = createStore(indexes);
  const first = object('shop', 'a', { x: '' });
  store.put(first);
  expect(store.put(object('shop', 'a', { y: '' }))).toBe(first);
  expect(store.byIndex('label', 'x')).toEqual([]);
  expect(names(store.byIndex('label', 'y'))).toEqual(['a']);
  store.remove({ namespace: 'shop', name: 'a' });
  expect(store.byIndex('label', 'y')).toEqual([]);
  expect(store.list('shop')).toEqual([]);
});

test('cluster-wide objects are not mixed up with namespaced ones', () => {
  const store = createStore(indexes);
  store.put(object(undefined, 'a'));
  expect(store.get({ name: 'a' })).toBeDefined();
  expect(store.get({ namespace: 'a', name: 'a' })).toBeUndefined();
});

test('asking an index that does not exist is a mistake that shows', () => {
  expect(() => createStore(indexes).byIndex('owner', 'a')).toThrow('no index "owner"');
});
