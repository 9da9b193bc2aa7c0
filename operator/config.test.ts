import { expect, test } from 'vitest';
import { createEgress } from '../nodes/egress/egress.ts';
import { egressOf, readConfig } from './config.ts';

const needed = {
  PUBLIC_URL: 'https://hooks.example.com/',
  REDIS_URL: 'redis://redis:6379',
  RUNNER_IMAGE: 'windlass:1',
};

test('what is left out, or empty, takes its default', () => {
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

test('everything that is missing or makes no sense is named at once', () => {
  const read = () =>
    readConfig({ ...needed, RUNNER_IMAGE: undefined, RUNNER_REPLICAS: 'many', RUNNER_ENV: '{' });
  expect(read).toThrow(/RUNNER_IMAGE: [^]*RUNNER_REPLICAS: [^]*RUNNER_ENV: /);
});

test('no provider is looked for at the API server or the node, also where these are public or in an allowed range', async () => {
  const around = {
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
    HOST_IP: '93.184.216.34',
    RUNNER_EGRESS_ALLOW: '10.0.0.0/8',
  };
  const egress = createEgress(egressOf(readConfig({ ...needed, ...around })));
  for (const host of ['10.96.0.1', '93.184.216.34'])
    await expect(egress.resolve(host, 443)).rejects.toMatchObject({ reason: 'AddressForbidden' });
  expect(await egress.resolve('10.96.0.2', 443)).toHaveLength(1);
});
