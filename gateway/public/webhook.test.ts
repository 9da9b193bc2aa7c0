import { createHmac } from 'node:crypto';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RateLimit } from '../../api/trigger.ts';
import type { AuthScheme } from '../../api/webhookAuth.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { createCollectedLog } from '../../test/support/logs/collectedLog.ts';
import { createGatewayDeps } from '../../test/support/gateway/gatewayDeps.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { createRouteTable } from '../routing/table.ts';
import { buildPublic } from '../server.ts';

const LIMIT = 2_048;
const KEY = Buffer.from('s3cret');
const log = createCollectedLog();
let app: FastifyInstance;
let deps: GatewayDeps;
let close: () => void;

type Guard = { scheme: AuthScheme; material?: string; rateLimit?: RateLimit };

function route(name: string, { scheme, material, rateLimit }: Guard): KubeObject {
  const verify = {
    secretRefs: [{ name: 'hooks', key: 'token' }],
    toleranceSeconds: 300,
    username: 'ada',
    hmac: { header: 'x-signature', algorithm: 'sha256', encoding: 'hex', prefix: '' },
    ...(material !== undefined && { material }),
  };
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WebhookRoute',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, generation: 1 },
    spec: {
      workflow: name,
      workflowUID: `workflow-${name}`,
      projectUID: 'project',
      revision: `${name}-1`,
      trigger: 'webhook',
      active: true,
      webhook: {
        path: 'new',
        reply: false,
        replyTimeoutSeconds: 30,
        access: scheme,
        verify,
        ...(rateLimit && { rateLimit }),
      },
    },
  };
}

const SCHEMES: AuthScheme[] = ['hmac', 'standardWebhooks', 'github', 'bearer', 'basic'];

beforeAll(() => {
  const routes = createRouteTable();
  for (const scheme of SCHEMES) routes.put(route(scheme.toLowerCase(), { scheme, material: '1' }), [KEY]);
  routes.put(route('waiting', { scheme: 'bearer', material: '1' }));
  routes.put(route('missing', { scheme: 'github' }));
  const rateLimit = { requestsPerSecond: 1, burst: 1 };
  routes.put(route('guessed', { scheme: 'bearer', material: '1' }), [KEY]);
  routes.put(
    route('signed', { scheme: 'github', material: '1', rateLimit: { requestsPerSecond: 1, burst: 3 } }),
    [KEY],
  );
  routes.put(route('limited', { scheme: 'bearer', material: '1', rateLimit }), [KEY]);
  ({ deps, close } = createGatewayDeps({ routes, log, bodyBytes: LIMIT }));
  app = buildPublic(deps);
});

afterAll(async () => {
  await app.close();
  close();
});

const TYPE = { 'content-type': 'application/json' };
const BEARER = { authorization: 'Bearer s3cret' };
const hook = (name: string) => `/webhook/shop.${name}/new`;
const sign = (text: string) => createHmac('sha256', KEY).update(text).digest('hex');
const post = (name: string, over: InjectOptions = {}): InjectOptions => ({
  method: 'POST',
  url: hook(name),
  payload: '{}',
  ...over,
  headers: { ...TYPE, ...over.headers },
});

async function codeOf(request: InjectOptions): Promise<string> {
  const answer = await app.inject(request);
  return answer.json<{ type: string }>().type.replace(/^.*\//, '');
}

async function unverified(): Promise<Record<string, number>> {
  const { values } = await deps.metrics.unverified.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]));
}

test('a call is checked in the order 404, 405, 415, 413, 401, key, JSON, and then stored', async () => {
  const bad: InjectOptions = {
    method: 'PUT',
    url: hook('unknown'),
    headers: { 'content-type': 'text/plain', 'idempotency-key': '' },
    payload: 'x'.repeat(LIMIT + 1),
  };
  expect(await codeOf(bad)).toBe('not-found');
  Object.assign(bad, { url: hook('bearer') });
  expect(await codeOf(bad)).toBe('method-not-allowed');
  Object.assign(bad, { method: 'POST' });
  expect(await codeOf(bad)).toBe('unsupported-media-type');
  Object.assign(bad, { headers: { ...TYPE, 'idempotency-key': '' } });
  expect(await codeOf(bad)).toBe('too-large');
  Object.assign(bad, { payload: 'x' });
  expect(await codeOf(bad)).toBe('unverified');
  Object.assign(bad, { headers: { ...TYPE, ...BEARER, 'idempotency-key': '' } });
  expect(await codeOf(bad)).toBe('bad-key');
  Object.assign(bad, { headers: { ...TYPE, ...BEARER } });
  expect(await codeOf(bad)).toBe('bad-json');
  Object.assign(bad, { payload: '{"a":1,"a":2}' });
  expect(await codeOf(bad)).toBe('duplicate-key');
  Object.assign(bad, { payload: '{}' });
  expect(await codeOf(bad)).toBe('run-store-unavailable');
});

