import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { asChild, canonicalJson, childName, hashOf, includes } from './apply.ts';

test.each([
  { base: 'orders', suffix: 'runner', max: 52, expected: 'orders-runner' },
  { base: 'orders', suffix: '', max: 52, expected: 'orders' },
  { base: 'a'.repeat(45), suffix: 'runner', max: 52, expected: `${'a'.repeat(45)}-runner` },
])('$base and $suffix fit into $max characters and stay as they are', ({ base, suffix, max, expected }) => {
  expect(childName(base, suffix, max)).toBe(expected);
});

test('a name that is too long is cut and hashed, always to the same', () => {
  const name = childName('a'.repeat(60), 'runner', 52);
  expect(name).toBe(childName('a'.repeat(60), 'runner', 52));
  expect(name).toMatch(/^a{36}-[0-9a-f]{8}-runner$/);
});

test('two long names that begin alike stay two', () => {
  expect(childName(`${'a'.repeat(60)}1`, 'x', 52)).not.toBe(childName(`${'a'.repeat(60)}2`, 'x', 52));
});

test('every name from valid parts is a valid name within its limit', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,80}[a-z0-9])?$/);
  fc.assert(
    fc.property(
      label,
      fc.constantFrom('', 'run', 'webhooks'),
      fc.integer({ min: 20, max: 63 }),
      (base, suffix, max) => {
        const name = childName(base, suffix, max);
        expect(name.length).toBeLessThanOrEqual(max);
        expect(name).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
      },
    ),
  );
});

test('a limit without room for the base is refused', () => {
  expect(() => childName('orders-of-today', 'much-too-long', 20)).toThrow('has no room');
});

test('the hash depends on content and not on the order of keys', () => {
  expect(hashOf({ a: 1, b: { c: [1, 2], d: undefined } })).toBe(hashOf({ b: { c: [1, 2] }, a: 1 }));
  expect(hashOf({ a: [1, 2] })).not.toBe(hashOf({ a: [2, 1] }));
  expect(canonicalJson({ b: 1, a: { d: null, c: '' } })).toBe('{"a":{"c":"","d":null},"b":1}');
});

test.each([
  { name: 'defaults of the server beside it', actual: { a: 1, b: 2 }, wanted: { a: 1 }, expected: true },
  { name: 'a changed value', actual: { a: { b: 2 } }, wanted: { a: { b: 1 } }, expected: false },
  { name: 'a missing value', actual: {}, wanted: { a: '' }, expected: false },
  { name: 'defaults inside lists', actual: [{ a: 1, b: 2 }], wanted: [{ a: 1 }], expected: true },
  { name: 'a longer list', actual: [1, 2], wanted: [1], expected: false },
  {
    name: 'a member that is not asked for',
    actual: { a: 1 },
    wanted: { a: 1, b: undefined },
    expected: true,
  },
  { name: 'another type', actual: { a: '1' }, wanted: { a: 1 }, expected: false },
  { name: 'nothing', actual: undefined, wanted: { a: 1 }, expected: false },
])('with $name, what is wanted is there: $expected', ({ actual, wanted, expected }) => {
  expect(includes(actual, wanted)).toBe(expected);
});

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
