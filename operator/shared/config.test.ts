import { expect, test } from 'vitest';
import { clusterReach } from '../../test/support/cluster/clusterReach.ts';
import { egressOf, readConfig } from './config.ts';

const needed = {
  PUBLIC_URL: 'https://hooks.example.com/',
  REDIS_URL: 'redis://redis:6379',
  RUNNER_IMAGE: 'windlass:1',
};

test('missing and empty variables get their defaults', () => {
  expect(readConfig({ ...needed, RUNNER_REPLICAS: '', RUNNER_IMAGE_PULL_SECRETS: '' })).toMatchObject({
    PUBLIC_URL: 'https://hooks.example.com',
    GATEWAY_SERVICES: ['windlass-gateway', 'windlass-gateway-internal'],
    REDIS_SECRET: 'windlass-run-store',
    REDIS_SECRET_CREATE: true,
    RUNNER_REPLICAS: 1,
    RUNNER_IMAGE_PULL_SECRETS: [],
    METRICS_PORT: 9090,
  });
});

test('lists and JSON are read', () => {
  const config = readConfig({
    ...needed,
    GATEWAY_SERVICES: 'a, b',
    RUNNER_RESOURCES: '{"limits":{"memory":"1Gi"}}',
    REDIS_SECRET_CREATE: 'false',
  });
  expect(config).toMatchObject({
    GATEWAY_SERVICES: ['a', 'b'],
    RUNNER_RESOURCES: { limits: { memory: '1Gi' } },
    REDIS_SECRET_CREATE: false,
  });
});

const KEDA = '{"engine":"KEDA","max":4}';

test.each([
  ['a max below min', { RUNNER_AUTOSCALING: '{"engine":"Builtin","min":3,"max":2}' }, /min must not be more/],
  ['no max', { RUNNER_AUTOSCALING: '{"engine":"Builtin"}' }, /require max/],
  ['bounds of others', { RUNNER_AUTOSCALING: '{"engine":"External","min":2}' }, /takes neither min/],
  ['an engine that does not exist', { RUNNER_AUTOSCALING: '{"engine":"HPA"}' }, /engine/],
  ['a misspelt member', { RUNNER_AUTOSCALING: '{"engine":"Builtin","max":2,"target":5}' }, /target/],
  ['KEDA without an address to ask', { RUNNER_AUTOSCALING: KEDA }, /SCALING_URL: is required/],
  [
    'KEDA for projects without an address to ask',
    { PROJECT_SETTINGS_BOUNDS: '{"autoscalingEngines":["KEDA"]}' },
    /SCALING_URL: is required/,
  ],
])('autoscaling with %s is refused', (_what, given, says) => {
  expect(() => readConfig({ ...needed, ...given })).toThrow(says);
});

test('autoscaling is read', () => {
  const { RUNNER_AUTOSCALING } = readConfig({
    ...needed,
    RUNNER_AUTOSCALING: KEDA,
    SCALING_URL: 'http://a:1',
  });
  expect(RUNNER_AUTOSCALING).toEqual({ engine: 'KEDA', max: 4 });
});

test('all missing and invalid variables are named at once', () => {
  const read = () =>
    readConfig({ ...needed, RUNNER_IMAGE: undefined, RUNNER_REPLICAS: 'many', RUNNER_ENV: '{' });
  expect(read).toThrow(/RUNNER_IMAGE: [^]*RUNNER_REPLICAS: [^]*RUNNER_ENV: /);
});

test('providers at the address of the API server or node are refused, also if it is public or in an allowed range', async () => {
  const reach = await clusterReach((around, allowed) =>
    egressOf(readConfig({ ...needed, ...around, RUNNER_EGRESS_ALLOW: allowed })),
  );
  expect(reach).toEqual({ apiServer: 'AddressForbidden', node: 'AddressForbidden', neighbour: '10.96.0.2' });
});
