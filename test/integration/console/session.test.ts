/** Sessions of the console: two replicas, one run store, a real API server that decides about tokens. */
import { createPrivateKey, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUP } from '../../../api/group.ts';
import { serviceAccounts } from '../../../kube/resource.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { runCommand } from '../../support/process/command.ts';
import { OUR_PAGE, visit, type Visitor } from '../../support/console/cookieClient.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  putRoute,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { startGateway, type GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { createUser, tokenOf } from '../../support/cluster/users.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

const RUNS = `/workflows/${NAMESPACE}.orders/runs`;
const ADA = `system:serviceaccount:${NAMESPACE}:ada`;

let harness: GatewayHarness;
let second: GatewayProcess;
let token: string;
let other: string;

beforeAll(async () => {
  harness = await startGatewayHarness();
  const { api, redis, client } = harness;
  second = await startGateway({
    kubeconfigPath: api.kubeconfigPath,
    redisURL: redis.url,
    pod: 'gateway-second',
    namespace: NAMESPACE,
  });
  const rules = [{ apiGroups: [GROUP], resources: ['workflowruns'], verbs: ['list', 'watch'] }];
  const ada = await createUser(client, api.connection, { namespace: NAMESPACE, name: 'ada', rules });
  await ada.close();
  await client.create(serviceAccounts, { metadata: { namespace: NAMESPACE, name: 'bob' } });
  token = await tokenOf(client, NAMESPACE, 'ada');
  other = await tokenOf(client, NAMESPACE, 'bob');
  await putRoute(client, 'orders');
  await pollUntil('being let in', async () => (await listRuns({ authorization: `Bearer ${token}` })).ok, {
    timeoutMs: 20_000,
  });
});
afterAll(async () => {
  await second?.stop();
  await harness?.close();
});

const listRuns = (headers: Record<string, string>) => fetch(harness.gateway.internalURL + RUNS, { headers });
const newcomer = () => visit(harness.gateway.internalURL);
const told = async (answer: Response) => (await answer.json()) as Record<string, unknown>;
const sessionAt = async (visitor: Visitor, base = harness.gateway.internalURL) =>
  told(await visitor.call('/console/session', { base }));

async function signedIn(): Promise<Visitor> {
  const visitor = newcomer();
  expect((await visitor.signIn(token)).status).toBe(200);
  return visitor;
}

