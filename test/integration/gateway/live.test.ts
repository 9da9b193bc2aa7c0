/** Watches in one stream, and the projects of a person, on a real API server with real users. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRouteTable } from '../../../gateway/routing/table.ts';
import type { Resource, RoleBinding } from '../../../kube/resource.ts';
import { startKubeApiFaults, type KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import {
  startPassThroughHarness,
  type CallInit,
  type PassThroughHarness,
  type TestGateway,
} from '../../support/gateway/passThroughHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { clusterRoles } from '../../support/cluster/users.ts';

const WORKFLOWS = '/apis/windlass.dev/v1alpha1/namespaces/shop/workflows';
const CREDENTIALS = '/apis/windlass.dev/v1alpha1/namespaces/shop/credentials';
const SOON = { timeoutMs: 10_000, everyMs: 20 };
const clusterRoleBindings: Resource<RoleBinding> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};
const rule = (resources: string[], verbs: string[], apiGroups = ['windlass.dev']) => ({
  apiGroups,
  resources,
  verbs,
});

let harness: PassThroughHarness;
let gateway: TestGateway;
let proxy: KubeApiFaults;
let proxied: TestGateway;
let editor: string;

beforeAll(async () => {
  harness = await startPassThroughHarness('shop', 'office', 'attic');
  const { server, ca } = harness.api.connection;
  proxy = await startKubeApiFaults({ server, ...(ca !== undefined && { ca }), auth: {} });
  [gateway, proxied] = await Promise.all([
    harness.gateway(),
    harness.gateway({ connection: proxy.connection }),
  ]);
  editor = await harness.user('shop', 'editor', [rule(['workflows'], ['*'])]);
});
afterAll(async () => {
  await proxy?.stop();
  await harness?.close();
});

type Line = {
  id?: string;
  event?: { type: string; object: Record<string, unknown> & { metadata: Record<string, unknown> } };
  end?: { status: number; reason?: string; message?: string };
  alive?: true;
};
type Live = { lines: Line[]; ended: () => boolean; leave: () => void };

const asked = (watches: unknown[]): CallInit => ({
  method: 'POST',
  body: JSON.stringify({ watches }),
  headers: { 'content-type': 'application/json' },
});

async function follow(at: TestGateway, watches: unknown[]): Promise<Live> {
  const gone = new AbortController();
  const answer = await at.call('/console/live', editor, { ...asked(watches), signal: gone.signal });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  const live = { lines: [] as Line[], isEnded: false };
  void read(answer, live.lines)
    .catch(() => undefined)
    .finally(() => (live.isEnded = true));
  return { lines: live.lines, ended: () => live.isEnded, leave: () => gone.abort() };
}

async function read(answer: Response, lines: Line[]): Promise<void> {
  let rest = '';
  for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.map((part) => JSON.parse(part) as Line));
  }
}

const workflow = (name: string, displayName = name) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: { displayName, nodes: [{ id: 'trigger', manual: {} }] },
});

async function write(method: string, path: string, body?: unknown, type = 'application/json') {
  const answer = await gateway.call(`/kube${path}`, editor, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': type } }),
  });
  expect(answer.ok).toBe(true);
}

async function version(): Promise<string> {
  const list = await gateway.call(`/kube${WORKFLOWS}`, editor);
  return ((await list.json()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
}

/** What was told of objects; when the API server tells how far it is, is its own affair. */
const told = ({ lines }: Live, id: string) =>
  lines
    .flatMap((line) => (line.id === id && line.event ? [line.event.type] : []))
    .filter((type) => type !== 'BOOKMARK');

