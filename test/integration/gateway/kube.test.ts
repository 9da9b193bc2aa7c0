/**
 * The Kubernetes API through the gateway, as ordinary users with rights of their own, on a real API server.
 */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secrets, type PolicyRule } from '../../../kube/resource.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { startKubeApiFaults, type KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import {
  startPassThroughHarness,
  type CallInit,
  type PassThroughHarness,
  type TestGateway,
} from '../../support/gateway/passThroughHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const OWN = '/kube/apis/windlass.dev/v1alpha1/namespaces/shop';
const CORE = '/kube/api/v1/namespaces/shop';
const REVIEWS = '/kube/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const CANARY = 'canary-4711-in-a-secret';
const SOON = { timeoutMs: 10_000 };
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** All that a user of the console may do in a project. */
const EDITOR: PolicyRule[] = [
  {
    apiGroups: ['windlass.dev'],
    resources: ['workflows', 'workflowruns', 'credentials', 'webhookroutes'],
    verbs: ['*'],
  },
  { apiGroups: [''], resources: ['secrets'], verbs: ['*'] },
  { apiGroups: [''], resources: ['events', 'pods'], verbs: ['*'] },
  { apiGroups: ['apps'], resources: ['controllerrevisions'], verbs: ['*'] },
];

let harness: PassThroughHarness;
let gateway: TestGateway;
let proxy: KubeApiFaults;
let proxied: TestGateway;
let editor: string;

beforeAll(async () => {
  harness = await startPassThroughHarness('shop', 'office');
  const { server, ca } = harness.api.connection;
  // Without an identity of its own: whoever passes through it is who the request says.
  proxy = await startKubeApiFaults({ server, ...(ca !== undefined && { ca }), auth: {} });
  [gateway, proxied] = await Promise.all([
    harness.gateway(),
    harness.gateway({ connection: { ...proxy.connection, auth: { token: () => 'of-the-gateway' } } }),
  ]);
  editor = await harness.user('shop', 'editor', EDITOR);
  await harness.client.create(secrets, {
    metadata: {
      namespace: 'shop',
      name: 'mail',
      labels: { app: 'mail' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': CANARY },
    },
    data: { password: Buffer.from(CANARY).toString('base64') },
  });
});
afterAll(async () => {
  await proxy?.stop();
  await harness?.close();
});

const workflow = (name: string, displayName = name) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: { displayName, nodes: [{ id: 'trigger', manual: {} }] },
});
const send = (method: string, body: unknown, type = 'application/json'): CallInit => ({
  method,
  body: JSON.stringify(body),
  headers: { 'content-type': type },
});
type Answer = Record<string, unknown> & { metadata: Record<string, unknown> };
const json = async (answer: Response) => (await answer.json()) as Answer;
async function problemOf(answer: Response): Promise<string> {
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  return `${answer.status} ${String((await json(answer))['type'])
    .split('/')
    .at(-1)}`;
}

test('a workflow is created, read, listed as a table, changed and deleted, with the answers of the API server', async () => {
  const made = await gateway.call(
    `${OWN}/workflows?fieldManager=console`,
    editor,
    send('POST', workflow('life')),
  );
  expect(made.status).toBe(201);
  const { metadata } = await json(made);
  expect(metadata).toMatchObject({ name: 'life', namespace: 'shop' });
  expect(made.headers.get('cache-control')).toBe('no-store');
  expect(made.headers.get('x-content-type-options')).toBe('nosniff');

  const table = await gateway.call(`${OWN}/workflows?limit=5`, editor, { headers: { accept: TABLE } });
  expect(await json(table)).toMatchObject({ kind: 'Table' });
  const merge = { spec: { displayName: 'Other' } };
  const patched = await gateway.call(
    `${OWN}/workflows/life`,
    editor,
    send('PATCH', merge, 'application/merge-patch+json'),
  );
  expect(await json(patched)).toMatchObject({ spec: { displayName: 'Other' } });
  const old = { ...workflow('life'), metadata: { ...metadata } };
  const conflict = await gateway.call(`${OWN}/workflows/life`, editor, send('PUT', old));
  expect([conflict.status, await json(conflict)]).toMatchObject([
    409,
    { kind: 'Status', reason: 'Conflict' },
  ]);
  const again = await gateway.call(`${OWN}/workflows`, editor, send('POST', workflow('life')));
  expect([again.status, await json(again)]).toMatchObject([409, { reason: 'AlreadyExists' }]);
  const invalid = await gateway.call(
    `${OWN}/workflows?fieldValidation=Strict&dryRun=All`,
    editor,
    send('POST', { ...workflow('odd'), spec: { ...workflow('odd').spec, nope: 1 } }),
  );
  expect([invalid.status, (await json(invalid))['kind']]).toEqual([400, 'Status']);
  expect((await gateway.call(`${OWN}/workflows/life`, editor, { method: 'DELETE' })).status).toBe(200);
  const gone = await gateway.call(`${OWN}/workflows/life`, editor);
  expect([gone.status, await json(gone)]).toMatchObject([404, { kind: 'Status', reason: 'NotFound' }]);
});

