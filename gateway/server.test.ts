import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FastifyInstance, InjectOptions } from 'fastify';
import type { AuditEntry } from '../api/audit/line.ts';
import type { KubeObject } from '../kube/resource.ts';
import { createCollectedLog } from '../test/support/logs/collectedLog.ts';
import { createGatewayDeps } from '../test/support/gateway/gatewayDeps.ts';
import type { Decision } from './access/access.ts';
import { PROBLEMS, problemType, type ProblemCode } from './contract/problems.ts';
import { createRouteTable } from './routing/table.ts';
import { buildInternal, buildMetrics, buildPublic } from './server.ts';

const LIMIT = 2_048;
const codes = Object.keys(PROBLEMS) as ProblemCode[];
const log = createCollectedLog();
const state = { decision: 'allowed' as Decision, synced: true, unready: undefined as string | undefined };
const recorded: AuditEntry[] = [];
let close: () => void;
let outside: FastifyInstance;
let inside: FastifyInstance;
let metrics: FastifyInstance;

function route(name: string, active: boolean, trigger: 'webhook' | 'manual', more: object = {}): KubeObject {
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WebhookRoute',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, generation: 1 },
    spec: {
      workflow: name,
      workflowUID: `workflow-${name}`,
      projectUID: 'project',
      revision: `${name}-1`,
      trigger,
      active,
      ...more,
      ...(trigger === 'webhook' && { webhook: { path: 'new', reply: false, replyTimeoutSeconds: 30 } }),
    },
  };
}

beforeAll(() => {
  const routes = createRouteTable();
  routes.put(route('orders', true, 'webhook'));
  routes.put(route('paused', false, 'webhook'));
  routes.put(route('hello', true, 'manual'));
  routes.put(route('suspended', false, 'webhook', { suspended: true }));
  routes.put(route('closed', false, 'webhook', { inactiveReason: 'AuthRequired' }));
  const made = createGatewayDeps({
    routes,
    log,
    bodyBytes: LIMIT,
    audit: { record: (entry) => void recorded.push(entry), close: () => undefined },
    access: {
      authorize: async () => ({ decision: state.decision, identity: { username: 'tester' } }),
      decide: async () => state.decision,
      identify: async () => ({ outcome: 'unauthorized' }),
    },
    health: { synced: () => state.synced, unready: () => state.unready },
  });
  const { deps } = made;
  close = made.close;
  outside = buildPublic(deps);
  inside = buildInternal(deps);
  metrics = buildMetrics(deps);
});

afterAll(async () => {
  await Promise.all([outside.close(), inside.close(), metrics.close()]);
  close();
});

const JSON_HEADERS = { 'content-type': 'application/json' };
const HOOK = '/webhook/shop.orders/new';
const EXECUTE = '/workflows/shop.orders/execute';
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

/**
 * Sends it, and gives the code of the problem that it is refused with, in the form that every problem has.
 */
async function refused(app: FastifyInstance, request: InjectOptions) {
  const answer = await app.inject(request);
  const body = answer.json<{ type: string }>();
  const code = codes.find((known) => problemType(known) === body.type) ?? 'internal';
  const { status, title, detail } = PROBLEMS[code];
  expect(answer.statusCode).toBe(status);
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(body).toEqual({
    type: problemType(code),
    title,
    status,
    // Of a right that is missing more comes behind it.
    detail: expect.stringMatching(`^${RegExp.escape(detail)}`) as string,
    instance: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/) as string,
  });
  return { answer, code };
}

async function codeOf(app: FastifyInstance, request: InjectOptions): Promise<ProblemCode> {
  return (await refused(app, request)).code;
}

const post = (over: InjectOptions): InjectOptions => ({
  method: 'POST',
  url: HOOK,
  headers: JSON_HEADERS,
  payload: '{}',
  ...over,
});

