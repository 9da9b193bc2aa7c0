import { expect, test } from 'vitest';
import type { Deployment } from '../../kube/resource.ts';
import { poolState } from './readiness.ts';

type Rights = { refused?: string; granted?: string[] };

function stateWith({ refused, granted }: Rights, availableReplicas = 1) {
  const deployment = { status: { availableReplicas } } as Deployment;
  const world = { deployments: { get: () => deployment } } as unknown as Parameters<
    typeof poolState
  >[0]['world'];
  const refusedPools = new Map(refused === undefined ? [] : [['shop', refused]]);
  const grantedSecrets = new Map(granted === undefined ? [] : [['shop', granted]]);
  return poolState({ world, refusedPools, grantedSecrets }, 'shop', ['llm', 'smtp']);
}

test('a pool with a pod is ready for a workflow whose Secrets its runners may read', () => {
  expect(stateWith({ granted: ['llm', 'other', 'smtp'] })).toEqual({ kind: 'Ready' });
});

test('a pod does not hide that the operator may not make the pool what it has to be', () => {
  expect(stateWith({ refused: 'roles is forbidden', granted: ['llm', 'smtp'] })).toEqual({
    kind: 'Unauthorized',
    message: 'roles is forbidden',
  });
});

test('a pool is not ready for a workflow one of whose Secrets its runners may not read yet', () => {
  expect(stateWith({ granted: ['llm'] })).toEqual({
    kind: 'Starting',
    message: 'Runners may not read Secret smtp yet.',
  });
});

test('before this process has applied the rights the pods decide', () => {
  expect(stateWith({})).toEqual({ kind: 'Ready' });
  expect(stateWith({}, 0)).toEqual({ kind: 'Starting' });
});
