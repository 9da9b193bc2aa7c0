/**
 * Signing in at a real OpenID Connect provider that a real API server trusts, with two replicas of the
 * gateway.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUP } from '../../../api/group.ts';
import { roleBindings, roles } from '../../../kube/resource.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { createBrowser, type Browser, type Page } from '../../support/providers/oauth/browser.ts';
import { runCommand } from '../../support/process/command.ts';
import { visit, type Visitor } from '../../support/console/cookieClient.ts';
import { NAMESPACE, putRoute } from '../../support/gateway/gatewayHarness.ts';
import { startOidcHarness, PREFIX, type OidcHarness } from '../../support/console/oidcHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

const RUNS = `/workflows/${NAMESPACE}.orders/runs`;
/** A token is renewed a minute before its end: two seconds after it came. */
const ID_TOKEN_SECONDS = 62;

let harness: OidcHarness;
let url: string;

beforeAll(async () => {
  harness = await startOidcHarness({ idTokenSeconds: ID_TOKEN_SECONDS });
  url = harness.gateway.internalURL;
  const { client } = harness;
  const metadata = { namespace: NAMESPACE, name: 'ada' };
  await client.create(roles, {
    metadata,
    rules: [{ apiGroups: [GROUP], resources: ['workflowruns'], verbs: ['list'] }],
  });
  await client.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'ada' },
    subjects: [{ kind: 'User', name: `${PREFIX}ada` }],
  });
  await putRoute(client, 'orders');
  // The API server asks the provider for its keys at its own pace.
  await pollUntil('the first sign-in', async () => (await signIn()).browser.cookies.has('windlass_console'), {
    timeoutMs: 60_000,
  });
});
afterAll(() => harness?.close());

type SignIn = { to?: string; account?: string; stop?: (url: string) => boolean };

/** Begins at the console, and signs in at the provider; the page where that ends. */
async function signIn({
  to = '/console/',
  account = 'ada',
  stop,
}: SignIn = {}): Promise<{ browser: Browser; page: Page }> {
  const browser = createBrowser();
  const login = await browser.open(`${url}/console/oidc/start?to=${encodeURIComponent(to)}`);
  const consent = await browser.submit(login, { login: account, password: 'any' }, stop);
  return { browser, page: await browser.submit(consent, {}, stop) };
}

function visitorWith({ cookies }: Browser): Visitor {
  const visitor = visit(url);
  visitor.take(
    [...cookies]
      .flatMap(([name, value]) => (name.startsWith('windlass_console') ? `${name}=${value}` : []))
      .join('; '),
  );
  return visitor;
}

const sessionOf = async (visitor: Visitor) =>
  (await (await visitor.call('/console/session')).json()) as Record<string, unknown>;

test("a sign-in at the provider creates a session of the API server's user, and returns to the requested page", async () => {
  expect(await sessionOf(visit(url))).toEqual({ signedIn: false, oidc: { label: 'Sign in with the test' } });
  const { browser, page } = await signIn({ to: '/console/p/shop/workflows?new=1' });
  expect(page.url).toBe(`${url}/console/p/shop/workflows?new=1`);
  const session = browser.told.filter((line) => line.startsWith('windlass_console=')).at(-1);
  expect(session).toMatch(/; HttpOnly; SameSite=Strict$/);
  const visitor = visitorWith(browser);
  expect(await sessionOf(visitor)).toMatchObject({ signedIn: true, user: { name: `${PREFIX}ada` } });
  expect((await visitor.call(RUNS)).status).toBe(200);
  const { browser: stranger } = await signIn({ account: 'bob' });
  expect((await visitorWith(stranger).call(RUNS)).status).toBe(403);
  const trail = (event: string) => () => auditTrail(harness.gateway.log, event);
  await expect
    .poll(trail('run.list'))
    .toMatchObject([{ result: 'denied', reason: 'forbidden', user: { name: `${PREFIX}bob` } }]);
  const allowed = { method: 'oidc', result: 'allowed' };
  expect(trail('session.create')().slice(-2)).toMatchObject([
    { ...allowed, user: { name: `${PREFIX}ada` } },
    { ...allowed, user: { name: `${PREFIX}bob` } },
  ]);
});