/** What a request that is wrong in every way is told first, then with that mended, and so on. */
test('a webhook call is checked in the order 404, 405, 415, 413, key, JSON, and then stored', async () => {
  const bad: InjectOptions = {
    method: 'PUT',
    url: '/webhook/shop.unknown/new',
    headers: { 'content-type': 'text/plain', 'idempotency-key': '' },
    payload: 'x'.repeat(LIMIT + 1),
  };
  expect(await codeOf(outside, bad)).toBe('not-found');
  Object.assign(bad, { url: HOOK });
  expect(await codeOf(outside, bad)).toBe('method-not-allowed');
  Object.assign(bad, { method: 'POST' });
  expect(await codeOf(outside, bad)).toBe('unsupported-media-type');
  Object.assign(bad, { headers: { ...JSON_HEADERS, 'idempotency-key': '' } });
  expect(await codeOf(outside, bad)).toBe('too-large');
  Object.assign(bad, { payload: 'x' });
  expect(await codeOf(outside, bad)).toBe('bad-key');
  Object.assign(bad, { headers: JSON_HEADERS });
  expect(await codeOf(outside, bad)).toBe('bad-json');
  Object.assign(bad, { payload: deep(65) });
  expect(await codeOf(outside, bad)).toBe('too-deep');
  Object.assign(bad, { payload: deep(64) });
  expect(await codeOf(outside, bad)).toBe('run-store-unavailable');
});

test.each([
  ['another workflow', '/webhook/shop.unknown/new'],
  ['another namespace', '/webhook/other.orders/new'],
  ['another path', '/webhook/shop.orders/old'],
  ['an inactive workflow', '/webhook/shop.paused/new'],
  ['a suspended workflow', '/webhook/shop.suspended/new'],
  ['a workflow without a webhook', '/webhook/shop.hello/new'],
  ['another case', '/webhook/Shop.orders/new'],
  ['dots that are escaped', '/webhook/%2e%2e/new'],
  ['an escaped form of the id', '/webhook/shop%2eorders/new'],
  ['a NUL', '/webhook/shop.orders%00/new'],
  ['an invalid escape', '/webhook/shop.orders/%zz'],
  ['a double escape', '/webhook/shop.orders/%256eew'],
  ['a slash at the end', '/webhook/shop.orders/new/'],
  ['no path', '/webhook/shop.orders'],
  ['a prototype', '/webhook/__proto__/constructor'],
  ['something else altogether', '/'],
])('%s gets the same bytes with every method', async (_what, url) => {
  const strip = ({ headers, body }: { headers: object; body: string }) => ({
    headers: { ...headers, date: '' },
    body: body.replace(/urn:uuid:[0-9a-f-]+/, ''),
  });
  const reference = strip(await outside.inject(post({ url: '/webhook/no.such/thing' })));
  for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS', 'TRACE'] as const) {
    const { answer, code } = await refused(outside, {
      method,
      url,
      ...(method === 'POST' && { payload: '{}' }),
    });
    expect(code).toBe('not-found');
    expect(strip(answer)).toEqual(reference);
  }
});

test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND'])(
  '%s on a webhook gets 405 with Allow: POST',
  async (method) => {
    const { answer, code } = await refused(outside, { method, url: HOOK });
    expect(code).toBe('method-not-allowed');
    expect(answer.headers.allow).toBe('POST');
  },
);

test.each([
  [undefined, {}],
  ['text/plain', {}],
  ['application/x-www-form-urlencoded', {}],
  ['multipart/form-data; boundary=x', {}],
  ['application/json; charset=utf-16', {}],
  ['application/x-json', {}],
  ['nonsense', {}],
  ['application/json', { 'content-encoding': 'gzip' }],
  ['application/json', { 'content-encoding': 'br' }],
])('a body of type %s with %o is refused unread', async (type, more) => {
  const headers = { ...(type !== undefined && { 'content-type': type }), ...more };
  expect(await codeOf(outside, post({ headers }))).toBe('unsupported-media-type');
});

test('a body above the limit is refused and the connection closed', async () => {
  const { answer, code } = await refused(outside, post({ payload: `"${'x'.repeat(LIMIT - 1)}"` }));
  expect(code).toBe('too-large');
  expect(answer.headers.connection).toBe('close');
  expect(await codeOf(outside, post({ payload: `"${'x'.repeat(LIMIT - 2)}"` }))).toBe(
    'run-store-unavailable',
  );
});

test.each<[string, string | Buffer, ProblemCode]>([
  ['nothing', '', 'bad-json'],
  ['a byte order mark', '\ufeff{}', 'bad-json'],
  ['a truncated object', '{"a":', 'bad-json'],
  ['two values', '{}{}', 'bad-json'],
  ['single quotes', "{'a':1}", 'bad-json'],
  ['a trailing comma', '[1,]', 'bad-json'],
  ['NaN', '[NaN]', 'bad-json'],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'bad-json'],
  ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'bad-json'],
  ['UTF-16', Buffer.from('{}', 'utf16le'), 'bad-json'],
  ['a prototype', '{"a":{"__proto__":{}}}', 'forbidden-key'],
  ['a prototype in a constructor', '{"constructor":{"prototype":{}}}', 'forbidden-key'],
  ['a key twice', '{"a":1,"a":2}', 'duplicate-key'],
  ['a number beyond a double', '[1e400]', 'number-out-of-range'],
  ['half of a surrogate pair', '["\\ud800"]', 'lone-surrogate'],
])('%s as a body is refused', async (_what, payload, code) => {
  expect(await codeOf(outside, post({ payload }))).toBe(code);
});