const tally = async (calls: InjectOptions[]): Promise<Record<string, number>> => {
  const codes: Record<string, number> = {};
  for (const call of calls) {
    const code = await codeOf(call);
    codes[code] = (codes[code] ?? 0) + 1;
  }
  return codes;
};
const times = (count: number, call: InjectOptions) => Array.from({ length: count }, () => call);

test('verified calls count for the rate of a webhook, and calls beyond it are refused before verification', async () => {
  expect(await tally(times(10, post('limited')))).toEqual({ unverified: 10 });
  expect(await codeOf(post('limited', { headers: BEARER }))).toBe('run-store-unavailable');
  expect(await codeOf(post('limited'))).toBe('too-many-requests');
  expect(await codeOf(post('limited', { headers: BEARER }))).toBe('too-many-requests');
});

test('forged calls of a signed webhook affect no honest call, neither of the same address nor of other webhooks', async () => {
  const signature = `sha256=${sign('{"a":1}')}`;
  const forged = post('signed', { headers: { 'x-hub-signature-256': signature } });
  expect(await tally(times(300, forged))).toEqual({ unverified: 300 });
  const honest = post('signed', { payload: '{"a":1}', headers: { 'x-hub-signature-256': signature } });
  expect(await tally(times(5, honest))).toEqual({ 'run-store-unavailable': 3, 'too-many-requests': 2 });
});

test('an address can guess a token at a bounded rate, and honest callers with the same address are not affected', async () => {
  const guess = post('guessed', { headers: { authorization: 'Bearer wrong' } });
  const { unverified: refused = 0, 'too-many-requests': limited = 0 } = await tally(times(400, guess));
  expect([refused >= 100, limited > 0, refused + limited]).toEqual([true, true, 400]);
  const honest = post('guessed', { headers: BEARER });
  const elsewhere = { ...honest, remoteAddress: '203.0.113.7' };
  expect(await codeOf(elsewhere)).toBe('run-store-unavailable');
  expect(await tally(times(200, { ...guess, remoteAddress: '203.0.113.7' }))).toEqual({ unverified: 200 });
  expect(await codeOf(elsewhere)).toBe('run-store-unavailable');
});

const now = () => String(Math.floor(Date.now() / 1_000));
const WRONG: [cause: string, request: () => InjectOptions][] = [
  ['no signature', () => post('hmac')],
  ['a malformed signature', () => post('hmac', { headers: { 'x-signature': 'abc' } })],
  ['the signature of another body', () => post('hmac', { headers: { 'x-signature': sign('{"a":1}') } })],
  [
    'a signature of long ago',
    () =>
      post('standardwebhooks', {
        headers: { 'webhook-id': 'm', 'webhook-timestamp': '1', 'webhook-signature': 'v1,eA==' },
      }),
  ],
  [
    'a signature of the wrong length',
    () =>
      post('standardwebhooks', {
        headers: { 'webhook-id': 'm', 'webhook-timestamp': now(), 'webhook-signature': 'v1,eA==' },
      }),
  ],
  ['a body that is no JSON', () => post('github', { payload: '{' })],
];

test('every cause has the same answer except its instance', async () => {
  const answers = await Promise.all(WRONG.map(([, request]) => app.inject(request())));
  const bodies = answers.map((answer) => ({ ...answer.json<object>(), instance: '' }));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(WRONG.map(() => 401));
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  const names = answers.map(({ headers }) =>
    Object.keys(headers)
      .toSorted((a, b) => a.localeCompare(b))
      .join(),
  );
  expect(new Set(names).size).toBe(1);
});

test.each([
  ['bearer', 'Bearer realm="webhook"'],
  ['basic', 'Basic realm="webhook", charset="UTF-8"'],
])('%s sends a challenge to unverified callers', async (scheme, challenge) => {
  const { headers } = await app.inject(post(scheme));
  expect(headers['www-authenticate']).toBe(challenge);
});

test.each(['waiting', 'missing'])('where a secret is %s everybody is told to come again', async (name) => {
  const answer = await app.inject(post(name, { headers: BEARER }));
  expect(answer.statusCode).toBe(503);
  expect(answer.json<{ type: string }>().type).toMatch(/callers-unverifiable$/);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
});

test('refusals are counted by reason only', async () => {
  deps.metrics.unverified.reset();
  for (const [, request] of WRONG) await app.inject(request());
  await app.inject(post('waiting'));
  expect(await unverified()).toEqual({ missing: 2, malformed: 2, mismatch: 1, stale: 1, unavailable: 1 });
});

test('credentials and signatures of callers are not logged', async () => {
  await app.inject(post('bearer', { headers: { authorization: 'Bearer canary-4711' } }));
  await app.inject(post('bearer', { headers: BEARER }));
  expect(JSON.stringify(log.entries)).not.toMatch(/canary-4711|s3cret/);
});