test('one stream has changes of workflows as objects and as rows of a table', async () => {
  const query = { resourceVersion: await version() };
  const live = await follow(gateway, [
    { id: 'objects', path: WORKFLOWS, query },
    { id: 'rows', path: WORKFLOWS, query, table: true },
    { id: 'others', path: WORKFLOWS, query: { ...query, fieldSelector: 'metadata.name=other' } },
  ]);
  await write('POST', WORKFLOWS, workflow('tea'));
  await write('PATCH', `${WORKFLOWS}/tea`, { spec: { displayName: 'Tea' } }, 'application/merge-patch+json');
  await write('DELETE', `${WORKFLOWS}/tea`);
  const expected = ['ADDED', 'MODIFIED', 'DELETED'];
  for (const id of ['objects', 'rows'])
    await pollUntil(`the events of ${id}`, () => told(live, id).length === 3, SOON);
  expect([told(live, 'objects'), told(live, 'rows'), told(live, 'others')]).toEqual([expected, expected, []]);
  const second = live.lines.find(({ id, event }) => id === 'objects' && event?.type === 'MODIFIED');
  expect(second?.event?.object).toMatchObject({ kind: 'Workflow', spec: { displayName: 'Tea' } });
  const row = live.lines.find(({ id, event }) => id === 'rows' && event?.type !== 'BOOKMARK')?.event?.object;
  expect(row).toMatchObject({ kind: 'Table', rows: [{ object: { metadata: { name: 'tea' } } }] });
  expect(row?.['columnDefinitions']).not.toEqual([]);
  live.leave();
});

test('a refused, expired or invalid watch ends with its status, and others continue', async () => {
  const live = await follow(proxied, [
    { id: 'mine', path: WORKFLOWS, query: { resourceVersion: await version() } },
    { id: 'not-mine', path: CREDENTIALS },
    { id: 'elsewhere', path: WORKFLOWS.replace('/shop/', '/office/') },
    { id: 'odd', path: WORKFLOWS, query: { labelSelector: '!!' } },
  ]);
  const endOf = (id: string) => live.lines.find((line) => line.id === id && line.end !== undefined)?.end;
  for (const [id, status] of [
    ['not-mine', 403],
    ['elsewhere', 403],
    ['odd', 400],
  ] as const)
    expect(await pollUntil(`the end of ${id}`, () => endOf(id), SOON)).toMatchObject({ status });
  expect(endOf('not-mine')?.message).toContain('system:serviceaccount:shop:editor');
  await write('POST', WORKFLOWS, workflow('on'));
  await pollUntil('an event', () => told(live, 'mine').length === 1, SOON);
  proxy.expireWatches();
  expect(await pollUntil('the end', () => endOf('mine'), SOON)).toMatchObject({
    status: 410,
    reason: 'Expired',
  });
  expect(told(live, 'mine')).toEqual(['ADDED', 'ERROR']);
  await pollUntil('the end of the stream', live.ended, SOON);
});

test('the stream reports watches that the API server ends or loses', async () => {
  for (const [end, status] of [
    [() => proxy.endWatches(), 200],
    [() => proxy.resetWatches(), 503],
  ] as const) {
    const live = await follow(proxied, [{ id: 'a', path: WORKFLOWS }]);
    await pollUntil('a watch', () => proxy.openWatches() === 1, SOON);
    end();
    await pollUntil('the end of the stream', live.ended, SOON);
    expect(live.lines.at(-1)).toEqual({ id: 'a', end: { status } });
  }
  const stop = proxy.always(({ path }) => path === WORKFLOWS, 'reset');
  const live = await follow(proxied, [{ id: 'a', path: WORKFLOWS }]);
  await pollUntil('the end of the stream', live.ended, SOON);
  expect(live.lines).toEqual([{ id: 'a', end: { status: 503 } }]);
  stop();
});

test('watches end upstream when the client disconnects', async () => {
  const watches = Array.from({ length: 32 }, (_, at) => ({ id: `w${at}`, path: WORKFLOWS }));
  const live = await follow(proxied, watches);
  await pollUntil('all watches', () => proxy.openWatches() === 32, SOON);
  expect(await proxied.metrics()).toMatch(/^windlass_gateway_event_streams 1$/m);
  live.leave();
  await pollUntil('no watch', () => proxy.openWatches() === 0, SOON);
  await pollUntil(
    'no stream',
    async () => /^windlass_gateway_event_streams 0$/m.test(await proxied.metrics()),
    SOON,
  );
});

