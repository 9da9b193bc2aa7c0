import { expect, test } from 'vitest';
import type { Deployment } from '../../kube/resource.ts';
import { readConfig } from '../shared/config.ts';
import { isAsleep, isServed, wokenAt } from './asleep.ts';

const SINCE = '2026-01-02T03:04:05Z';
const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  lastTransitionTime: SINCE,
});
const HAS_RUN = condition('Progressing', 'True', 'NewReplicaSetAvailable');
const WITHOUT = condition('Available', 'False', 'MinimumReplicasUnavailable');
const poolOf = (replicas: number, conditions: object[], availableReplicas = 0) =>
  ({ metadata: {}, spec: { replicas }, status: { availableReplicas, conditions } }) as unknown as Deployment;
const WOKEN = poolOf(1, [HAS_RUN, WITHOUT]);

test.each([
  ['has just been woken', WOKEN, Date.parse(SINCE)],
  ['sleeps', poolOf(0, [HAS_RUN, WITHOUT]), undefined],
  ['has a runner', poolOf(1, [HAS_RUN], 1), undefined],
  [
    'has never had a runner',
    poolOf(1, [condition('Progressing', 'True', 'ReplicaSetUpdated'), WITHOUT]),
    undefined,
  ],
  ['is not there', undefined, undefined],
])('since when a pool that %s has been waking', (_sentence, pool, at) => {
  expect(wokenAt(pool)).toBe(at);
});

const contextOf = (pool: Deployment, RUNNER_SLEEP_AFTER: string, known: boolean | undefined) => {
  const config = readConfig({
    PUBLIC_URL: 'http://x',
    REDIS_URL: 'redis://store:6379',
    RUNNER_IMAGE: 'windlass:test',
    RUNNER_SLEEP_AFTER,
  });
  const caches = { deployments: { get: () => pool }, settings: { get: () => undefined, list: () => [] } };
  const asleep = new Map(known === undefined ? [] : [['shop', known]]);
  return { caches: caches as never, config, scaling: { asleep, waking: new Map() } };
};

test.each([
  ['is served until it has read the project', '1h', undefined, true],
  ['is not served where it has read that the project is awake', '1h', false, false],
  ['is not served where runners never sleep', '0s', undefined, false],
])('a pool that an operator before this one has woken %s', (_sentence, sleepAfter, known, served) => {
  expect(isServed(contextOf(WOKEN, sleepAfter, known), 'shop')).toBe(served);
});

test('a pool whose runners slept until the settings changed is served, and not asleep any more', () => {
  const context = contextOf(poolOf(0, [HAS_RUN, WITHOUT]), '0s', true);
  expect([isServed(context, 'shop'), isAsleep(context, 'shop')]).toEqual([true, false]);
});