test.each(['1', '"x"', 'null', '[]', '{}', '[10000000000000000999, 1E-999, -0]', ' {"a" : [ ] } '])(
  '%s is accepted, and refused only because the run store is unavailable',
  async (payload) => {
    const { answer, code } = await refused(outside, post({ payload }));
    expect(code).toBe('run-store-unavailable');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  },
);

test('a problem repeats nothing of the request', async () => {
  const canary = 'c4n4ry';
  const answers = await Promise.all([
    outside.inject(post({ payload: `{"${canary}":` })),
    outside.inject(post({ url: `/webhook/shop.${canary}/${canary}?${canary}=1` })),
    outside.inject(post({ headers: { 'content-type': `text/${canary}` } })),
    inside.inject({
      method: 'POST',
      url: `/workflows/${canary}/execute`,
      headers: { authorization: canary },
    }),
  ]);
  for (const { headers, body } of answers) expect(JSON.stringify({ headers, body })).not.toContain(canary);
});

test('a URL longer than 8,192 characters is refused', async () => {
  expect(await codeOf(outside, post({ url: `${HOOK}?${'x'.repeat(8_192)}` }))).toBe('uri-too-long');
});

test('before the routes are synced, an unknown webhook gets 503', async () => {
  state.synced = false;
  const { answer, code } = await refused(outside, post({ url: '/webhook/shop.later/new' }));
  expect(code).toBe('not-ready');
  expect(answer.headers['retry-after']).toBe('1');
  expect(await codeOf(outside, post({}))).toBe('run-store-unavailable');
  state.synced = true;
});

test.each(['', '?test=true', '?test=true&until=mail'])(
  'an execute call%s of a suspended workflow is refused',
  async (query) => {
    const call = post({ url: `/workflows/shop.suspended/execute${query}` });
    recorded.length = 0;
    expect(await codeOf(inside, call)).toBe('workflow-suspended');
    expect(recorded).toMatchObject([
      { event: query === '' ? 'run.execute' : 'run.test', result: 'denied', reason: 'workflow-suspended' },
    ]);
  },
);

test('an execute call of a workflow whose webhook requires auth gets 409, and a test run is accepted', async () => {
  recorded.length = 0;
  const closed = (query: string) => post({ url: `/workflows/shop.closed/execute${query}` });
  expect(await codeOf(inside, closed(''))).toBe('auth-required');
  expect(recorded).toMatchObject([{ event: 'run.execute', result: 'denied', reason: 'auth-required' }]);
  expect(await codeOf(inside, closed('?test=true'))).toBe('run-store-unavailable');
});

test('an execute call is checked in the order 405, 415, 413, 401, 403, 404, query, 409, key, JSON, and then stored', async () => {
  const bad: InjectOptions = {
    method: 'PUT',
    url: '/workflows/shop.unknown/execute?test=maybe',
    headers: { 'content-type': 'text/plain', 'idempotency-key': '' },
    payload: 'x'.repeat(LIMIT + 1),
  };
  expect(await codeOf(inside, bad)).toBe('method-not-allowed');
  Object.assign(bad, { method: 'POST' });
  expect(await codeOf(inside, bad)).toBe('unsupported-media-type');
  Object.assign(bad, { headers: { ...JSON_HEADERS, 'idempotency-key': '' } });
  expect(await codeOf(inside, bad)).toBe('too-large');
  Object.assign(bad, { payload: '{"a":' });
  state.decision = 'unavailable';
  expect(await codeOf(inside, bad)).toBe('cluster-unavailable');
  state.decision = 'too-often';
  const { answer: tooOften, code: tooOftenCode } = await refused(inside, bad);
  expect(tooOftenCode).toBe('too-many-calls');
  expect(tooOften.headers['retry-after']).toBe('1');
  state.decision = 'unauthorized';
  const { answer: unauthorized, code } = await refused(inside, bad);
  expect(code).toBe('unauthorized');
  expect(unauthorized.headers['www-authenticate']).toMatch(/^Bearer/);
  state.decision = 'forbidden';
  expect(await codeOf(inside, bad)).toBe('forbidden');
  state.decision = 'allowed';
  expect(await codeOf(inside, bad)).toBe('workflow-unknown');
  Object.assign(bad, { url: '/workflows/shop.paused/execute?test=maybe' });
  expect(await codeOf(inside, bad)).toBe('bad-query');
  Object.assign(bad, { url: '/workflows/shop.paused/execute' });
  expect(await codeOf(inside, bad)).toBe('inactive');
  Object.assign(bad, { url: '/workflows/shop.paused/execute?test=true' });
  expect(await codeOf(inside, bad)).toBe('bad-key');
  Object.assign(bad, { headers: JSON_HEADERS });
  expect(await codeOf(inside, bad)).toBe('bad-json');
  Object.assign(bad, { payload: '[]' });
  expect(await codeOf(inside, bad)).toBe('not-an-object');
  Object.assign(bad, { payload: '{}' });
  expect(await codeOf(inside, bad)).toBe('run-store-unavailable');
});

