/**
 * The Kubernetes API through the gateway, as ordinary users with rights of their own, on a real API server.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PolicyRule } from '../../../kube/resource.ts';
import type { KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import {
  CORE,
  EDITOR,
  json,
  OWN,
  problemOf,
  send,
  startProxiedGateway,
  TABLE,
  workflow,
} from '../../support/gateway/kubeCalls.ts';
import {
  startPassThroughHarness,
  type CallInit,
  type PassThroughHarness,
  type TestGateway,
} from '../../support/gateway/passThroughHarness.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';

const REVIEWS = '/kube/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

let harness: PassThroughHarness;
let gateway: TestGateway;
let proxy: KubeApiFaults;
let proxied: TestGateway;
let editor: string;

beforeAll(async () => {
  harness = await startPassThroughHarness('shop', 'office');
  gateway = await harness.gateway();
  ({ proxy, proxied } = await startProxiedGateway(harness));
  editor = await harness.user('shop', 'editor', EDITOR);
});
afterAll(async () => {
  await proxy?.stop();
  await harness?.close();
});

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
  ...['workflows', 'credentials', 'workflowruns', 'webhookroutes', 'projectsettings'].flatMap(
    (kind): typeof CALLS => [
      ['windlass.dev', kind, 'get', named(kind)],
      ['windlass.dev', kind, 'list', `${OWN}/${kind}`],
      ['windlass.dev', kind, 'watch', `${OWN}/${kind}?watch=true&timeoutSeconds=1`],
    ],
  ),
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

test('answers are counted by status, and no request failed unexpectedly', async () => {
  const body = await gateway.metrics();
  expect(body).toMatch(/^windlass_gateway_requests_total\{route="kube",status="200"\} [1-9]\d*$/m);
  expect(body).toMatch(/^windlass_gateway_requests_total\{route="kube",status="403"\} [1-9]\d*$/m);
  expect([...gateway.log.messages('error'), ...proxied.log.messages('error')]).toEqual([]);
});