test("each write is audited with its user and the API server's status; reads and dry runs are not", () => {
  const user = { name: 'system:serviceaccount:shop:editor' };
  const object = { kind: 'Workflow', namespace: 'shop', name: 'life' };
  const about = { user, object };
  expect(auditTrail(gateway.trail)).toMatchObject([
    { event: 'object.create', result: 'allowed', ...about },
    { event: 'object.update', result: 'allowed', ...about },
    { event: 'object.update', result: 'failed', reason: 'kubernetes-409', ...about },
    { event: 'object.create', result: 'failed', reason: 'kubernetes-409', ...about },
    { event: 'object.delete', result: 'allowed', ...about },
  ]);
});

const named = (kind: string) => `${OWN}/${kind}/none`;
const MERGE = send('PATCH', {}, 'application/merge-patch+json');
const CALLS: [group: string, resource: string, verb: string, path: string, init?: CallInit][] = [
  ...['workflows', 'credentials', 'workflowruns', 'webhookroutes'].flatMap((kind): typeof CALLS => [
    ['windlass.dev', kind, 'get', named(kind)],
    ['windlass.dev', kind, 'list', `${OWN}/${kind}`],
    ['windlass.dev', kind, 'watch', `${OWN}/${kind}?watch=true&timeoutSeconds=1`],
  ]),
  ...['workflows', 'credentials', 'workflowruns'].flatMap((kind): typeof CALLS => [
    ['windlass.dev', kind, 'create', `${OWN}/${kind}`, send('POST', {})],
    ['windlass.dev', kind, 'patch', named(kind), MERGE],
    ['windlass.dev', kind, 'delete', named(kind), { method: 'DELETE' }],
  ]),
  ...['workflows', 'credentials'].map((kind): (typeof CALLS)[number] => [
    'windlass.dev',
    kind,
    'update',
    named(kind),
    send('PUT', {}),
  ]),
  ['', 'secrets', 'get', `${CORE}/secrets/none`],
  ['', 'secrets', 'list', `${CORE}/secrets`],
  ['', 'secrets', 'create', `${CORE}/secrets`, send('POST', {})],
  ['', 'secrets', 'patch', `${CORE}/secrets/none`, MERGE],
  ['', 'events', 'list', `${CORE}/events`],
  ['', 'events', 'watch', `${CORE}/events?watch=true&timeoutSeconds=1`],
  ['apps', 'controllerrevisions', 'get', '/kube/apis/apps/v1/namespaces/shop/controllerrevisions/none'],
  ['apps', 'controllerrevisions', 'list', '/kube/apis/apps/v1/namespaces/shop/controllerrevisions'],
];

test('RBAC decides about each verb of each kind: the right alone suffices, all others do not', async () => {
  const rules = (keep: (call: (typeof CALLS)[number]) => boolean): PolicyRule[] =>
    CALLS.filter(keep).map(([group, resource, verb]) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [verb],
    }));
  for (const [at, call] of CALLS.entries()) {
    const [, resource, verb, path, init] = call;
    const lacks = await harness.user(
      'shop',
      `lacks-${at}`,
      rules((other) => other !== call),
    );
    const refused = await gateway.call(path, lacks, init);
    const status = await json(refused);
    expect([resource, verb, refused.status, status['kind']]).toEqual([resource, verb, 403, 'Status']);
    expect(status['message']).toContain(`lacks-${at}`);
    const holds = await harness.user(
      'shop',
      `holds-${at}`,
      rules((other) => other === call),
    );
    const passed = await gateway.call(path, holds, init);
    await passed.text();
    expect([resource, verb, [200, 400, 404, 422].includes(passed.status)]).toEqual([resource, verb, true]);
  }
});

