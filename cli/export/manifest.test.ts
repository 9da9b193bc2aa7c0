import { expect, test } from 'vitest';
import type { Credential } from '../../api/kinds.ts';
import { manifestOf, secretsOf } from './manifest.ts';

test('a manifest has what somebody writes, and nothing that the cluster sets', () => {
  const object = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: {
      name: 'orders',
      namespace: 'shop',
      uid: 'u',
      resourceVersion: '7',
      generation: 2,
      managedFields: [],
      labels: { team: 'a' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', note: 'ours' },
    },
    spec: { active: true },
    status: { id: 'x' },
  };
  expect(manifestOf(object)).toEqual({
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'orders', labels: { team: 'a' }, annotations: { note: 'ours' } },
    spec: { active: true },
  });
});

test('the Secrets of credentials are named with their keys', () => {
  const credential = {
    metadata: { name: 'mail' },
    spec: {
      smtp: {
        host: 'a',
        usernameRef: { name: 'mail', key: 'user' },
        passwordRef: { name: 'mail', key: 'pass' },
      },
    },
  } as unknown as Credential;
  expect([...secretsOf([credential])]).toEqual([['mail', new Set(['user', 'pass'])]]);
});
