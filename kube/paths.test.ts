import { expect, test } from 'vitest';
import { collectionPath, objectPath, withQuery } from './paths.ts';
import { deployments, namespaces, secrets } from './resource.ts';

test('kinds of the core group and of other groups have their paths', () => {
  expect(collectionPath(secrets)).toBe('/api/v1/secrets');
  expect(collectionPath(secrets, 'shop')).toBe('/api/v1/namespaces/shop/secrets');
  expect(collectionPath(deployments, 'shop')).toBe('/apis/apps/v1/namespaces/shop/deployments');
  expect(objectPath(deployments, { namespace: 'shop', name: 'a' }, 'status')).toBe(
    '/apis/apps/v1/namespaces/shop/deployments/a/status',
  );
});

test('a cluster-wide kind ignores a namespace', () => {
  expect(objectPath(namespaces, { namespace: 'other', name: 'shop' })).toBe('/api/v1/namespaces/shop');
});

test('a name cannot lead to another path', () => {
  expect(objectPath(secrets, { namespace: 'a', name: '../../b/secrets/c?x#y' })).toBe(
    '/api/v1/namespaces/a/secrets/..%2F..%2Fb%2Fsecrets%2Fc%3Fx%23y',
  );
});

test('an object without a name or namespace is refused instead of addressing the whole collection', () => {
  expect(() => objectPath(secrets, { namespace: 'shop', name: '' })).toThrow('A Secret needs a name.');
  expect(() => objectPath(secrets, { name: 'a' })).toThrow('Secret a needs a namespace.');
});

test.each(['.', '..'])('the name "%s" is refused, since it would be resolved as a path', (name) => {
  expect(() => objectPath(secrets, { namespace: 'shop', name })).toThrow('is no name');
});

test('parameters without a value are left out, others are escaped', () => {
  expect(withQuery('/a', {})).toBe('/a');
  expect(withQuery('/a', { limit: undefined, labelSelector: 'a=b,c in (d)' })).toBe(
    '/a?labelSelector=a%3Db%2Cc+in+%28d%29',
  );
});