test("requests outside the allowlist are refused, whatever the caller's rights", async () => {
  for (const [method, path] of [
    ['GET', `${CORE}/pods`],
    ['GET', '/kube/api/v1/secrets'],
    ['PATCH', `${OWN}/workflows/none/status`],
    ['GET', `${CORE}/secrets?watch=true`],
    ['GET', `${OWN}/workflows/..%2f..%2foffice%2fworkflows`],
    ['GET', `${OWN}//workflows`],
    ['GET', '/kube/'],
  ] as const)
    expect([path, await problemOf(await gateway.call(path, editor, { method }))]).toEqual([
      path,
      '403 kube-path-refused',
    ]);
});

test('callers without a token are refused, although the gateway has every right', async () => {
  for (const path of [`${OWN}/workflows`, `${CORE}/secrets/mail`, '/kube/api/v1/namespaces']) {
    expect(await problemOf(await gateway.call(path))).toBe('401 unauthorized');
    const basic = { headers: { authorization: 'Basic YWRtaW46YWRtaW4=' } };
    expect(await problemOf(await gateway.call(path, undefined, basic))).toBe('401 unauthorized');
    expect(await problemOf(await gateway.call(path, 'garbage'))).toBe('401 unauthorized');
  }
  const live = send('POST', { watches: [{ id: 'a', path: OWN.slice('/kube'.length) + '/workflows' }] });
  expect(await problemOf(await gateway.call('/console/live', undefined, live))).toBe('401 unauthorized');
  expect(await problemOf(await gateway.call('/console/projects'))).toBe('401 unauthorized');
});

test("only the caller's token is forwarded to the API server, and nothing of the gateway's identity", async () => {
  const before = proxy.seen.length;
  const answer = await proxied.call(`${OWN}/workflows`, editor, {
    headers: {
      'impersonate-user': 'admin',
      'impersonate-group': 'system:masters',
      'impersonate-uid': '1',
      'impersonate-extra-scopes': 'all',
      'x-remote-user': 'admin',
      'x-remote-group': 'system:masters',
      'x-forwarded-for': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      cookie: 'windlass_console=secret',
      'proxy-authorization': 'Bearer other',
      'x-anything': 'else',
      referer: 'http://console/',
      'accept-encoding': 'identity',
    },
  });
  expect(answer.status).toBe(200);
  const [seen] = proxy.seen.slice(before);
  expect(seen?.headers).toEqual({
    host: expect.any(String) as string,
    connection: 'keep-alive',
    authorization: `Bearer ${editor}`,
    accept: 'application/json',
    'user-agent': 'windlass-console',
  });
});

test('impersonation headers have no effect', async () => {
  const nobody = await harness.user('shop', 'nobody', []);
  const headers = { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' };
  expect((await gateway.call(`${OWN}/workflows`, nobody, { headers })).status).toBe(403);
  const review = send('POST', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
  });
  const who = await gateway.call('/kube/apis/authentication.k8s.io/v1/selfsubjectreviews', nobody, {
    ...review,
    headers: { ...review.headers, ...headers },
  });
  expect(await json(who)).toMatchObject({
    status: { userInfo: { username: 'system:serviceaccount:shop:nobody' } },
  });
});