test('a token may have 256 watches, and ended ones free their places', async () => {
  const watches = Array.from({ length: 32 }, (_, at) => ({ id: `w${at}`, path: WORKFLOWS }));
  const streams = await Promise.all(Array.from({ length: 8 }, () => follow(proxied, watches)));
  const beyond = await proxied.call('/console/live', editor, asked(watches.slice(0, 1)));
  expect([beyond.status, ((await beyond.json()) as { type: string }).type.split('/').at(-1)]).toEqual([
    429,
    'too-many-exchanges',
  ]);
  for (const { leave } of streams) leave();
  await pollUntil('no watch', () => proxy.openWatches() === 0, SOON);
  const after = await follow(proxied, watches);
  after.leave();
});

test.each([
  [{}, 422, 'bad-watches'],
  [{ watches: [{ id: 'a', path: '/api/v1/namespaces/shop/secrets' }] }, 403, 'kube-path-refused'],
  [{ watches: [{ id: 'a', path: `${WORKFLOWS}/../../office/workflows` }] }, 403, 'kube-path-refused'],
])('%j is no list of watches', async (body, status, code) => {
  const answer = await gateway.call('/console/live', editor, { ...asked([]), body: JSON.stringify(body) });
  const { type } = (await answer.json()) as { type: string };
  expect([answer.status, type.split('/').at(-1)]).toEqual([status, code]);
});

test('a stream ends when the gateway closes', async () => {
  const leaving = await harness.gateway();
  const live = await follow(leaving, [{ id: 'a', path: WORKFLOWS }]);
  expect(live.ended()).toBe(false);
  leaving.closing();
  await pollUntil('the end of the stream', live.ended, SOON);
});

