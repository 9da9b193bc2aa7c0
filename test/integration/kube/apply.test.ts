/** Children and events on a real API server. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { applyIfChanged, asChild } from '../../../kube/apply.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import type { Manifest } from '../../../kube/writes.ts';
import { createRecorder } from '../../../kube/events.ts';
import {
  configMaps,
  deployments,
  events,
  namespaces,
  roles,
  secrets,
  type ConfigMap,
  type Deployment,
  type KubeObject,
  type Resource,
} from '../../../kube/resource.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { startKubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';

let server: ApiServer;
let client: KubeClient;
let namespace: string;
let owner: ConfigMap;
let count = 0;

beforeAll(async () => {
  server = await sharedApiServer();
  client = createClient(server.connection);
}, 600_000);

afterAll(async () => {
  await client?.close();
  await server?.stop();
});

beforeEach(async () => {
  namespace = `apply-${(count += 1)}`;
  await client.create(namespaces, { metadata: { name: namespace } });
  owner = await client.create(configMaps, { metadata: { namespace, name: 'owner' } });
});

function applyOnce<T extends KubeObject>(
  resource: Resource<T>,
  manifest: Manifest<T>,
  cached: T | undefined,
) {
  return applyIfChanged({
    client,
    resource,
    manifest: asChild(owner, manifest),
    cached,
    prefix: 'example.com',
  });
}

test('a child lives beside its owner and names it as controller, for the garbage collector', async () => {
  const child = await client.apply(configMaps, asChild(owner, { metadata: { name: 'child' } }));
  expect(child.metadata.ownerReferences).toEqual([
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, controller: true },
  ]);
  expect(child.metadata.namespace).toBe(namespace);
});

test('what is there as it should be is not written again, whatever defaults the server added', async () => {
  const labels = { app: 'a' };
  const deployment: Manifest<Deployment> = {
    metadata: { name: 'a' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'a', image: 'a', resources: { limits: { cpu: '500m', memory: '64Mi' } } }],
        },
      },
    },
  };
  const role = {
    metadata: { name: 'a' },
    rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['b'], verbs: ['get'] }],
  };
  const secret = { metadata: { name: 'a' }, type: 'Opaque', data: { key: 'dmFsdWU=' } };
  const writes = [
    await twice(deployments, deployment),
    await twice(roles, role),
    await twice(secrets, secret),
  ];
  expect(writes).toEqual([
    [true, false],
    [true, false],
    [true, false],
  ]);
});

async function twice<T extends KubeObject>(resource: Resource<T>, manifest: Manifest<T>): Promise<boolean[]> {
  const first = await applyOnce(resource, manifest, undefined);
  const cached = await client.get(resource, { namespace, name: manifest.metadata.name });
  const second = await applyOnce(resource, manifest, cached);
  return [first.written, second.written];
}

test('what somebody changed is put right, and what they added is left alone', async () => {
  const manifest = { metadata: { name: 'a' }, data: { ours: 'one' } };
  await applyOnce(configMaps, manifest, undefined);
  const changed = await client.patch(
    configMaps,
    { namespace, name: 'a' },
    { data: { ours: 'edited', theirs: 'two' } },
    { type: 'merge', fieldManager: 'kubectl-edit' },
  );
  const { object, written } = await applyOnce(configMaps, manifest, changed);
  expect(written).toBe(true);
  expect(object.data).toEqual({ ours: 'one', theirs: 'two' });
});

test('a field that the manifest no longer has is removed, though all others match', async () => {
  const { object } = await applyOnce(
    configMaps,
    { metadata: { name: 'a' }, data: { a: '1', b: '2' } },
    undefined,
  );
  const next = await applyOnce(configMaps, { metadata: { name: 'a' }, data: { a: '1' } }, object);
  expect(next.written).toBe(true);
  expect(next.object.data).toEqual({ a: '1' });
});

test('an object that is being deleted is not taken for the one that is wanted', async () => {
  const manifest = { metadata: { name: 'a' }, data: { a: '1' } };
  const { object } = await applyOnce(configMaps, manifest, undefined);
  const finalizers = { metadata: { finalizers: ['example.com/hold'] } };
  await client.patch(configMaps, object.metadata, finalizers, { type: 'merge' });
  await client.delete(configMaps, object.metadata);
  const deleting = await client.get(configMaps, { namespace, name: 'a' });
  expect((await applyOnce(configMaps, manifest, deleting)).written).toBe(true);
});

const occurrence = {
  type: 'Warning',
  reason: 'SecretMissing',
  action: 'Check',
  note: 'Create Secret smtp.',
} as const;

test('an event is written once, however often it happens, and says what people need', async () => {
  const recorder = createRecorder(client, 'example.com/operator', {
    log: createCollectedLog(),
    instance: 'pod-1',
  });
  for (let time = 0; time < 100; time += 1) recorder.record(owner, occurrence);
  recorder.record(owner, { ...occurrence, note: 'x'.repeat(5_000) });
  await recorder.flush();
  const { items } = await client.list(events, { namespace });
  expect(items).toHaveLength(2);
  expect(items.find(({ note }) => note === occurrence.note)).toMatchObject({
    type: 'Warning',
    reason: 'SecretMissing',
    action: 'Check',
    reportingController: 'example.com/operator',
    reportingInstance: 'pod-1',
    regarding: { kind: 'ConfigMap', name: 'owner', namespace, uid: owner.metadata.uid },
  });
});

test('a flood of different events in one namespace is cut to its burst, and leaves room for another namespace', async () => {
  const recorder = createRecorder(client, 'example.com/operator', { log: createCollectedLog() });
  const flood = Array.from({ length: 500 }, (_, time) =>
    recorder.record(owner, { ...occurrence, note: `note ${time}` }),
  );
  const { metadata } = owner;
  const neighbour = { ...owner, metadata: { ...metadata, namespace: 'default', uid: 'neighbour' } };
  expect(recorder.record(neighbour, occurrence)).toBe(true);
  await recorder.flush();
  const { items } = await client.list(events, { namespace });
  expect(items.length).toBeGreaterThanOrEqual(25);
  expect(items.length).toBeLessThan(30);
  expect(flood.filter((isWritten) => isWritten)).toHaveLength(items.length);
});

test('an event that cannot be written is logged and disturbs nobody', async () => {
  const faults = await startKubeApiFaults(server.connection);
  const refused = createClient(faults.connection);
  faults.always(() => true, { status: 403 });
  const log = createCollectedLog();
  const recorder = createRecorder(refused, 'example.com/operator', { log });
  recorder.record(owner, occurrence);
  await recorder.flush();
  expect(log.messages('warn')).toEqual(['writing an Event failed']);
  await refused.close();
  await faults.stop();
});