async function problemOf(answer: Response): Promise<[number, unknown]> {
  return [answer.status, String((await told(answer))['type']).replace(/^.*problem\//, '')];
}

const claimsOf = (text: string) =>
  JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as { iat: number; exp: number };
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** The same token with other times, with a good signature. */
async function signedAgain(text: string, times: object): Promise<string> {
  const body = `${text.split('.')[0]}.${encode({ ...claimsOf(text), ...times })}`;
  const key = createPrivateKey(await readFile(join(harness.api.logFolder, 'service-accounts.key')));
  return `${body}.${sign('sha256', Buffer.from(body), key).toString('base64url')}`;
}

test('a sign-in with a token returns user and expiry, at every replica', async () => {
  const visitor = newcomer();
  expect(await sessionAt(visitor)).toEqual({ signedIn: false, oidc: null });
  const answer = await visitor.signIn(`\n ${token} `);
  const expires = new Date(claimsOf(token).exp * 1_000).toISOString();
  const session = {
    signedIn: true,
    user: { name: ADA, groups: expect.arrayContaining(['system:authenticated']) as string[] },
    expires,
    oidc: null,
    publicURL: null,
    helpMeBuild: false,
  };
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(await told(answer)).toEqual(session);
  expect(await sessionAt(visitor)).toEqual(session);
  expect(await sessionAt(visitor, second.internalURL)).toEqual(session);
  for (const base of [harness.gateway.internalURL, second.internalURL])
    expect((await visitor.call(RUNS, { base })).status).toBe(200);
});

test('the token is neither readable in a cookie nor in the run store', async () => {
  const visitor = await signedIn();
  expect(visitor.cookies()).toMatch(/^windlass_console=[\w.-]+$/);
  const [, claims = 'none', signature = 'none'] = token.split('.');
  const port = String(harness.redis.port);
  const keys = (await runCommand('redis-cli', ['-p', port, '--scan'])).trim().split('\n');
  const ours = keys.filter((key) => key.startsWith('wl:console:'));
  expect(ours).toContain('wl:console:keys');
  const values = await Promise.all(ours.map((key) => runCommand('redis-cli', ['-p', port, 'dump', key])));
  for (const text of [visitor.cookies(), ...values])
    expect([text.includes(claims.slice(0, 40)), text.includes(signature.slice(0, 40))]).toEqual([
      false,
      false,
    ]);
});

test.each([
  ['garbage', () => 'garbage', 'token-refused'],
  ['nothing', () => '', 'token-refused'],
  ['two words', () => 'two words', 'token-refused'],
  ['a line break', () => 'a\r\nset-cookie: b', 'token-refused'],
  ['a token with another signature', () => `${token.slice(0, -8)}AAAAAAAA`, 'token-refused'],
  ['a token that has ended', () => signedAgain(token, { iat: 1, nbf: 1, exp: 100 }), 'token-refused'],
  [
    'a token for Windlass alone',
    () => tokenOf(harness.client, NAMESPACE, 'ada', { audiences: ['windlass'] }),
    'token-refused',
  ],
  [
    'a token for somebody else',
    () => tokenOf(harness.client, NAMESPACE, 'ada', { audiences: ['else'] }),
    'token-refused',
  ],
  ['more than a header holds', () => 'a'.repeat(9_000), 'token-refused'],
])('%s signs nobody in', async (_what, make, problem) => {
  const visitor = newcomer();
  expect(await problemOf(await visitor.signIn(await make()))).toEqual([401, problem]);
  expect(visitor.cookies()).toBe('');
});

test.each([
  ['no JSON', '{', 400],
  ['no object', '"x"', 422],
  ['no token', '{}', 422],
  ['a token that is no text', '{"token":1}', 422],
])('%s signs nobody in', async (_what, body, status) => {
  const headers = { ...OUR_PAGE, 'content-type': 'application/json' };
  const answer = await newcomer().call('/console/session', { method: 'POST', headers, body });
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([status, []]);
});

test('a session ends with its token', async () => {
  const visitor = newcomer();
  const seconds = Math.floor(Date.now() / 1_000);
  const short = await signedAgain(token, { iat: seconds - 60, nbf: seconds - 60, exp: seconds + 3 });
  expect((await visitor.signIn(short)).status).toBe(200);
  expect(await sessionAt(visitor)).toMatchObject({ signedIn: true });
  await pollUntil('the end', async () => (await sessionAt(visitor))['signedIn'] === false, {
    timeoutMs: 10_000,
  });
  expect(Date.now() / 1_000).toBeGreaterThan(seconds + 3);
  expect((await visitor.call(RUNS)).status).toBe(401);
});

test('signing out ends every copy of the cookie, at the other replica within three seconds', async () => {
  const visitor = await signedIn();
  const copy = newcomer();
  copy.take(visitor.cookies());
  expect((await copy.call(RUNS, { base: second.internalURL })).status).toBe(200);
  const answer = await visitor.call('/console/session', { method: 'DELETE' });
  const took = stopwatch();
  expect([answer.status, visitor.cookies()]).toEqual([204, '']);
  expect((await copy.call(RUNS)).status).toBe(401);
  await pollUntil(
    'the other replica',
    async () => (await copy.call(RUNS, { base: second.internalURL })).status === 401,
    { timeoutMs: 30_000, everyMs: 50 },
  );
  expect(took()).toBeLessThan(3_000);
  expect(await sessionAt(copy, second.internalURL)).toMatchObject({ signedIn: false });
  expect((await copy.call('/console/session', { method: 'DELETE' })).status).toBe(204);
});

test("sign-in and sign-out are audited once each, with the session's ID and without the token", async () => {
  const { log } = harness.gateway;
  const before = auditTrail(log).length;
  const visitor = await signedIn();
  expect((await newcomer().signIn('garbage')).status).toBe(401);
  await visitor.call('/console/session', { method: 'DELETE' });
  const trail = () => auditTrail(log).slice(before);
  const ada = { name: ADA, groups: expect.arrayContaining(['system:authenticated']) as string[] };
  await expect.poll(trail).toMatchObject([
    { event: 'session.create', method: 'token', result: 'allowed', user: ada, object: { kind: 'Session' } },
    { event: 'session.create', method: 'token', result: 'denied', reason: 'token-refused' },
    { event: 'session.delete', result: 'allowed', user: ada, object: { kind: 'Session' } },
  ]);
  const [signIn, , signOut] = trail();
  expect(signOut?.object).toEqual(signIn?.object);
  expect(log.join('\n')).not.toContain(token);
});

test('open streams end at every replica when their session is signed out', async () => {
  const visitor = await signedIn();
  const path = `/apis/${GROUP}/v1alpha1/namespaces/${NAMESPACE}/workflowruns`;
  const body = JSON.stringify({ watches: [{ id: 'runs', path }] });
  const streams = await Promise.all(
    [harness.gateway, second].map(async ({ internalURL: base }) => {
      const headers = { ...OUR_PAGE, 'content-type': 'application/json' };
      const answer = await visitor.call('/console/live', { base, method: 'POST', headers, body });
      const reader = answer.body?.getReader();
      expect(answer.status).toBe(200);
      return reader;
    }),
  );
  const ends = streams.map(async (reader) => {
    for (;;) if ((await reader?.read())?.done !== false) return 'ended';
  });
  await visitor.call('/console/session', { method: 'DELETE' });
  // Broken off, not ended: a page must not take it for the end of a watch.
  await Promise.all(ends.map((end) => expect(end).rejects.toThrow(/terminated/)));
});

test('a new sign-in ends the previous session of the browser', async () => {
  const visitor = await signedIn();
  const copy = newcomer();
  copy.take(visitor.cookies());
  expect(await told(await visitor.signIn(other))).toMatchObject({
    user: { name: ADA.replace('ada', 'bob') },
  });
  expect((await visitor.call(RUNS)).status).toBe(403);
  expect(await sessionAt(copy)).toMatchObject({ signedIn: false });
});

test.each<[string, Record<string, string>]>([
  ['without the header', { 'sec-fetch-site': 'same-origin' }],
  ['for a page of another site', { ...OUR_PAGE, 'sec-fetch-site': 'cross-site' }],
  ['for a page of a neighbouring host', { ...OUR_PAGE, 'sec-fetch-site': 'same-site' }],
  ['for another origin', { 'x-windlass-console': '1', origin: 'https://evil.example' }],
  ['for whoever does not say where it comes from', { 'x-windlass-console': '1' }],
])('the cookie does nothing %s', async (_what, headers) => {
  const visitor = await signedIn();
  expect((await visitor.call(RUNS, { headers })).status).toBe(401);
  expect((await visitor.call(`/kube/api/v1/namespaces`, { headers })).status).toBe(401);
  expect(await told(await visitor.call('/console/session', { headers }))).toMatchObject({ signedIn: false });
  expect(await problemOf(await visitor.call('/console/session', { method: 'DELETE', headers }))).toEqual([
    403,
    'not-the-console',
  ]);
  const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
  const asOther = await visitor.call('/console/session', { ...post, body: JSON.stringify({ token: other }) });
  expect(asOther.headers.getSetCookie()).toEqual([]);
  expect(await problemOf(asOther)).toEqual([403, 'not-the-console']);
  expect(await sessionAt(visitor)).toMatchObject({ signedIn: true, user: { name: ADA } });
});

test('over TLS only the cookie with the host prefix counts', async () => {
  const visitor = await signedIn();
  const tls = { ...OUR_PAGE, 'x-forwarded-proto': 'https' };
  expect((await visitor.call(RUNS, { headers: tls })).status).toBe(401);
  const own = newcomer();
  own.take(`__Host-${visitor.cookies()}`);
  expect((await own.call(RUNS, { headers: tls })).status).toBe(200);
});

test("the console's header has no effect without a cookie, and a cookie does not replace a token", async () => {
  expect((await newcomer().call(RUNS)).status).toBe(401);
  const visitor = await signedIn();
  const as = async (authorization: string) =>
    (await visitor.call(RUNS, { headers: { ...OUR_PAGE, authorization } })).status;
  expect([await as(`Bearer ${other}`), await as('Bearer garbage'), await as('')]).toEqual([403, 401, 401]);
});

test.each([
  ['of nothing', 'windlass_console='],
  ['of garbage', 'windlass_console=abc'],
  ['of another value', `windlass_console=${'A'.repeat(900)}`],
  ['that go on', `windlass_console=${'A'.repeat(3_800)}; windlass_console.1=${'B'.repeat(3_800)}`],
])('cookies %s are no session', async (_what, cookie) => {
  const visitor = newcomer();
  visitor.take(cookie);
  expect((await visitor.call(RUNS)).status).toBe(401);
  expect(await sessionAt(visitor)).toMatchObject({ signedIn: false });
});

test('while the run store is unavailable recent sessions continue, and nobody can sign in or out', async () => {
  const visitor = await signedIn();
  expect((await visitor.call(RUNS)).status).toBe(200);
  const asked = { headers: { ...OUR_PAGE, authorization: '' } };
  await harness.redis.kill();
  try {
    expect(await sessionAt(visitor)).toMatchObject({ signedIn: true });
    expect(await problemOf(await visitor.call('/console/session', { method: 'DELETE' }))).toEqual([
      503,
      'console-unavailable',
    ]);
    expect(visitor.cookies()).not.toBe('');
    // The other replica has not seen this session yet: it may have been signed out.
    const there = await visitor.call(RUNS, { base: second.internalURL });
    expect(Number(there.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await problemOf(there)).toEqual([503, 'console-unavailable']);
    expect((await visitor.call(RUNS, asked)).status).toBe(401);
  } finally {
    await harness.redis.restart();
  }
  await pollUntil(
    'the other replica',
    async () => (await visitor.call(RUNS, { base: second.internalURL })).ok,
    {
      timeoutMs: 10_000,
    },
  );
  await pollUntil(
    'the first replica',
    async () => (await visitor.call('/console/session', { method: 'DELETE' })).status === 204,
    { timeoutMs: 10_000 },
  );
});

test('a run store that lost its data ends sessions, and new ones work at every replica', async () => {
  const visitor = await signedIn();
  await harness.redis.replace();
  // Each replica notices the other key when it reads it again, or when it is shown a session that it cannot
  // open.
  await pollUntil(
    'a session of the new key',
    async () => {
      const next = visit(second.internalURL);
      if (!(await next.signIn(token)).ok) return false;
      return (await sessionAt(next, harness.gateway.internalURL))['signedIn'] === true;
    },
    { timeoutMs: 45_000 },
  );
  await pollUntil('the end of the old one', async () => (await sessionAt(visitor))['signedIn'] === false, {
    timeoutMs: 45_000,
  });
  expect((await visitor.call(RUNS)).status).toBe(401);
});
