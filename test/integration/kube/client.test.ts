/** The client against a real API server. */
import { once } from 'node:events';
import { connect as connectSocket, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { kubeconfigConnection } from '../../../kube/config.ts';
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooLarge,
  isUnauthorized,
} from '../../../kube/errors.ts';
import {
  configMaps,
  controllerRevisions,
  deployments,
  namespaces,
  serviceAccounts,
  subjectAccessReviews,
  tokenReviews,
} from '../../../kube/resource.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { pollUntil } from '../../support/time/poll.ts';

let server: ApiServer;
let client: KubeClient;
let namespace: string;
let count = 0;

beforeAll(async () => {
  server = await sharedApiServer();
  client = createClient(server.connection, { fieldManager: 'tester' });
}, 600_000);

afterAll(async () => {
  await client?.close();
  await server?.stop();
});

beforeEach(async () => {
  namespace = `client-${(count += 1)}`;
  await client.create(namespaces, { metadata: { name: namespace } });
});

const at = (name: string): { namespace: string; name: string } => ({ namespace, name });

test('an object is created, read, replaced, patched and deleted', async () => {
  const created = await client.create(configMaps, { metadata: at('a'), data: { key: 'one' } });
  expect(created).toMatchObject({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: at('a'),
    data: { key: 'one' },
  });
  expect(await client.get(configMaps, at('a'))).toEqual(created);
  const replaced = await client.replace(configMaps, { ...created, data: { key: 'two' } });
  expect(replaced.data).toEqual({ key: 'two' });
  const patched = await client.patch(configMaps, at('a'), { data: { more: 'three' } }, { type: 'merge' });
  expect(patched.data).toEqual({ key: 'two', more: 'three' });
  const json = [{ op: 'remove', path: '/data/key' }];
  expect((await client.patch(configMaps, at('a'), json, { type: 'json' })).data).toEqual({ more: 'three' });
  const strategic = { metadata: { labels: { a: 'b' } } };
  expect((await client.patch(configMaps, at('a'), strategic, { type: 'strategic' })).metadata.labels).toEqual(
    { a: 'b' },
  );
  expect(await client.delete(configMaps, at('a'))).toBe(true);
  expect(await client.delete(configMaps, at('a'))).toBe(false);
  expect(await client.find(configMaps, at('a'))).toBeUndefined();
});

test('apply creates, changes and removes what its manager owns, and takes fields from others', async () => {
  await client.create(
    configMaps,
    { metadata: at('a'), data: { shared: 'theirs', other: 'kept' } },
    { fieldManager: 'someone' },
  );
  const applied = await client.apply(configMaps, {
    metadata: at('a'),
    data: { shared: 'ours', extra: 'ours' },
  });
  expect(applied.data).toEqual({ shared: 'ours', extra: 'ours', other: 'kept' });
  const next = await client.apply(configMaps, { metadata: at('a'), data: { shared: 'ours' } });
  expect(next.data).toEqual({ shared: 'ours', other: 'kept' });
  const refused = client.apply(
    configMaps,
    { metadata: at('a'), data: { shared: 'mine' } },
    { fieldManager: 'third', force: false },
  );
  await expect(refused).rejects.toSatisfy(isConflict);
});

test('what must not change is the same text after a canonical create, a patch and an apply', async () => {
  const data = { b: '<a> & b', a: { z: 1.5, y: [true, 'x'] }, é: '𝒳' };
  const metadata = at('a');
  await client.create(controllerRevisions, { metadata, revision: 1, data }, { canonical: true });
  const patch = { metadata: { annotations: { noted: 'yes' } } };
  await client.patch(controllerRevisions, metadata, patch, { type: 'merge' });
  const applied = await client.apply(controllerRevisions, { metadata, revision: 2, data });
  expect(applied).toMatchObject({ metadata: patch.metadata, revision: 2, data });
});

test('the status is written through its subresource alone', async () => {
  const selector = { matchLabels: { app: 'a' } };
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  await client.apply(deployments, { metadata: at('a'), spec: { selector, template } });
  const status = { replicas: 3, observedGeneration: 1 };
  const written = await client.apply(deployments, { metadata: at('a'), status }, { subresource: 'status' });
  expect(written.status).toMatchObject(status);
  const ignored = await client.patch(deployments, at('a'), { status: { replicas: 9 } }, { type: 'merge' });
  expect(ignored.status?.replicas).toBe(3);
});

test('the server makes a name where it is asked to', async () => {
  const made = await client.create(configMaps, { metadata: { namespace, generateName: 'part-' } });
  expect(made.metadata.name).toMatch(/^part-.{5}$/);
});

test('a dry run changes nothing', async () => {
  await client.create(configMaps, { metadata: at('a') }, { dryRun: true });
  expect(await client.find(configMaps, at('a'))).toBeUndefined();
});

test('each refusal has its own error', async () => {
  const created = await client.create(configMaps, { metadata: at('a') });
  await expect(client.get(configMaps, at('b'))).rejects.toSatisfy(isNotFound);
  await expect(client.create(configMaps, { metadata: at('a') })).rejects.toSatisfy(isAlreadyExists);
  await client.patch(configMaps, at('a'), { data: { a: 'b' } }, { type: 'merge' });
  await expect(client.replace(configMaps, created)).rejects.toSatisfy(isConflict);
  await expect(client.create(configMaps, { metadata: at('Not a name') })).rejects.toSatisfy(isInvalid);
  const otherUid = { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } };
  await expect(client.delete(configMaps, at('a'), otherUid)).rejects.toSatisfy(isConflict);
});

