/**
 * Connecting a credential, the whole way by HTTP as a browser goes it, with a real provider; and what is not
 * accepted on the way.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectionOf } from '../../../api/provider.ts';
import { cookieName, verifierOf } from '../../../gateway/public/connect.ts';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { seal } from '../../../store/oauth/seal.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { begin, createBrowser, signIn } from '../../support/providers/oauth/browser.ts';
import { answerFor, expectNothing, withParameter } from '../../support/operator/connecting.ts';
import { hashOf, storeCode, MAX_LINKS, readKey, SEALED_FOR, type Code } from '../../../store/oauth/states.ts';
import { CLIENT } from '../../support/providers/oauth/oauthProvider.ts';
import { startOAuthHarness, type OAuthHarness } from '../../support/operator/oauthHarness.ts';

let harness: OAuthHarness;

beforeAll(async () => {
  harness = await startOAuthHarness();
  harness.startOperator();
}, 600_000);
afterAll(() => harness?.stop());

test('a person who opens the link and signs in has connected the account', async () => {
  await harness.createCredential('mailbox');
  const before = await harness.said('mailbox', 'NotConnected');
  expect(before.status).toMatchObject({
    connectURL: `http://windlass-gateway-internal.windlass-system/credentials/${harness.namespace}.mailbox/connect`,
    scopes: ['openid', 'email', 'offline_access'],
  });
  const browser = createBrowser();
  const page = await signIn(browser, await harness.link('mailbox'), { account: 'ada' });
  expect(page.status).toBe(200);
  expect(page.text).toContain(`${harness.namespace}/mailbox`);
  const { status } = await harness.said('mailbox', 'Connected');
  expect(status).toMatchObject({
    account: 'ada@example.com',
    grantedScopes: ['openid', 'email', 'offline_access'],
  });
  const minutes = (Date.parse(status?.expires ?? '') - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(55);
  expect(minutes).toBeLessThanOrEqual(60);
  const { mailbox: token = '' } = await harness.entries('windlass-tokens');
  const who = await fetch(harness.provider.endpoints.userinfoURL, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await who.json()).toMatchObject({ email: 'ada@example.com' });
  const [grant = '{}'] = Object.values(await harness.entries('windlass-refresh-tokens'));
  expect(JSON.parse(grant)).toMatchObject({ accessToken: token, refreshToken: expect.any(String) as string });
  const user = `system:serviceaccount:${harness.namespace}:ana`;
  expect(harness.log.entries).toContainEqual({
    level: 'info',
    fields: { namespace: harness.namespace, credential: 'mailbox', user },
    message: 'connected a credential',
  });
  const connected = () => auditTrail([...harness.gateway.log, ...harness.trail]);
  const object = {
    kind: 'Credential',
    namespace: harness.namespace,
    name: 'mailbox',
    uid: before.metadata.uid,
  };
  await expect.poll(connected).toMatchObject([
    { event: 'credential.link', program: 'gateway', user: { name: user }, object, result: 'allowed' },
    { event: 'credential.connect', program: 'operator', user: { name: user }, object, result: 'allowed' },
  ]);
  // Nothing of it is anywhere else.
  const { refreshToken } = JSON.parse(grant) as { refreshToken: string };
  const said = JSON.stringify([status, harness.log.entries, harness.trail, harness.gateway.log, page.text]);
  for (const secret of [token, refreshToken, CLIENT.secret]) expect(said).not.toContain(secret);
});

const A_SECRET = 'A'.repeat(43);

test.each<[what: string, change: (url: URL, name: string) => string | Promise<string>, says: RegExp]>([
  ['without a state', (url) => withParameter(url, 'state', undefined), /answer is invalid/],
  ['with an empty state', (url) => withParameter(url, 'state', ''), /answer is invalid/],
  ['with a state that nobody made', (url) => withParameter(url, 'state', A_SECRET), /answer is invalid/],
  ['with a state and another one', (url) => `${url.href}&state=${A_SECRET}`, /answer is invalid/],
  ['with a code and another one', (url) => `${url.href}&code=other`, /answer is invalid/],
  [
    "with another person's state",
    async (url, name) => {
      const other = await answerFor(harness, name, 'bob');
      return withParameter(url, 'state', other.url.searchParams.get('state') ?? '');
    },
    /another browser/,
  ],
  ['of another issuer', (url) => withParameter(url, 'iss', 'https://evil.example.com'), /unexpected issuer/],
  [
    'of an issuer that is spelled otherwise',
    (url) => withParameter(url, 'iss', `${url.searchParams.get('iss')}/`),
    /unexpected issuer/,
  ],
  ['of no issuer', (url) => withParameter(url, 'iss', undefined), /unexpected issuer/],
  ['without a code', (url) => withParameter(url, 'code', undefined), /returned an error/],
])('an answer %s connects nothing', async (what, change, says) => {
  const name = what.replaceAll(/[^a-z]+/g, '-');
  await harness.createCredential(name);
  const before = harness.provider.granted('authorization_code');
  const { browser, url } = await answerFor(harness, name, 'mallory');
  const page = await browser.open(await change(url, name));
  expect(page.text).toMatch(says);
  await expectNothing(harness, name, before);
});

test('an answer counts in the browser that began, and in no other', async () => {
  await harness.createCredential('bound');
  const before = harness.provider.granted('authorization_code');
  const { url } = await answerFor(harness, 'bound', 'ada');
  const stranger = await createBrowser().open(url.href);
  expect([stranger.status, stranger.text]).toEqual([400, expect.stringContaining('another browser')]);
  await expectNothing(harness, 'bound', before);
});

test('an answer with its state counts once, and a link is opened once', async () => {
  await harness.createCredential('once');
  const link = await harness.link('once');
  const browser = createBrowser();
  const isCallback = (url: string) => url.includes('/oauth/callback');
  const { url } = await signIn(browser, link, { account: 'ada', stop: isCallback });
  const cookies = new Map(browser.cookies);
  for (const address of [link, `${link}/continue`])
    expect((await createBrowser().open(address)).status).toBe(404);
  expect((await browser.open(url)).status).toBe(200);
  await harness.said('once', 'Connected');
  const before = harness.provider.granted('authorization_code');
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  expect((await browser.open(url)).status).toBe(400);
  expect(harness.provider.granted('authorization_code')).toBe(before);
});

/** How often connecting has failed at the provider. */
const failures = () =>
  harness.log.messages('warn').filter((said) => said === 'cannot connect a credential').length;

