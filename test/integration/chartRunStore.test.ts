/**
 * The run store of the values: an existing server, sentinels, a Redis Cluster; and values that do not fit.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiServer } from '../support/cluster/apiserver.ts';
import { renderedChart } from '../support/cluster/renderedChart.ts';
import { sharedApiServer } from '../support/cluster/sharedApiServer.ts';

const external = ['--set', 'redis.url=rediss://redis.example.com:6379,redis.existingSecret=redis-passwords'];
const replicated = [
  '--set',
  'redis.topology=sentinel,redis.existingSecret=redis-passwords,redis.sentinel.primary=orders',
  '--set',
  'redis.sentinel.addresses={sentinel-0.redis:26379,[fd00::1]:26380},redis.sentinel.replicas=2',
  '--set',
  'redis.sentinel.tls=true',
];
const clustered = [
  '--set',
  'redis.topology=cluster,redis.existingSecret=redis-passwords,redis.cluster.replicas=2,redis.cluster.tls=true',
  '--set',
  'redis.cluster.addresses={redis-0.redis:6379,[fd00::1]:6380}',
];

let server: ApiServer;
beforeAll(async () => {
  server = await sharedApiServer();
});
afterAll(() => server?.stop());

const { render, manifests, environmentOf, operatorConfigOf } = renderedChart(() => server);

test('an existing Redis takes the place of the one of the chart', async () => {
  const kinds = (await manifests(...external)).map((manifest) => manifest.kind);
  expect(kinds).not.toContain('StatefulSet');
  expect(await environmentOf('windlass-operator', ...external)).toMatchObject({
    REDIS_URL: 'rediss://redis.example.com:6379',
    REDIS_SECRET: 'redis-passwords',
    REDIS_SECRET_CREATE: 'false',
  });
  expect(await environmentOf('windlass-gateway', ...external)).toMatchObject({
    REDIS_PASSWORD: { secretKeyRef: { name: 'redis-passwords', key: 'gateway-password' } },
  });
});

test.each([
  ['sentinels', replicated, 'rediss+sentinel://sentinel-0.redis:26379,[fd00::1]:26380/orders?replicas=2'],
  ['a Redis Cluster', clustered, 'rediss+cluster://redis-0.redis:6379,[fd00::1]:6380?replicas=2'],
])('%s: the chart runs no Redis, and all programs get the same URL', async (_what, settings, url) => {
  const kinds = (await manifests(...settings)).map((manifest) => manifest.kind);
  expect(kinds).not.toContain('StatefulSet');
  expect(await environmentOf('windlass-operator', ...settings)).toMatchObject({
    REDIS_URL: url,
    REDIS_SECRET: 'redis-passwords',
    REDIS_SECRET_CREATE: 'false',
  });
  expect(await environmentOf('windlass-gateway', ...settings)).toMatchObject({ REDIS_URL: url });
  expect((await operatorConfigOf(...settings)).REDIS_URL).toBe(url);
});

test('an account that all runners of an existing Redis share is named to the operator alone', async () => {
  const shared = [...external, '--set', 'redis.runnerUsername=runners'];
  expect((await operatorConfigOf(...shared)).REDIS_RUNNER_USERNAME).toBe('runners');
  expect((await operatorConfigOf(...external)).REDIS_RUNNER_USERNAME).toBeUndefined();
  expect(await environmentOf('windlass-gateway', ...shared)).not.toHaveProperty('REDIS_RUNNER_USERNAME');
});

test.each([
  ['an existing Redis without a Secret', 'redis.url=redis://redis:6379', /existingSecret/],
  [
    'an account of all runners in its own Redis',
    'redis.runnerUsername=runners',
    /redis.runnerUsername is for an existing Redis/,
  ],
  [
    'an account of the operator in its own Redis',
    'redis.username=windlass',
    /redis.username and .* set redis.url/,
  ],
  [
    'an account of the gateway in its own Redis',
    'redis.gatewayUsername=windlass',
    /redis.gatewayUsername are/,
  ],
  ['a topology that does not exist', 'redis.topology=double', /topology/],
  [
    'sentinels of others without a Secret',
    'redis.topology=sentinel,redis.sentinel.addresses={redis:26379}',
    /existingSecret/,
  ],
  [
    'addresses of sentinels with one server',
    'redis.existingSecret=passwords,redis.sentinel.addresses={redis:26379}',
    /topology/,
  ],
  [
    'more replicas than members',
    'redis.topology=sentinel,redis.sentinel.replicas=3',
    /redis.sentinel.replicas must be 0 to 2/,
  ],
  [
    'TLS of sentinels of others for own ones',
    'redis.topology=sentinel,redis.sentinel.tls=true',
    /set redis.tls.enabled=true/,
  ],
  [
    'a volume that is too small for a member',
    'redis.topology=sentinel,redis.memory=300Mi',
    /at least four times redis.memory \(1200Mi/,
  ],
  [
    'an address of a sentinel without a port',
    'redis.topology=sentinel,redis.existingSecret=passwords,redis.sentinel.addresses={redis}',
    /addresses/,
  ],
  [
    'sentinels beside the address of one server',
    'redis.topology=sentinel,redis.existingSecret=passwords,redis.sentinel.addresses={redis:26379},redis.url=redis://redis:6379',
    /url/,
  ],
  [
    'a Redis Cluster without a Secret',
    'redis.topology=cluster,redis.cluster.addresses={redis:6379}',
    /existingSecret/,
  ],
  ['a Redis Cluster without addresses', 'redis.topology=cluster,redis.existingSecret=passwords', /addresses/],
  [
    'addresses of a Redis Cluster with one server',
    'redis.existingSecret=passwords,redis.cluster.addresses={redis:6379}',
    /topology/,
  ],
  [
    'a Redis Cluster beside the address of one server',
    'redis.topology=cluster,redis.existingSecret=passwords,redis.cluster.addresses={redis:6379},redis.url=redis://redis:6379',
    /url/,
  ],
  ['an address of Redis with a password', 'redis.url=redis://user:word@redis:6379', /redis.url|\/redis\/url/],
  [
    'a volume that a rewrite of the log could fill',
    'redis.memory=1Gi',
    /at least three times redis.memory \(3072Mi/,
  ],
])('%s is refused with its name', async (_what, setting, message) => {
  await expect(render('--set', setting)).rejects.toThrow(message);
});