test('no request returns a value of a Secret', async () => {
  const value = Buffer.from(CANARY).toString('base64');
  const made = { metadata: { name: 'new' }, stringData: { token: CANARY } };
  const answers = await Promise.all([
    gateway.call(`${CORE}/secrets/mail`, editor),
    gateway.call(`${CORE}/secrets/mail?includeObject=Object`, editor, { headers: { accept: TABLE } }),
    gateway.call(`${CORE}/secrets`, editor),
    gateway.call(`${CORE}/secrets?includeObject=Object`, editor, { headers: { accept: TABLE } }),
    gateway.call(`${CORE}/secrets`, editor, {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    }),
    gateway.call(`${CORE}/secrets`, editor, { headers: { accept: 'application/yaml' } }),
    gateway.call(`${CORE}/secrets?dryRun=All`, editor, send('POST', made)),
    gateway.call(`${CORE}/secrets`, editor, send('POST', { ...made, metadata: { name: 'made' } })),
    gateway.call(
      `${CORE}/secrets/mail`,
      editor,
      send('PATCH', { metadata: { labels: { seen: 'yes' } } }, 'application/merge-patch+json'),
    ),
    gateway.call(
      `${CORE}/secrets/applied?fieldManager=console`,
      editor,
      send(
        'PATCH',
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'applied' }, stringData: { token: CANARY } },
        'application/apply-patch+yaml',
      ),
    ),
    gateway.call(
      `${CORE}/secrets/mail`,
      editor,
      send(
        'PATCH',
        [{ op: 'copy', from: '/data/password', path: '/metadata/labels/x' }],
        'application/json-patch+json',
      ),
    ),
  ]);
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 201, 201, 200, 201, 415]);
  const bodies = await Promise.all(answers.map((answer) => answer.text()));
  for (const body of bodies) {
    expect(body).not.toContain('canary');
    expect(body).not.toContain(value);
    expect(body).not.toContain('annotations');
  }
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
    type: 'Opaque',
    keys: ['password'],
    metadata: { name: 'mail' },
  });
  expect(JSON.parse(bodies[2] ?? '')).toMatchObject({
    items: [{ metadata: { name: 'mail' }, type: 'Opaque' }],
  });
  expect(JSON.parse(bodies[7] ?? '')).toMatchObject({ keys: ['token'], metadata: { name: 'made' } });
  const stored = await harness.client.get(secrets, { namespace: 'shop', name: 'made' });
  expect(stored.data).toEqual({ token: value });
  const trail = auditTrail(gateway.trail, 'object.create').filter(({ object }) => object?.name === 'made');
  expect(trail).toMatchObject([{ result: 'allowed', object: { kind: 'Secret', namespace: 'shop' } }]);
  for (const text of [CANARY, value]) expect(gateway.trail.join('')).not.toContain(text);
});

test('an invalid patch of a Secret is refused without its values', async () => {
  const value = Buffer.from(CANARY).toString('base64');
  const patches = [
    { data: { other: 5 } },
    { data: { other: 'not base64' } },
    { data: 'none' },
    { type: {} },
    { kind: 'ConfigMap' },
    { apiVersion: 'v2' },
    { metadata: { labels: 'none' } },
    { metadata: { creationTimestamp: 'now' } },
    { unknown: true },
    { type: 'Other' },
  ];
  for (const patch of patches) {
    const path = `${CORE}/secrets/mail?fieldValidation=Strict&dryRun=All`;
    const answer = await gateway.call(path, editor, send('PATCH', patch, 'application/merge-patch+json'));
    const text = await answer.text();
    expect([patch, answer.status >= 400, JSON.parse(text)]).toMatchObject([patch, true, { kind: 'Status' }]);
    expect(text).not.toContain('canary');
    expect(text).not.toContain(value);
  }
});

test('a watch is streamed, and ended upstream when the client disconnects', async () => {
  const gone = new AbortController();
  const answer = await proxied.call(`${OWN}/workflows?watch=true`, editor, { signal: gone.signal });
  expect(proxy.openWatches()).toBe(1);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  await gateway.call(`${OWN}/workflows`, editor, send('POST', workflow('watched')));
  const { value = '' } = (await reader?.read()) ?? {};
  expect(JSON.parse(value.split('\n')[0] ?? '')).toMatchObject({
    type: 'ADDED',
    object: { metadata: { name: 'watched' } },
  });
  gone.abort();
  await pollUntil('the end of the watch', () => proxy.openWatches() === 0, SOON);
});

test('a list whose client disconnects, or that never ends, takes no place', async () => {
  const stop = proxy.always(({ path }) => path.endsWith('/credentials'), 'silence');
  const gone = new AbortController();
  const calls = Array.from({ length: 64 }, () =>
    proxied.call(`${OWN}/credentials`, editor, { signal: gone.signal }).catch(() => undefined),
  );
  await pollUntil(
    '64 calls',
    () => proxy.seen.filter(({ path }) => path.endsWith('/credentials')).length === 64,
    SOON,
  );
  const beyond = await proxied.call(`${OWN}/workflows`, editor);
  expect(beyond.headers.get('retry-after')).toBe('1');
  expect(await problemOf(beyond)).toBe('429 too-many-exchanges');
  const other = await harness.user('shop', 'other', EDITOR);
  expect((await proxied.call(`${OWN}/workflows`, other)).status).toBe(200);
  gone.abort();
  await Promise.all(calls);
  await pollUntil('room', async () => (await proxied.call(`${OWN}/workflows`, editor)).status === 200, SOON);
  stop();
});