/** A server that sends events as long as they are taken, and says how many bytes it has got rid of. */
async function startGusher(): Promise<{
  server: Server;
  url: string;
  sent: () => number;
  open: () => number;
}> {
  const line = `${JSON.stringify({ type: 'ADDED', object: { padding: 'x'.repeat(16_384) } })}\n`;
  const state = { sent: 0, open: 0 };
  const server = createServer((_request, response) => {
    state.open += 1;
    response.on('close', () => (state.open -= 1));
    response.writeHead(200, { 'content-type': 'application/json' });
    const pump = (): void => {
      while (!response.destroyed && response.write(line)) state.sent += line.length;
      state.sent += line.length;
    };
    response.on('drain', pump);
    pump();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}`, sent: () => state.sent, open: () => state.open };
}

test.each([
  [
    'a stream of watches',
    'POST',
    '/console/live',
    JSON.stringify({ watches: [{ id: 'a', path: WORKFLOWS }] }),
  ],
  ['an answer that is passed on', 'GET', `/kube${WORKFLOWS}?watch=true`, ''],
])(
  '%s that is not read is not read upstream either, and ends with its client',
  async (_what, method, path, body) => {
    const gusher = await startGusher();
    const at = await harness.gateway({ connection: { server: gusher.url, auth: {} } });
    const headers = { authorization: `Bearer ${editor}`, 'content-type': 'application/json' };
    const asking = request(at.url + path, {
      method,
      headers: method === 'POST' ? headers : { authorization: headers.authorization },
    });
    asking.on('error', () => undefined).end(body);
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined).pause();
    const seen = { bytes: -1 };
    // What lies in the buffers of the kernel and of both programs; nothing more comes after that.
    const stuck = await pollUntil(
      'the standstill',
      () => {
        const isStill = seen.bytes === gusher.sent();
        seen.bytes = gusher.sent();
        return isStill && seen.bytes;
      },
      { timeoutMs: 20_000, everyMs: 500 },
    );
    expect(stuck).toBeLessThan(32 * 2 ** 20);
    answer.once('data', () => answer.resume());
    answer.resume();
    await pollUntil('more', () => gusher.sent() > 2 * stuck, SOON);
    asking.destroy();
    await pollUntil('the end upstream', () => gusher.open() === 0, SOON);
    gusher.server.close();
  },
);

async function projects(at: TestGateway, token: string): Promise<string[]> {
  const answer = await at.call('/console/projects', token);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { items: { name: string }[] }).items.map(({ name }) => name);
}

/** Lets the user do it in all namespaces. */
async function grant(token: string, user: string, rules: ReturnType<typeof rule>[]): Promise<void> {
  const metadata = { name: `all-${user}` };
  await harness.client.create(clusterRoles, { metadata, rules });
  await harness.client.create(clusterRoleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: user, namespace: 'office' }],
  });
  const [first] = rules;
  const path = first?.resources[0] === 'namespaces' ? '/kube/api/v1/namespaces' : `/kube${WORKFLOWS}`;
  await pollUntil('the rights', async () => (await gateway.call(path, token)).status === 200, SOON);
}

function routesOf(...names: string[]) {
  const table = createRouteTable();
  for (const namespace of names) {
    const spec = {
      workflow: 'orders',
      workflowUID: `workflow-${namespace}`,
      projectUID: namespace,
      revision: 'orders-1',
      trigger: 'manual',
      active: false,
    };
    table.put({
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'WebhookRoute',
      metadata: { name: 'orders', namespace, uid: `uid-${namespace}`, generation: 1 },
      spec,
    });
  }
  return table;
}

test('users without a right to list namespaces see only their own projects', async () => {
  const at = await harness.gateway({ routes: routesOf('shop', 'office', 'attic') });
  const clerk = await harness.user('office', 'clerk', [rule(['workflows'], ['list'])]);
  const stranger = await harness.user('attic', 'stranger', [rule(['credentials'], ['list'])]);
  expect([await projects(at, editor), await projects(at, clerk), await projects(at, stranger)]).toEqual([
    ['shop'],
    ['office'],
    [],
  ]);
  // That of a service account may have no workflow yet.
  const unserved = await harness.gateway({ routes: routesOf('office') });
  expect(await projects(unserved, editor)).toEqual(['shop']);
  expect(await projects(unserved, stranger)).toEqual([]);
});

test('users who may list namespaces also see empty projects, and those who may list all workflows see all', async () => {
  const lister = await harness.user('office', 'lister', [rule(['workflows'], ['list'])]);
  await grant(lister, 'lister', [rule(['namespaces'], ['list'], [''])]);
  expect(await projects(gateway, lister)).toEqual(['office']);
  const chief = await harness.user('office', 'chief', []);
  await grant(chief, 'chief', [rule(['namespaces'], ['list'], ['']), rule(['workflows'], ['list'])]);
  expect(await projects(await harness.gateway(), chief)).toEqual(
    expect.arrayContaining(['attic', 'office', 'shop']),
  );
  const narrow = await harness.gateway({ namespaces: ['attic', 'shop'] });
  expect(await projects(narrow, chief)).toEqual(['attic', 'shop']);
  expect(await projects(narrow, lister)).toEqual([]);
});

test('projects are cached for ten seconds per caller', async () => {
  const at = await harness.gateway({ connection: proxy.connection, routes: routesOf('shop', 'office') });
  const before = proxy.seen.length;
  expect(await Promise.all([projects(at, editor), projects(at, editor)])).toEqual([['shop'], ['shop']]);
  await projects(at, editor);
  const seen = proxy.seen.slice(before);
  expect(seen.map(({ method }) => method).toSorted()).toEqual(['GET', 'POST', 'POST', 'POST']);
  expect(new Set(seen.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${editor}`]));
  const stop = proxy.always(({ path }) => path.endsWith('reviews') || path.endsWith('/namespaces'), 'reset');
  const away = await harness.gateway({ connection: proxy.connection });
  const answer = await away.call('/console/projects', editor);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
  await answer.text();
  stop();
  expect(await projects(away, editor)).toEqual(['shop']);
});

test('no request failed unexpectedly', () => {
  expect([...gateway.log.messages('error'), ...proxied.log.messages('error')]).toEqual([]);
});
