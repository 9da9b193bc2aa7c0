import { expect, test } from 'vitest';
import {
  describeRight,
  grantedTo,
  unused,
  usedBy,
  wildcards,
  type RbacObject,
  type Right,
} from '../../support/rights/rights.ts';

const bound = (name: string, namespace: string, account: string): RbacObject[] => [
  {
    apiVersion: 'v1',
    kind: 'Role',
    metadata: { name, namespace },
    rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: ['get'] }],
  },
  {
    apiVersion: 'v1',
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  },
];

const event = (verb: string, resource: string, further: object = {}): string =>
  JSON.stringify({
    verb,
    user: { username: 'system:serviceaccount:shop:runner' },
    objectRef: { resource, name: 'one' },
    annotations: { 'authorization.k8s.io/decision': 'allow' },
    responseStatus: { code: 200 },
    ...further,
  });

const texts = (rights: readonly Right[]) => rights.map(describeRight);

test('rights come from the roles that the account is bound to, in their own namespaces', () => {
  const objects = [
    ...bound('one', 'shop', 'runner'),
    ...bound('two', 'shop', 'other'),
    ...bound('one', 'b', 'c'),
  ];
  expect(texts(grantedTo('runner', objects))).toEqual(['get secrets one']);
});

test('what was refused, and what others did, is no use of a right', () => {
  const lines = [
    event('get', 'secrets'),
    event('list', 'secrets', { annotations: { 'authorization.k8s.io/decision': 'forbid' } }),
    event('watch', 'secrets', { user: { username: 'system:serviceaccount:shop:not-the-runner' } }),
    event('delete', 'secrets', { user: { username: 'runner' } }),
  ];
  expect(texts(usedBy('runner', lines))).toEqual(['get secrets one']);
});

test('an apply that makes an object uses two rights', () => {
  const applied = (code: number) => usedBy('runner', [event('patch', 'roles', { responseStatus: { code } })]);
  expect(texts(applied(200))).toEqual(['patch roles one']);
  expect(texts(applied(201))).toEqual(['patch roles one', 'create roles one']);
});

test('a right to one name is used by that name alone, a subresource is another resource', () => {
  const granted: Right[] = [
    { group: '', resource: 'secrets', verb: 'get', name: 'two' },
    { group: '', resource: 'secrets', verb: 'get' },
    { group: '', resource: 'secrets/status', verb: 'get' },
  ];
  expect(unused(granted, usedBy('runner', [event('get', 'secrets')]))).toEqual([granted[0], granted[2]]);
});

test('a star in any place is a wildcard', () => {
  const all: Right[] = [
    { group: '*', resource: 'pods', verb: 'get' },
    { group: '', resource: '*/status', verb: 'get' },
    { group: '', resource: 'pods', verb: '*' },
    { group: '', resource: 'pods', verb: 'get' },
  ];
  expect(wildcards(all)).toEqual(all.slice(0, 3));
});
