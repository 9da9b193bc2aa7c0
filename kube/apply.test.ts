import { expect, test } from 'vitest';
import { asChild } from './apply.ts';

const owner = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'orders', namespace: 'shop', uid: 'u1' },
};

test('a child lives in its owner’s namespace and names it as controller', () => {
  const child = asChild(owner, { metadata: { name: 'c', labels: { a: 'b' } } });
  expect(child.metadata).toEqual({
    name: 'c',
    namespace: 'shop',
    labels: { a: 'b' },
    ownerReferences: [
      { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', name: 'orders', uid: 'u1', controller: true },
    ],
  });
});

test('a child in another namespace is refused, because the garbage collector would delete it', () => {
  expect(() => asChild(owner, { metadata: { name: 'c', namespace: 'other' } })).toThrow('namespace other');
});
