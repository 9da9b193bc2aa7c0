import { expect, test } from 'vitest';
import type { Credential } from '../../api/kinds.ts';
import type { Deployment, KubeObject, Resource, Role } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { createPoolAccounts } from '../shared/poolAccounts.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import { readConfig } from '../shared/config.ts';
import { ensurePool, type AppliedPool } from './pool.ts';

const MINUTE_MS = 60_000;
const config = readConfig({
  PUBLIC_URL: 'https://example.com/',
  REDIS_URL: 'redis://windlass-redis.windlass.svc:6379',
  RUNNER_IMAGE: 'windlass:test',
});
const project = { namespace: 'shop', uid: 'p', older: [], authority: undefined };
/** What another process applied. */
const before = (): AppliedPool => ({
  uid: 'p',
  account: { username: 'u', password: 'p' },
  callbackKeys: [{ id: 'k', key: 'AAAA', createdAt: 0 }],
  applied: { text: '', comparedAt: 0, compareAt: 300_000, isAsleep: false, count: 1, random: 0.5 },
  deployment: { text: '', uid: undefined, generation: undefined },
});

/** A pool in a cluster that accepts everything. The run store fails calls while `isAway`. */
function pool() {
  const found = { isRequested: true, isAway: false, granted: [] as string[], seenAtRole: [] as string[] };
  const credential = (): Credential => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Credential',
    metadata: {
      name: 'asked',
      namespace: 'shop',
      annotations: found.isRequested ? { 'windlass.dev/check': '1' } : {},
    },
    spec: { openai: { apiKeyRef: { name: 'key', key: 'value' } } },
  });
  const grantedSecrets = new Map<string, readonly string[]>();
  const command = () => {
    if (found.isAway) throw new Error('the run store is away');
    return Promise.resolve({});
  };
  const none = { get: () => undefined, list: () => [], getFresh: () => Promise.resolve(undefined) };
  const primary = { name: '', command, eachReplica: () => Promise.resolve() };
  const conn = { command, primaries: () => Promise.resolve([primary]) };
  const context = {
    config,
    clock: { now: () => 0, date: () => new Date(0) },
    log: { info: () => undefined },
    conn,
    accounts: createPoolAccounts(conn as unknown as RunStoreConnection),
    client: {
      find: () => Promise.resolve(undefined),
      delete: () => Promise.resolve(),
      apply: (resource: Resource<KubeObject>, object: KubeObject) => {
        if (resource.kind === 'Role') {
          found.seenAtRole = [...(grantedSecrets.get('shop') ?? [])];
          const [rule] =
            (object as Role).rules?.filter(({ resources }) => resources.includes('secrets')) ?? [];
          found.granted = rule?.resourceNames ?? [];
        }
        return Promise.resolve(object);
      },
    },
    caches: {
      workflows: none,
      routes: none,
      settings: none,
      cronJobs: none,
      deployments: { ...none, noteWrite: () => undefined },
      credentials: { list: () => [credential()], get: credential },
    },
    pools: { grantedSecrets },
    polls: { refusals: new Map(), polling: new Map() },
    scaling: { asleep: new Map(), waking: new Map(), decided: new Map(), refusals: new Map() },
  } as unknown as OperatorContext & Parameters<typeof ensurePool>[0];
  return { found, context };
}

test('a right that an attempt took back before it failed is given again', async () => {
  const { found, context } = pool();
  const applied = await ensurePool(context, project, before());
  expect(found.granted).toEqual(['key']);
  found.isRequested = false;
  found.isAway = true;
  await expect(ensurePool(context, project, applied)).rejects.toThrow('the run store is away');
  expect(found.granted).toEqual([]);
  found.isRequested = true;
  found.isAway = false;
  await ensurePool(context, project, applied);
  expect(found.granted).toEqual(['key']);
});

test('a Secret counts as one that runners cannot read before the right to it is taken back', async () => {
  const { found, context } = pool();
  found.isRequested = false;
  context.pools.grantedSecrets.set('shop', ['key']);
  await ensurePool(context, project, before());
  expect(found).toMatchObject({ granted: [], seenAtRole: [] });
});

test('a pool that sleeps is compared later, and one that wakes as soon as one that was awake', async () => {
  const { context: awake } = pool();
  const context = { ...awake, config: { ...config, RUNNER_SLEEP_AFTER: 60_000 } };
  const sleeping = { spec: { replicas: 0 } } as Deployment;
  context.caches.deployments.list = () => Array.from({ length: 1_000 }, () => sleeping);
  context.scaling.asleep.set('shop', true);
  const asleep = await ensurePool(context, project, before());
  expect(asleep.applied.compareAt).toBeGreaterThanOrEqual(300 * MINUTE_MS);
  context.scaling.asleep.set('shop', false);
  const woken = await ensurePool(context, project, asleep);
  expect(woken.applied.compareAt).toBeLessThanOrEqual(7.5 * MINUTE_MS);
});

test('a pool that falls asleep is compared as late as one that slept before, counted from its last comparison', async () => {
  const { context: running } = pool();
  let now = 0;
  const clock = { ...running.clock, now: () => now };
  const context = { ...running, clock, config: { ...config, RUNNER_SLEEP_AFTER: 60_000 } };
  const sleeping = { spec: { replicas: 0 } } as Deployment;
  context.caches.deployments.list = () => Array.from({ length: 1_000 }, () => sleeping);
  let last = await ensurePool(context, project, before());
  expect(last.applied.compareAt).toBeLessThanOrEqual(7.5 * MINUTE_MS);
  const times = new Set<number>();
  for (now of [0, 6 * MINUTE_MS, 12 * MINUTE_MS]) {
    context.scaling.asleep.set('shop', true);
    last = await ensurePool(context, project, last);
    expect(last.applied.compareAt).toBeGreaterThanOrEqual(300 * MINUTE_MS);
    expect(last.applied.compareAt).toBeLessThanOrEqual(900 * MINUTE_MS);
    times.add(last.applied.compareAt);
    context.scaling.asleep.set('shop', false);
    last = await ensurePool(context, project, last);
    expect(last.applied.compareAt).toBeLessThanOrEqual(now + 7.5 * MINUTE_MS);
  }
  // However often it wakes: the earliest of many times would come too early.
  expect(times.size).toBe(1);
});

test('a comparison whose time was chosen while there were few pools is put off where there are many', async () => {
  const { context: running } = pool();
  let now = 0;
  let pools = 10;
  const clock = { ...running.clock, now: () => now };
  const context = { ...running, clock, config: { ...config, RUNNER_SLEEP_AFTER: 60_000 } };
  const sleeping = { spec: { replicas: 0 } } as Deployment;
  context.caches.deployments.list = () => Array.from({ length: pools }, () => sleeping);
  context.scaling.asleep.set('shop', true);
  const first = await ensurePool(context, project, before());
  expect(first.applied.compareAt).toBeLessThanOrEqual(9 * MINUTE_MS);
  pools = 1_000;
  now = 10 * MINUTE_MS;
  const later = await ensurePool(context, project, first);
  expect(later.applied).toMatchObject({ comparedAt: 0, count: 1_000 });
  expect(later.applied.compareAt).toBeGreaterThanOrEqual(300 * MINUTE_MS);
  now = later.applied.compareAt;
  const last = await ensurePool(context, project, later);
  expect(last.applied.comparedAt).toBe(now);
});