test.each(['[]', '1', '"x"', 'null', 'true'])('%s is no event to execute with', async (payload) => {
  expect(await codeOf(inside, post({ url: EXECUTE, payload }))).toBe('not-an-object');
});

test('an execute call needs neither body nor content type', async () => {
  expect(await codeOf(inside, { method: 'POST', url: EXECUTE })).toBe('run-store-unavailable');
});

test('without a body an invalid content type is ignored', async () => {
  const headers = { 'content-type': '/' };
  expect(await codeOf(inside, { method: 'POST', url: EXECUTE, headers })).toBe('run-store-unavailable');
  const connect = { method: 'POST', url: '/credentials/shop.mail/connect', headers, payload: 'x' } as const;
  expect(await codeOf(inside, connect)).not.toBe('internal');
});

test.each(['nodot', '.orders', 'shop.', 'Shop.orders', 'shop.or_ders', 'shop.orders%2f..', 'shop.%00'])(
  'the ID %s is not found, even for callers with every right',
  async (id) => {
    expect(await codeOf(inside, { method: 'POST', url: `/workflows/${id}/execute` })).toBe(
      'workflow-unknown',
    );
  },
);

test.each([
  ['', 'GET'],
  ['/orders-1', 'GET, DELETE'],
  ['/orders-1/events', 'GET'],
])('…/runs%s allows %s', async (path, allowed) => {
  const url = `/workflows/shop.orders/runs${path}`;
  const { answer, code } = await refused(inside, { method: 'PUT', url });
  expect(code).toBe('method-not-allowed');
  expect(answer.headers.allow).toBe(allowed);
  expect(await codeOf(inside, { method: 'GET', url })).toBe('run-unavailable');
});

test("the listeners do not serve what is the other's", async () => {
  expect(await codeOf(inside, post({}))).toBe('not-found');
  expect(await codeOf(outside, { method: 'POST', url: EXECUTE })).toBe('not-found');
  expect(await codeOf(outside, { method: 'GET', url: '/metrics' })).toBe('not-found');
  expect(await codeOf(outside, { method: 'GET', url: '/readyz' })).toBe('not-found');
});

test('/readyz has the reason why the replica is not ready, /healthz concerns the process only', async () => {
  for (const listener of [inside, metrics]) {
    expect((await listener.inject('/readyz')).statusCode).toBe(200);
    state.unready = 'routes are not synced yet';
    const answer = await listener.inject('/readyz');
    expect([answer.statusCode, answer.body]).toEqual([503, 'routes are not synced yet\n']);
    expect((await listener.inject('/healthz')).statusCode).toBe(200);
    state.unready = undefined;
  }
});

test('answers are counted by class of route and status only', async () => {
  await outside.inject(post({ url: '/webhook/shop.c4n4ry/new' }));
  const { body } = await metrics.inject('/metrics');
  expect(body).toMatch(/^windlass_gateway_requests_total\{route="webhook",status="404"\} [1-9]\d*$/m);
  expect(body).toMatch(/^windlass_gateway_requests_total\{route="webhook",status="503"\} [1-9]\d*$/m);
  expect(body).toMatch(/^windlass_gateway_routes 5$/m);
  expect(body).not.toContain('c4n4ry');
});

test('no request failed unexpectedly', () => {
  expect(log.messages('error')).toEqual([]);
});
