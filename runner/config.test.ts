import { expect, test } from 'vitest';
import { clusterReach } from '../test/support/cluster/clusterReach.ts';
import { egressOf, readConfig } from './config.ts';

const pod = {
  PROJECT_UID: 'a-1',
  POD_NAMESPACE: 'shop',
  POD_NAME: 'runner-0',
  REDIS_URL: 'redis://store:6379',
};

test('the environment of a pod is sufficient', () => {
  expect(readConfig(pod)).toMatchObject({
    CONCURRENCY: 50,
    GRACE_SECONDS: 60,
    METRICS_PORT: 9090,
    LOG_LEVEL: 'info',
  });
});

test('an empty variable counts as unset', () => {
  expect(readConfig({ ...pod, CONCURRENCY: '', REDIS_PASSWORD: '' })).toMatchObject({ CONCURRENCY: 50 });
});

test('every invalid variable is named, without its value', () => {
  const read = () =>
    readConfig({ ...pod, REDIS_URL: 'http://user:secret@store', CONCURRENCY: 'many', POD_NAME: undefined });
  expect(read).toThrow(/REDIS_URL[\s\S]*CONCURRENCY|CONCURRENCY[\s\S]*REDIS_URL/);
  expect(read).toThrow(/POD_NAME/);
  expect(read).not.toThrow(/secret/);
});

test('steps may not connect to the API server and the node, also where these are public or in an allowed range', async () => {
  const reach = await clusterReach((around, allowed) =>
    egressOf(readConfig({ ...pod, ...around, EGRESS_ALLOW: allowed })),
  );
  expect(reach).toEqual({ apiServer: 'AddressForbidden', node: 'AddressForbidden', neighbour: '10.96.0.2' });
});

test('an API server that is known only by name does not prevent the start', () => {
  expect(egressOf(readConfig({ ...pod, KUBERNETES_SERVICE_HOST: 'api.example.com' })).deny).toEqual([]);
});

test('an invalid egress rule is named', () => {
  expect(() => readConfig({ ...pod, EGRESS_ALLOW: '10.0.0.0/8, model' })).toThrow(
    /EGRESS_ALLOW.*: model is neither/,
  );
});