test('if the API server is unavailable the caller gets 503, and an aborted answer stays incomplete', async () => {
  const unstop = proxy.always(({ path }) => path.endsWith('/workflows'), 'reset');
  const away = await proxied.call(`${OWN}/workflows`, editor);
  expect(away.headers.get('retry-after')).toBe('2');
  expect(await problemOf(away)).toBe('503 cluster-unavailable');
  unstop();
  proxy.script(({ path }) => path.endsWith('/secrets/mail'), {
    lines: [{ kind: 'Secret' }],
    finish: 'reset',
  });
  expect(await problemOf(await proxied.call(`${CORE}/secrets/mail`, editor))).toBe('503 cluster-unavailable');
  proxy.script(({ path }) => path.endsWith('/workflows'), { lines: [{ kind: 'List' }], finish: 'reset' });
  await expect(proxied.call(`${OWN}/workflows`, editor).then((answer) => answer.text())).rejects.toThrow(
    'terminated',
  );
});

test('bodies that are too large, compressed or of another type are refused and audited', async () => {
  const before = gateway.trail.length;
  const large = { ...workflow('large'), padding: 'x'.repeat(1_100_000) };
  expect(await problemOf(await gateway.call(`${OWN}/workflows`, editor, send('POST', large)))).toBe(
    '413 too-large',
  );
  const yaml = send('POST', {}, 'application/yaml');
  expect(await problemOf(await gateway.call(`${OWN}/workflows`, editor, yaml))).toBe(
    '415 unsupported-media-type',
  );
  const zipped = {
    ...send('POST', {}),
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  };
  expect(await problemOf(await gateway.call(`${OWN}/workflows`, editor, zipped))).toBe(
    '415 unsupported-media-type',
  );
  const user = { name: 'system:serviceaccount:shop:editor' };
  expect(auditTrail(gateway.trail.slice(before))).toMatchObject(
    ['too-large', 'unsupported-media-type', 'unsupported-media-type'].map((reason) => ({
      event: 'object.create',
      result: 'failed',
      reason,
      user,
    })),
  );
});

test('SelfSubject reviews concern the caller', async () => {
  const ask = async (token: string, verb: string, resource: string) => {
    const spec = { resourceAttributes: { namespace: 'shop', verb, group: 'windlass.dev', resource } };
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
    return (await json(await gateway.call(REVIEWS, token, send('POST', body))))['status'];
  };
  const reader = await harness.user('shop', 'reader', [
    { apiGroups: ['windlass.dev'], resources: ['workflows'], verbs: ['get', 'list'] },
  ]);
  expect(await ask(reader, 'list', 'workflows')).toMatchObject({ allowed: true });
  expect(await ask(reader, 'delete', 'workflows')).toMatchObject({ allowed: false });
  expect(await ask(editor, 'delete', 'workflows')).toMatchObject({ allowed: true });
});

test('a slow client gets a large list completely', async () => {
  const spec = { ...workflow('x').spec, description: 'd'.repeat(4_000) };
  const many = Array.from({ length: 60 }, (_, at) => ({ ...workflow(`bulk-${at}`), spec }));
  for (const body of many)
    expect((await gateway.call(`${OWN}/workflows`, editor, send('POST', body))).status).toBe(201);
  const { url } = gateway;
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${editor}` };
    request(`${url}${OWN}/workflows`, { headers }, (answer) => {
      let read = '';
      answer.setEncoding('utf8').pause();
      setImmediate(() => answer.on('data', (chunk: string) => (read += chunk)).resume());
      answer.on('end', () => resolve(read)).on('error', reject);
    }).end();
  });
  expect((JSON.parse(text) as { items: unknown[] }).items.length).toBeGreaterThanOrEqual(60);
  // Compressed by the API server, for who takes that.
  const zipped = await gateway.call(`${OWN}/workflows`, editor, { headers: { 'accept-encoding': 'gzip' } });
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(await zipped.json()).toEqual(JSON.parse(text));
});

test('answers are counted by status, and no request failed unexpectedly', async () => {
  const body = await gateway.metrics();
  expect(body).toMatch(/^windlass_gateway_requests_total\{route="kube",status="200"\} [1-9]\d*$/m);
  expect(body).toMatch(/^windlass_gateway_requests_total\{route="kube",status="403"\} [1-9]\d*$/m);
  expect([...gateway.log.messages('error'), ...proxied.log.messages('error')]).toEqual([]);
});