test('the authorization request has PKCE, state and nonce, and only the callback as redirect URI', async () => {
  const answer = await visit(url).call('/console/oidc/start?to=https://evil.example/', { headers: {} });
  const sent = new URL(answer.headers.get('location') ?? '');
  expect(answer.status).toBe(303);
  expect(sent.origin).toBe(harness.provider.issuer);
  expect(Object.fromEntries(sent.searchParams)).toEqual({
    response_type: 'code',
    client_id: 'windlass-console',
    redirect_uri: `${url}/console/oidc/callback`,
    scope: 'openid email offline_access',
    state: expect.stringMatching(/^[\w-]{43}$/) as string,
    nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
    code_challenge_method: 'S256',
    prompt: 'consent',
  });
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^windlass_console_oidc=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
  ]);
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/kube/api',
  '/console/../kube',
  '/console/oidc/start',
])('a sign-in that was to lead to %s leads to the console', async (to) => {
  expect((await signIn({ to })).page.url).toBe(`${url}/console/`);
});

const isCallback = (address: string) => address.startsWith(`${url}/console/oidc/callback`);

test('an answer is accepted once, from the browser that started, with its state', async () => {
  const { browser, page } = await signIn({ stop: isCallback });
  const status = async (who: Browser, address: string) => (await who.open(address, () => true)).status;
  expect(await status(createBrowser(), page.url)).toBe(400);
  const other = new URL(page.url);
  other.searchParams.set('state', 'A'.repeat(43));
  expect(await status(browser, other.href)).toBe(400);
  const another = createBrowser();
  await another.open(`${url}/console/oidc/start`, () => true);
  expect(await status(another, page.url)).toBe(400);
  expect(browser.cookies.has('windlass_console')).toBe(false);
  expect(await status(browser, page.url)).toBe(303);
  expect(browser.cookies.has('windlass_console')).toBe(true);
  expect(await status(browser, page.url)).toBe(400);
});

test('a session is kept as the address wants it that the sign-in began at, whatever the way back says', async () => {
  const { browser, page } = await signIn({ stop: isCallback });
  const visitor = visit(url);
  visitor.take(`windlass_console_oidc=${browser.cookies.get('windlass_console_oidc')}`);
  const answer = await visitor.call(page.url, { headers: { referer: `${harness.provider.issuer}/` } });
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^windlass_console=[\w.-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/),
    'windlass_console_oidc=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  ]);
});

test('over TLS what a sign-in is judged by is kept for this host alone', async () => {
  const headers = { 'x-forwarded-proto': 'https' };
  const begun = await visit(url).call('/console/oidc/start', { headers });
  expect(begun.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-windlass_console_oidc=[\w.-]+; .*; SameSite=Lax; Secure$/),
  ]);
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state');
  const [sealed = ''] = /(?<==)[\w.-]+/.exec(begun.headers.get('set-cookie') ?? '') ?? [];
  const statusWith = async (name: string) => {
    const visitor = visit(url);
    visitor.take(`${name}=${sealed}`);
    return (await visitor.call(`/console/oidc/callback?state=${state}&error=access_denied`, { headers }))
      .status;
  };
  expect(await statusWith('__Host-windlass_console_oidc')).toBe(200);
  expect(await statusWith('windlass_console_oidc')).toBe(400);
});