test('a code that belongs to another verifier brings no token', async () => {
  await harness.createCredential('replayed');
  const [first, second] = [
    await answerFor(harness, 'replayed', 'ada'),
    await answerFor(harness, 'replayed', 'ada'),
  ];
  const before = harness.provider.granted('authorization_code');
  // Its state and its browser are right, but the code was made for the challenge of another one.
  const code = first.url.searchParams.get('code') ?? '';
  const page = await second.browser.open(withParameter(second.url, 'code', code));
  expect(page.status).toBe(200);
  await expect.poll(failures, { timeout: 10_000 }).toBe(1);
  const shown = async () => JSON.stringify((await harness.said('replayed', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('invalid_grant');
  await expectNothing(harness, 'replayed', before);
});

test('a code that was used before brings no token, even with its verifier and sealed as the gateway does', async () => {
  const { metadata, spec } = await harness.createCredential('used');
  const { browser, url } = await answerFor(harness, 'used', 'ada');
  const { code = '', state = '', iss = '' } = Object.fromEntries(url.searchParams);
  const cookie = browser.cookies.get(cookieName(harness.gateway.publicURL, state)) ?? '';
  expect((await browser.open(url.href)).status).toBe(200);
  await harness.said('used', 'Connected');
  const [before, failed] = [harness.provider.granted('authorization_code'), failures()];
  const key = await readKey(harness.conn);
  if (key === undefined || isUnavailable(key) || !spec.oauth2) throw new Error('nothing can be sealed');
  const again: Code = {
    namespace: harness.namespace,
    name: 'used',
    uid: metadata.uid ?? '',
    generation: metadata.generation ?? 0,
    user: 'mallory',
    connection: hashOf(connectionOf(spec.oauth2)),
    redirectURI: `${harness.gateway.publicURL}/oauth/callback`,
    scopes: [],
    mustNameIssuer: true,
    issuer: iss,
    answeredBy: iss,
    code,
    verifier: verifierOf(cookie, state),
    state,
  };
  await storeCode(harness.conn, await seal(key, JSON.stringify(again), SEALED_FOR));
  await expect.poll(failures, { timeout: 10_000 }).toBe(failed + 1);
  const shown = async () => JSON.stringify((await harness.said('used', 'Connected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('invalid_grant');
  expect(harness.provider.granted('authorization_code')).toBe(before);
});

test('who says no, or whose provider fails, is told so, and nothing of the answer is shown', async () => {
  await harness.createCredential('refused');
  const { browser, url } = await answerFor(harness, 'refused', 'ada');
  const script = '<script>alert(1)</script>';
  const denied = new URL(withParameter(url, 'error', 'access_denied'));
  denied.searchParams.set('error_description', script);
  const page = await browser.open(denied.href);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Access was denied')]);
  expect(page.text).not.toContain('alert');
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
});

test('a user who opens a link is told who asks for what, and uses nothing up', async () => {
  await harness.createCredential('shown');
  const link = await harness.link('shown');
  for (const browser of [createBrowser(), createBrowser()]) {
    const page = await browser.open(link);
    const { host } = new URL(harness.provider.issuer);
    expect(page.status).toBe(200);
    for (const text of [
      `${harness.namespace}/shown`,
      `${harness.namespace}:ana asks you`,
      `Continue to ${host}`,
    ])
      expect(page.text).toContain(text);
    expect([browser.told, page.headers.get('referrer-policy')]).toEqual([[], 'no-referrer']);
  }
  const guess = { redirect: 'manual', headers: { 'sec-purpose': 'prefetch' } } as const;
  expect((await fetch(`${link}/continue`, guess)).status).toBe(404);
  const isProvider = (url: string) => url.startsWith(harness.provider.issuer);
  expect((await begin(createBrowser(), link, isProvider)).status).toBe(303);
});

test('the provider is asked with PKCE, the exact redirect URI and a cookie that scripts cannot read', async () => {
  await harness.createCredential('asked');
  const browser = createBrowser();
  const page = await begin(browser, await harness.link('asked'), (url) =>
    url.startsWith(harness.provider.issuer),
  );
  const { searchParams } = new URL(page.url);
  expect(page.status).toBe(303);
  expect(Object.fromEntries(searchParams)).toEqual({
    response_type: 'code',
    client_id: CLIENT.id,
    redirect_uri: `${harness.gateway.publicURL}/oauth/callback`,
    scope: 'openid email offline_access',
    prompt: 'consent',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
    state: expect.stringMatching(/^[\w-]{43}$/) as string,
  });
  expect(browser.told).toEqual([
    expect.stringMatching(
      /^windlass-connect-[\w-]{16}=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
    ),
  ]);
});

test.each([
  '/oauth/callback?redirect_uri=https://evil.example.com',
  '/oauth/callback?returnTo=//evil.example.com&state=x',
  `/oauth/callback?state=${A_SECRET}&code=1&redirect=https://evil.example.com`,
  '/oauth/callback//evil.example.com',
  `/oauth/connect/${A_SECRET}?url=https://evil.example.com`,
  `/oauth/connect/${A_SECRET}/continue?url=https://evil.example.com`,
  '/oauth/connect/https:%2f%2fevil.example.com',
  '/oauth/connect//evil.example.com',
])('%s leads nowhere', async (path) => {
  const answer = await fetch(`${harness.gateway.publicURL}${path}`, { redirect: 'manual' });
  expect([answer.headers.get('location'), await answer.text()]).toEqual([
    null,
    expect.not.stringContaining('evil'),
  ]);
  expect([400, 404]).toContain(answer.status);
});

test.each(['/oauth/callback/', '/other', '/oauth/callback?x=1', '/oauth/../oauth/callback2'])(
  'the provider takes no redirect URI that is only like ours: %s',
  async (path) => {
    await harness.createCredential('exact');
    const page = await begin(createBrowser(), await harness.link('exact'), (url) =>
      url.startsWith(harness.provider.issuer),
    );
    const url = withParameter(new URL(page.url), 'redirect_uri', `${harness.gateway.publicURL}${path}`);
    const refused = await createBrowser().open(url, (next) => next.startsWith(harness.gateway.publicURL));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('redirect_uri')]);
  },
);

test('nothing of a request changes the redirect URI', async () => {
  await harness.createCredential('fixed');
  const evil = 'evil.example.com';
  const query = `?redirect_uri=https://${evil}/&redirectURI=https://${evil}/`;
  const headers = {
    'x-forwarded-host': evil,
    forwarded: `host=${evil};proto=https`,
    origin: `https://${evil}`,
  };
  const asked = await fetch(
    `${harness.gateway.internalURL}/credentials/${harness.namespace}.fixed/connect${query}`,
    { method: 'POST', headers: { ...headers, authorization: `Bearer ${harness.token}` } },
  );
  const { url: link } = (await asked.json()) as { url: string };
  const followed = await fetch(`${link}/continue${query}`, { headers, redirect: 'manual' });
  const target = new URL(followed.headers.get('location') ?? '');
  expect(target.href.startsWith(harness.provider.endpoints.authorizationURL)).toBe(true);
  expect(target.searchParams.get('redirect_uri')).toBe(`${harness.gateway.publicURL}/oauth/callback`);
  expect(target.href).not.toContain('evil');
});

test('a good answer counts at the redirect URI alone', async () => {
  await harness.createCredential('astray');
  const before = harness.provider.granted('authorization_code');
  const { browser, url } = await answerFor(harness, 'astray', 'ada');
  for (const path of [
    '/oauth/callback/',
    '/oauth//callback',
    '/OAuth/Callback',
    '/oauth/callback;a',
    '/callback',
  ])
    expect([path, (await browser.open(url.href.replace('/oauth/callback', path))).status]).toEqual([
      path,
      404,
    ]);
  await expectNothing(harness, 'astray', before);
});

test('where no issuer is known, an answer that names one connects nothing', async () => {
  await harness.createCredential('nameless', { issuer: undefined });
  const before = harness.provider.granted('authorization_code');
  const { browser, url } = await answerFor(harness, 'nameless', 'ada');
  expect(url.searchParams.get('iss')).toBe(harness.provider.issuer);
  expect((await browser.open(url.href)).text).toMatch(/unexpected issuer/);
  await expectNothing(harness, 'nameless', before);
});

const ASKED = {
  google: {
    spec: {},
    address: 'https://accounts.google.com/o/oauth2/v2/auth',
    scope: 'openid email https://www.googleapis.com/auth/gmail.readonly',
    more: { access_type: 'offline', prompt: 'consent' },
  },
  microsoft: {
    spec: { imap: { username: 'ada@example.com' } },
    address: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    scope: 'openid email offline_access https://outlook.office.com/IMAP.AccessAsUser.All',
    more: { prompt: 'select_account' },
  },
};

test.each(['google', 'microsoft'] as const)(
  '%s is asked for the rights that a workflow needs which uses the account',
  async (preset) => {
    const { spec, address, scope, more } = ASKED[preset];
    const metadata = { namespace: harness.namespace, name: preset };
    await harness.client.apply(credentials, {
      metadata,
      spec: { oauth2: { preset, clientID: CLIENT.id, ...spec } },
    });
    await harness.said(preset, 'NotConnected');
    const mail = { id: 'trigger', mail: { credential: preset } };
    await harness.client.apply(workflows, { metadata, spec: { active: false, nodes: [mail] } });
    const told = async () => (await harness.client.get(credentials, metadata)).status?.scopes?.join(' ');
    await expect.poll(told, { timeout: 10_000 }).toBe(scope);
    const isThere = (url: string) => url.startsWith(address);
    const { searchParams } = new URL((await begin(createBrowser(), await harness.link(preset), isThere)).url);
    expect(Object.fromEntries(searchParams)).toMatchObject({ ...more, scope, client_id: CLIENT.id });
  },
);

test('of a namespace no more links are given than people can open', async () => {
  await harness.createCredential('asked-often');
  const made = `wl:connect:made:${hashOf(harness.namespace)}`;
  await harness.redisCommand('HSET', made, 'links', String(MAX_LINKS - 1));
  const last = await harness.askLink('asked-often');
  const refused = await harness.askLink('asked-often');
  expect([last.status, refused.status, refused.headers.get('retry-after')]).toEqual([201, 429, '60']);
  const [left = '0'] = await harness.redisCommand('TTL', made);
  expect(Number(left)).toBeGreaterThan(0);
  await harness.redisCommand('DEL', made);
});

test('a link is given to who may update the credential, if it is one that is connected', async () => {
  const codeOf = async (answer: Response) => /problem\/([a-z-]+)/.exec(await answer.text())?.[1];
  await harness.client.apply(credentials, {
    metadata: { namespace: harness.namespace, name: 'other-kind' },
    spec: { smtp: { host: 'mail.example.com', from: 'a@example.com' } },
  });
  expect(await codeOf(await harness.askLink('other-kind'))).toBe('not-connectable');
  expect(await codeOf(await harness.askLink('nothing'))).toBe('credential-unknown');
  expect(await codeOf(await harness.askLink('mailbox', 'nobody'))).toBe('unauthorized');
});

test('of all that was brought here only what three persons allowed has become a token', async () => {
  await expect
    .poll(() => harness.redisCommand('EXISTS', 'wl:connect:codes'), { timeout: 10_000 })
    .toEqual(['0']);
  expect(harness.provider.granted('authorization_code')).toBe(3);
  const left = Object.keys(await harness.entries('windlass-tokens')).toSorted();
  const names = ['mailbox', 'once', 'used'];
  expect(left).toEqual(names.flatMap((name) => [name, `${name}_connection`]));
});