test.each([
  { size: 1.9 * 2 ** 20, by: 'etcd' },
  { size: 3.5 * 2 ** 20, by: 'the API server' },
])('an object that is too large for $by is distinguished from a passing failure', async ({ size }) => {
  const data = { text: 'x'.repeat(size) };
  const revision = client.create(controllerRevisions, { metadata: at('a'), revision: 1, data });
  await expect(revision).rejects.toSatisfy(isTooLarge);
});

test('a long list comes in pages and is complete', async () => {
  const names = Array.from({ length: 23 }, (_, index) => `item-${String(index).padStart(2, '0')}`);
  await Promise.all(
    names.map((name) => client.create(configMaps, { metadata: { ...at(name), labels: { set: 'x' } } })),
  );
  const metrics: string[] = [];
  const counting = createClient(server.connection, { onRequest: ({ verb }) => metrics.push(verb) });
  const all = await counting.listAll(configMaps, { namespace, limit: 10, labelSelector: 'set=x' });
  expect(all.items.map(({ metadata }) => metadata.name)).toEqual(names);
  expect(all.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  expect(all.metadata.resourceVersion).toMatch(/^\d+$/);
  expect(metrics).toEqual(['list', 'list', 'list']);
  const one = await counting.list(configMaps, { namespace, fieldSelector: 'metadata.name=item-07' });
  expect(one.items.map(({ metadata }) => metadata.name)).toEqual(['item-07']);
  await counting.close();
});

test('a watch tells what happens after its version, and ends at its time', async () => {
  const { metadata } = await client.list(configMaps, { namespace });
  const events: string[] = [];
  const follow = async (): Promise<void> => {
    const options = { namespace, resourceVersion: metadata.resourceVersion ?? '', timeoutSeconds: 1 };
    for await (const event of client.watch(configMaps, options, new AbortController().signal)) {
      if (event.type !== 'BOOKMARK') events.push(`${event.type} ${event.object.metadata.name}`);
    }
  };
  const following = follow();
  await client.create(configMaps, { metadata: at('a') });
  await client.apply(configMaps, { metadata: at('a'), data: { a: 'b' } });
  await client.delete(configMaps, at('a'));
  await following;
  expect(events).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
});

test('200 calls, 16 at once and beside 20 open watches, use at most 16 connections', async () => {
  const proxy = await startCountingProxy(server.url);
  const pooled = createClient({ ...server.connection, server: proxy.url });
  const stop = new AbortController();
  await client.create(configMaps, { metadata: at('a') });
  const open = new Set<number>();
  const watch = async (id: number): Promise<void> => {
    const options = { namespace, timeoutSeconds: 60 };
    for await (const _event of pooled.watch(configMaps, options, stop.signal)) open.add(id);
  };
  const watches = Promise.all(Array.from({ length: 20 }, (_, id) => watch(id)));
  try {
    await pollUntil('20 open watches', () => open.size === 20, { timeoutMs: 10_000, everyMs: 10 });
    const before = proxy.accepted();
    expect(before).toBe(20);
    let left = 200;
    const work = async (): Promise<void> => {
      while ((left -= 1) >= 0) await pooled.get(configMaps, at('a'));
    };
    await Promise.all(Array.from({ length: 16 }, work));
    await Promise.all(Array.from({ length: 200 }, () => pooled.get(configMaps, at('a'))));
    expect(proxy.accepted() - before).toBeLessThanOrEqual(16);
  } finally {
    stop.abort();
    await watches;
    await pooled.close();
    await proxy.close();
  }
});

test('a kubeconfig gives the same connection, and says what is missing', async () => {
  const connection = await kubeconfigConnection(server.kubeconfigPath);
  const other = createClient(connection);
  expect(await other.raw('GET', '/readyz')).toBe('ok');
  expect(await other.raw('GET', '/version')).toMatchObject({ major: '1' });
  await other.close();
  await expect(kubeconfigConnection(server.kubeconfigPath, 'nowhere')).rejects.toThrow('context "nowhere"');
});

test('a service account is who its token says, and may what it is allowed', async () => {
  await client.create(serviceAccounts, { metadata: at('robot') });
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/robot/token`;
  const answer = (await client.raw('POST', path, { body: { spec: {} } })) as { status: { token: string } };
  const { token } = answer.status;
  const robot = createClient({ ...server.connection, auth: { token: () => token } });
  await expect(robot.list(configMaps, { namespace })).rejects.toSatisfy(isForbidden);
  const review = await client.create(tokenReviews, { spec: { token } });
  expect(review.status?.user?.username).toBe(`system:serviceaccount:${namespace}:robot`);
  const access = await client.create(subjectAccessReviews, {
    spec: {
      user: review.status?.user?.username ?? '',
      resourceAttributes: { namespace, verb: 'get', group: '', resource: 'secrets' },
    },
  });
  expect(access.status?.allowed).toBe(false);
  await robot.close();
  const stranger = createClient({ ...server.connection, auth: { token: () => 'nonsense' } });
  await expect(stranger.list(configMaps, { namespace })).rejects.toSatisfy(isUnauthorized);
  await stranger.close();
});

/** A proxy that passes bytes through and counts connections, so that TLS is the real one. */
async function startCountingProxy(target: string) {
  const { port } = new URL(target);
  const sockets = new Set<Socket>();
  let accepted = 0;
  const proxy = createServer((socket) => {
    accepted += 1;
    const out = connectSocket(Number(port), '127.0.0.1');
    for (const end of [socket, out]) {
      sockets.add(end);
      end.on('error', () => end.destroy());
    }
    socket.pipe(out).pipe(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    accepted: () => accepted,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