test("a denied sign-in shows a page without the provider's answer", async () => {
  const { browser, page } = await signIn({ stop: isCallback });
  const answer = new URL(page.url);
  answer.searchParams.delete('code');
  answer.searchParams.set('error', 'access_denied');
  answer.searchParams.set('error_description', '<script>canary</script>');
  const told = await browser.open(answer.href);
  expect([told.status, /Access was denied/.test(told.text), told.text.includes('canary')]).toEqual([
    200,
    true,
    false,
  ]);
  expect(told.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
});

test('a token is renewed once before it ends, for concurrent requests at several replicas', async () => {
  const { browser } = await signIn();
  const visitor = visitorWith(browser);
  const before = visitor.cookies();
  const grants = () => harness.provider.granted('refresh_token');
  const first = grants();
  await pollUntil(
    'the renewal',
    async () => {
      const many = Array.from({ length: 20 }, (_, at) => {
        const copy = visitorWith(browser);
        return copy.call(RUNS, { base: at % 2 === 0 ? url : harness.second.internalURL });
      });
      const answers = await Promise.all(many);
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
      return grants() > first;
    },
    { timeoutMs: 20_000 },
  );
  // Of the old cookie no more comes, also where it is shown again.
  for (const base of [url, harness.second.internalURL])
    expect((await visitorWith(browser).call(RUNS, { base })).status).toBe(200);
  expect(grants()).toBe(first + 1);
  expect((await visitor.call(RUNS)).status).toBe(200);
  expect(visitor.cookies()).not.toBe(before);
  const port = String(harness.redis.port);
  const keys = (await runCommand('redis-cli', ['-p', port, '--scan', '--pattern', 'wl:console:renew*']))
    .trim()
    .split('\n');
  const shown = [...harness.provider.shown.keys()].at(-1) ?? 'none';
  const values = await Promise.all(keys.map((key) => runCommand('redis-cli', ['-p', port, 'get', key])));
  expect(values.length).toBeGreaterThan(1);
  for (const text of [...keys, ...values])
    expect([text.includes(shown), /\.eyJ/.test(text)]).toEqual([false, false]);
});

test('garbage of the same address does not prevent a sign-in', async () => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const claims = { iss: harness.provider.issuer, aud: 'windlass-console', sub: 'ada' };
  const forged = (at: number) => `${encode({ alg: 'RS256', kid: 'mine' })}.${encode({ ...claims, at })}.AAAA`;
  const tokens = Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? `garbage-${at}` : forged(at)));
  const statuses = await Promise.all(
    tokens.map(async (token) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(url + RUNS, { headers })).status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([401, 503]));
  expect((await signIn()).browser.cookies.has('windlass_console')).toBe(true);
});

test('while the provider is unavailable the old token is used, and sign-in shows an error', async () => {
  const { browser } = await signIn();
  const waiting = await signIn({ stop: isCallback });
  harness.provider.state.away = true;
  try {
    const visitor = visitorWith(browser);
    const seconds = performance.now() + 4_000;
    await pollUntil(
      'the time of the renewal',
      async () => {
        expect((await visitor.call(RUNS)).status).toBe(200);
        return performance.now() > seconds;
      },
      { timeoutMs: 15_000 },
    );
    const told = await waiting.browser.open(waiting.page.url);
    expect([told.status, waiting.browser.cookies.has('windlass_console')]).toEqual([503, false]);
  } finally {
    harness.provider.state.away = false;
  }
});

test('signing out also ends a session with a renewed token', async () => {
  const { browser } = await signIn();
  const [visitor, copy] = [visitorWith(browser), visitorWith(browser)];
  const before = visitor.cookies();
  await pollUntil(
    'the renewal',
    async () => {
      expect((await visitor.call(RUNS)).status).toBe(200);
      return visitor.cookies() !== before;
    },
    { timeoutMs: 20_000 },
  );
  const shown = harness.provider.shown.size;
  expect((await visitor.call('/console/session', { method: 'DELETE' })).status).toBe(204);
  expect((await copy.call(RUNS)).status).toBe(401);
  await pollUntil('the revocation', () => harness.provider.revoked() > 0, { timeoutMs: 10_000 });
  expect(harness.provider.shown.size).toBe(shown);
});

test('signing out does not wait for an unavailable provider', async () => {
  const { browser } = await signIn();
  harness.provider.state.away = true;
  try {
    const took = stopwatch();
    expect((await visitorWith(browser).call('/console/session', { method: 'DELETE' })).status).toBe(204);
    expect(took()).toBeLessThan(2_000);
    await pollUntil(
      'the log line',
      () => harness.gateway.log.some((line) => line.includes('revoking a refresh token failed')),
      { timeoutMs: 15_000 },
    );
  } finally {
    harness.provider.state.away = false;
  }
});
