import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEgress } from '../../nodes/egress/egress.ts';
import { parseEgressRules } from '../../nodes/egress/rules.ts';
import { listen, readBody, sendJson, type Listening } from '../../test/support/network/listen.ts';
import { exchangeCode, refresh, revoke, type Asking } from './endpoint.ts';

const YEAR = 365 * 24 * 3_600_000;
const LEAST = { access_token: 'access', token_type: 'Bearer' };

let server: Listening;
/** What the token endpoint answers next. */
let answer: { status: number; body: unknown };
/** What it was asked last. */
let asked: { authorization: string | undefined; form: Record<string, string> };

beforeAll(async () => {
  server = await listen(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await readBody(request)));
    asked = { authorization: request.headers.authorization, form };
    sendJson(response, answer.status, answer.body);
  });
});
afterAll(() => server?.close());

const egress = createEgress(parseEgressRules(['127.0.0.0/8'], []));

function asking(over: Partial<Asking['spec']> = {}): Asking {
  const authorizationURL = `${server.url}/auth`;
  const spec = { authorizationURL, tokenURL: `${server.url}/token`, clientID: 'a', ...over };
  return { spec, clientSecret: undefined, egress };
}

function renew(body: unknown, over: { status?: number; spec?: Partial<Asking['spec']> } = {}) {
  answer = { status: over.status ?? 200, body };
  return refresh(asking(over.spec), 'refresh');
}

test('the tokens of a provider are returned', async () => {
  const more = { refresh_token: 'next', expires_in: 3_600, scope: 'a  b' };
  expect(await renew({ ...LEAST, ...more })).toEqual({
    outcome: 'issued',
    accessToken: 'access',
    refreshToken: 'next',
    expiresInMs: 3_600_000,
    scopes: ['a', 'b'],
  });
});

const SHOWN = { grant_type: 'refresh_token', refresh_token: 'refresh' };
const POST = { ...SHOWN, client_id: 'a', client_secret: 'hush' };

test.each<['Basic' | 'Post' | undefined, string | undefined, typeof asked]>([
  [undefined, 'hush', { authorization: `Basic ${btoa('a:hush')}`, form: SHOWN }],
  ['Basic', 'hush', { authorization: `Basic ${btoa('a:hush')}`, form: SHOWN }],
  ['Post', 'hush', { authorization: undefined, form: POST }],
  ['Post', undefined, { authorization: undefined, form: { ...SHOWN, client_id: 'a' } }],
])('a client shows who it is by %s with the secret %s', async (how, clientSecret, expected) => {
  answer = { status: 200, body: LEAST };
  await refresh({ ...asking(how && { clientAuthentication: how }), clientSecret }, 'refresh');
  expect(asked).toEqual(expected);
});

test('members that are null count as missing', async () => {
  const nothing = { refresh_token: null, expires_in: null, scope: null, id_token: null };
  expect(await renew({ ...LEAST, ...nothing })).toEqual({ outcome: 'issued', accessToken: 'access' });
});

test.each([1e12, 1e15, 1e306])(
  'a token that is good for %d s ends at a time that there is',
  async (seconds) => {
    const issued = await renew({ ...LEAST, expires_in: seconds });
    const { expiresInMs = 0 } = issued.outcome === 'issued' ? issued : {};
    expect(expiresInMs).toBeGreaterThan(YEAR);
    expect(() => new Date(Date.now() + expiresInMs).toISOString()).not.toThrow();
  },
);

test('an invalid ID token does not lose a rotated refresh token', async () => {
  const spec = { issuer: 'https://other.example.com' };
  const issued = await renew({ ...LEAST, refresh_token: 'next', id_token: 'no.such.token' }, { spec });
  expect(issued).toMatchObject({ outcome: 'issued', refreshToken: 'next' });
});

test.each<[string, unknown, object]>([
  ['invalid_grant', { error: 'invalid_grant' }, { outcome: 'refused', isFinal: true }],
  ['invalid_client', { error: 'invalid_client' }, { outcome: 'refused', isFinal: false }],
])('%s is told by its name, and nothing else of the answer', async (code, body, expected) => {
  const said = await renew({ ...(body as object), error_description: 'hush' }, { status: 400 });
  expect(said).toMatchObject(expected);
  expect(JSON.stringify(said)).toContain(code);
  expect(JSON.stringify(said)).not.toContain('hush');
});

test.each<[string, number, unknown]>([
  ['no JSON object', 200, 'garbage'],
  ['a list', 200, [LEAST]],
  ['a token that is no text', 200, { ...LEAST, access_token: 7 }],
  ['a token that is too long', 200, { ...LEAST, access_token: 'a'.repeat(20_000) }],
  ['another kind of token', 200, { ...LEAST, token_type: 'mac' }],
  ['an invalid time', 200, { ...LEAST, expires_in: 'soon' }],
  ['more than may be read', 200, { ...LEAST, more: 'a'.repeat(70_000) }],
  ['an error of the server', 502, { error: 'invalid_grant' }],
  ['a redirect', 302, {}],
])('%s is no answer, and takes nothing away', async (_what, status, body) => {
  expect(await renew(body, { status })).toMatchObject({ outcome: 'failed' });
});

test('an invalid address is reported without an exception', async () => {
  const brought = { code: 'c', state: 's', verifier: 'v', redirectURI: 'https://a.example.com/' };
  const expected = { outcome: 'failed', message: expect.stringContaining('tokenURL') as string };
  expect(await exchangeCode(asking({ tokenURL: 'https://[' }), brought)).toEqual(expected);
  expect(await refresh(asking({ tokenURL: 'https://a:99999/' }), 'refresh')).toEqual(expected);
});

test('revocation uses the endpoint of the credential, and reports why it failed', async () => {
  const ask = (revocationURL?: string) => revoke(asking(revocationURL ? { revocationURL } : {}), 'refresh');
  answer = { status: 503, body: {} };
  expect(await ask()).toBeUndefined();
  expect(await ask('https://[')).toContain('revocationURL');
  expect(await ask(`${server.url}/revoke`)).toMatch(/^127\.0\.0\.1:\d+: /);
  answer = { status: 200, body: '' };
  expect(await ask(`${server.url}/revoke`)).toBeUndefined();
});

test('a forbidden address is not connected to', async () => {
  const said = await refresh({ ...asking(), egress: createEgress(parseEgressRules([], [])) }, 'refresh');
  expect(said).toMatchObject({
    outcome: 'failed',
    message: expect.stringContaining('runner.egress') as string,
  });
});
