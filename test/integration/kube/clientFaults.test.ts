/** What a client does when the API server, or what lies between, misbehaves. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type ClientOptions, type KubeClient } from '../../../kube/client.ts';
import { ApiError, isTransient } from '../../../kube/errors.ts';
import { createNodePool } from '../../../kube/nodePool.ts';
import { configMaps } from '../../../kube/resource.ts';
import { createUndiciPool } from '../../../kube/undiciPool.ts';
import {
  startKubeApiFaults,
  type KubeApiFaults,
  type SeenRequest,
} from '../../support/cluster/kubeApiFaults.ts';
import { pollUntil } from '../../support/time/poll.ts';

let server: KubeApiFaults;
let client: KubeClient;

beforeEach(async () => {
  server = await startKubeApiFaults();
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

const any = (): boolean => true;
const ref = { namespace: 'shop', name: 'a' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...ref, uid: 'u1' } };
const ok = { status: 200, body: object };
const methods = (): string[] => server.seen.map(({ method }: SeenRequest) => method);

describe.each([
  { of: 'Node', createPool: createNodePool },
  { of: 'undici', createPool: createUndiciPool },
])('with the HTTP client of $of', ({ createPool }) => {
  function connect(options: ClientOptions = {}): KubeClient {
    client = createClient(server.connection, { createPool, ...options });
    return client;
  }

  test('a create that was refused with 429 is sent again after the time that the server asked for', async () => {
    server.script(any, { status: 429, headers: { 'retry-after': '1' }, body: {} }, ok);
    await expect(connect().create(configMaps, { metadata: ref })).resolves.toMatchObject({ metadata: ref });
    const [first, second] = server.seen;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  test.each([{ reply: { status: 503 } }, { reply: 'reset' as const }])(
    'a create that may have been processed ($reply) is never sent again',
    async ({ reply }) => {
      server.script(any, reply, ok);
      await expect(connect().create(configMaps, { metadata: ref })).rejects.toSatisfy(isTransient);
      expect(methods()).toEqual(['POST']);
    },
  );

  test.each([{ reply: { status: 503 } }, { reply: { status: 500 } }, { reply: 'reset' as const }])(
    'reads, applies, replaces and deletes are sent again after $reply',
    async ({ reply }) => {
      connect();
      const calls = [
        () => client.get(configMaps, ref),
        () => client.apply(configMaps, { metadata: ref }),
        () => client.replace(configMaps, { metadata: ref }),
        () => client.delete(configMaps, ref),
        () => client.patch(configMaps, ref, { data: { a: 'b' } }, { type: 'merge' }),
      ];
      for (const call of calls) {
        server.script(any, reply, ok);
        await call();
      }
      expect(methods()).toEqual(
        ['GET', 'PATCH', 'PUT', 'DELETE', 'PATCH'].flatMap((method) => [method, method]),
      );
    },
  );

  test('a JSON patch, which says what to do, is not done twice', async () => {
    server.script(any, 'reset', ok);
    const patch = [{ op: 'add', path: '/data/a', value: 'b' }];
    await expect(connect().patch(configMaps, ref, patch, { type: 'json' })).rejects.toBeInstanceOf(ApiError);
    expect(methods()).toEqual(['PATCH']);
  });

  test('a server that stays away is given up after the retries, with its reason', async () => {
    server.always(any, {
      status: 503,
      body: { kind: 'Status', reason: 'ServiceUnavailable', message: 'starting' },
    });
    await expect(connect().get(configMaps, ref, { retries: 2 })).rejects.toMatchObject({
      status: 503,
      reason: 'ServiceUnavailable',
      message: 'GET /api/v1/namespaces/shop/configmaps/a: 503 starting',
    });
    expect(server.seen).toHaveLength(3);
  });

  test('a connection that went silent is given up and the call is made on a new one', async () => {
    connect({ requestTimeoutMs: 300 });
    server.script(any, ok, 'silence', ok);
    await client.get(configMaps, ref);
    await expect(client.get(configMaps, ref)).resolves.toMatchObject({ metadata: ref });
    expect(server.accepted()).toBe(2);
  });

  test('an answer that does not end is given up', async () => {
    server.always(any, { lines: [object], finish: 'silence' });
    const call = connect().get(configMaps, ref, { timeoutMs: 200, retries: 0 });
    await expect(call).rejects.toMatchObject({ status: 0 });
  });

  test('a refusal with another body than a Status is understood by its code', async () => {
    server.always(any, { status: 404, body: 'no such page' });
    await expect(connect().find(configMaps, ref)).resolves.toBeUndefined();
  });

  test('the signal of a call, or of the client, ends calls and waits with its reason', async () => {
    server.always(any, { status: 503 });
    const reason = new Error('enough');
    const call = new AbortController();
    const slow = connect().get(configMaps, ref, { signal: call.signal, retries: 100 });
    call.abort(reason);
    await expect(slow).rejects.toBe(reason);
    const whole = new AbortController();
    const other = createClient(server.connection, { createPool, signal: whole.signal });
    server.always(any, 'silence');
    const hanging = other.get(configMaps, ref, { retries: 100 });
    whole.abort(reason);
    await expect(hanging).rejects.toBe(reason);
    await other.close();
  });

  test('a write that waited for a connection until it may not be made any more is not sent; reads are', async () => {
    let isAllowed = true;
    connect({ maxConnections: 1, mayWrite: () => isAllowed });
    server.script(any, 'silence', ok);
    const first = new AbortController();
    const sent = client.apply(configMaps, { metadata: ref }, { signal: first.signal });
    const waiting = client.apply(configMaps, { metadata: ref });
    await pollUntil('the first write being sent', () => server.seen.length === 1, { timeoutMs: 20_000 });
    isAllowed = false;
    first.abort(new Error('enough'));
    await expect(sent).rejects.toThrow('enough');
    await expect(waiting).rejects.toThrow('another process may lead');
    await expect(client.get(configMaps, ref)).resolves.toMatchObject({ metadata: ref });
    expect(methods()).toEqual(['PATCH', 'GET']);
  });

  test('every attempt is counted with verb, kind, code and duration', async () => {
    const metrics: string[] = [];
    connect({ onRequest: ({ verb, resource, code }) => metrics.push(`${verb} ${resource} ${code}`) });
    server.script(any, 'reset', { status: 503 }, ok, { status: 404 });
    await client.get(configMaps, ref);
    await client.find(configMaps, { ...ref, name: 'b' });
    expect(metrics).toEqual([
      'get configmaps <error>',
      'get configmaps 503',
      'get configmaps 200',
      'get configmaps 404',
    ]);
  });

  test('nothing listens there: the call fails with the reason and leaves no connection', async () => {
    const { connection } = server;
    await server.stop();
    const call = createClient(connection, { createPool }).create(
      configMaps,
      { metadata: ref },
      { retries: 1 },
    );
    await expect(call).rejects.toMatchObject({ status: 0, reason: 'ECONNREFUSED', notSent: true });
    server = await startKubeApiFaults();
    connect();
  });

  test('close ends watches that are open', async () => {
    server.always(any, { lines: [{ type: 'ADDED', object }], finish: 'silence' });
    connect();
    const received: string[] = [];
    const follow = async (): Promise<void> => {
      const watch = client.watch(configMaps, { timeoutSeconds: 60 }, new AbortController().signal);
      for await (const event of watch) received.push(event.type);
    };
    const following = follow();
    await pollUntil('the first event', () => received.length > 0, { timeoutMs: 20_000, everyMs: 10 });
    await client.close();
    await expect(following).rejects.toBeInstanceOf(ApiError);
  });

  test('the token is asked for with each request and sent as a bearer', async () => {
    let asked = 0;
    const token = (): string => `token-${(asked += 1)}`;
    client = createClient({ ...server.connection, auth: { token } }, { createPool });
    server.always(any, ok);
    await client.get(configMaps, ref);
    await client.get(configMaps, ref);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  test('a server below a path prefix is asked there', async () => {
    client = createClient(
      { ...server.connection, server: `${server.connection.server}/k8s/c1/` },
      { createPool },
    );
    server.always(any, ok);
    await client.get(configMaps, ref);
    expect(server.seen[0]?.path).toBe('/k8s/c1/api/v1/namespaces/shop/configmaps/a');
  });
});

// undici ends such calls when they would get their connection.
test('the signal of a call, and close, end calls that wait for a connection, and no other is made', async () => {
  server.always(any, 'silence');
  client = createClient(server.connection, { maxConnections: 1, retries: 0 });
  const call = new AbortController();
  const first = client.get(configMaps, ref);
  await pollUntil('the first call being sent', () => server.seen.length === 1, { timeoutMs: 20_000 });
  const aborted = client.get(configMaps, ref, { signal: call.signal });
  const waiting = client.get(configMaps, ref);
  const reason = new Error('enough');
  call.abort(reason);
  await expect(aborted).rejects.toBe(reason);
  const ended = Promise.allSettled([first, waiting]);
  await client.close();
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(client.get(configMaps, ref)).rejects.toBeInstanceOf(ApiError);
  expect(server.accepted()).toBe(1);
});
