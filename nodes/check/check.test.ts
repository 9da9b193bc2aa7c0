import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { CredentialSpec } from '../../api/credential.ts';
import { listen, sendJson } from '../../test/support/listen.ts';
import { startMailServer } from '../../test/support/mailServer.ts';
import { startModelServer } from '../../test/support/modelServer.ts';
import { localEgress } from '../../test/support/stepContext.ts';
import { createEgress } from '../egress/egress.ts';
import { parseEgressRules } from '../egress/rules.ts';
import { Secret } from '../secret.ts';
import { resultOf } from './check.ts';
import { canBeChecked, checkCredential } from './register.ts';
import { checkOpenai } from './openai.ts';
import { signedHeaders } from '../files/signature.ts';

const KEY = 'correct-horse/battery+staple';
const mailbox = await startMailServer({ username: 'orders', password: KEY });
const open = await startMailServer();
const model = await startModelServer({ apiKey: KEY });
let handler: (request: IncomingMessage, response: ServerResponse) => void;
const seen: string[] = [];
const server = await listen((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  handler(request, response);
});
const silent = createServer(() => undefined).listen(0, '127.0.0.1');
await once(silent, 'listening');
const silentPort = (silent.address() as AddressInfo).port;
afterAll(async () => {
  silent.close();
  await Promise.all([mailbox.close(), open.close(), model.close(), server.close()]);
});
beforeEach(() => {
  seen.length = 0;
});

const ref = (key: string) => ({ name: 'account', key });
const signal = new AbortController().signal;
const accessTo = (spec: CredentialSpec, secrets: Record<string, string>) => ({
  name: 'account',
  spec,
  secret: ({ key }: { key: string }) => new Secret(secrets[key] ?? KEY),
});
const check = (spec: CredentialSpec, secrets: Record<string, string> = {}, egress = localEgress) =>
  checkCredential(accessTo(spec, secrets), { egress, signal });

const answering = (status: number, body: unknown, headers = {}) => {
  handler = (_request, response) => sendJson(response, status, body, headers);
};
const wrong = { works: false, reason: 'Rejected' };

const smtp = (port: number, login: object = { username: 'orders', passwordRef: ref('password') }) => ({
  smtp: { host: '127.0.0.1', port, tls: 'None' as const, from: 'a@example.com', ...login },
});

test('a mail account works when the server takes its login, and no mail is sent', async () => {
  expect(await check(smtp(mailbox.smtpPort))).toEqual({
    works: true,
    message: '127.0.0.1 took the login.',
    account: 'orders',
  });
  expect(mailbox.messages).toEqual([]);
});

test('a mail account without a login works when the server answers', async () => {
  expect(await check(smtp(open.smtpPort, {}))).toMatchObject({ works: true });
});

test('a mail account with a wrong password is Rejected with what the server says', async () => {
  const result = await check(smtp(mailbox.smtpPort), { password: 'wrong-password' });
  expect(result).toMatchObject(wrong);
  expect(result.message).toContain('5.7.8 Username and password not accepted');
});

test('a mail account at a server that offers no login is Rejected', async () => {
  expect(await check(smtp(open.smtpPort))).toMatchObject(wrong);
});

test('a mail server that is not there, or that refuses everybody, is Unreachable', async () => {
  expect(await check(smtp(1))).toMatchObject({ works: false, reason: 'Unreachable' });
  open.setFault('refuse-connection');
  const result = await check(smtp(open.smtpPort, {}));
  open.setFault(undefined);
  expect(result).toMatchObject({ works: false, reason: 'Unreachable' });
  expect(result.message).toContain('refused the connection');
});

const openai = (baseURL: string) => ({ openai: { baseURL, apiKeyRef: ref('key') } });

test('a model key works when the server lists its models, which are told', async () => {
  expect(await check(openai(model.baseURL))).toMatchObject({ works: true, models: ['demo', 'demo-slow'] });
});

test('a wrong model key is Rejected', async () => {
  const result = await check(openai(model.baseURL), { key: 'wrong-key' });
  expect(result).toMatchObject(wrong);
  expect(result.message).toContain('Incorrect API key provided.');
});

test('of many models fifty are told, each once, masked, in one line, and none too long', async () => {
  const ids = Array.from({ length: 200 }, (_, index) => ({ id: `model-${String(index).padStart(3, '0')}` }));
  const odd = [{ id: 'a'.repeat(1_000) }, { id: `b ${KEY}` }, { id: 'c\nd\u0007' }, { id: 7 }, null, {}];
  answering(200, { data: [...odd, ...ids, ...ids] });
  const result = await check(openai(server.url));
  const { models = [] } = result as { models?: string[] };
  expect(models).toHaveLength(50);
  expect(models.slice(0, 4)).toEqual(['a'.repeat(256), 'b [secret]', 'c d', 'model-000']);
});

test('a server without a list of models is asked a question that lacks everything', async () => {
  handler = (request, response) => {
    if (request.method === 'GET') sendJson(response, 404, {});
    else if (request.headers.authorization === `Bearer ${KEY}`) sendJson(response, 400, {});
    else sendJson(response, 401, { error: { message: 'no such key' } });
  };
  expect(await check(openai(server.url))).toMatchObject({ works: true });
  expect(seen).toEqual(['GET /models', 'POST /chat/completions']);
  expect(await check(openai(server.url), { key: 'wrong-key' })).toMatchObject(wrong);
});

test('an address at which there is nothing of a model is told as that', async () => {
  answering(404, {});
  const result = await check(openai(server.url));
  expect(result).toMatchObject({ works: false, reason: 'Unreachable' });
  expect(result.message).toContain('baseURL must be complete');
});

test('a server that asks to wait says for how long', async () => {
  answering(429, {}, { 'retry-after': '120' });
  const expected = { works: false, reason: 'Unreachable', retryAfterMs: 120_000 };
  expect(await check(openai(server.url))).toMatchObject(expected);
});

test('a key that no header can hold is Rejected, and not sent', async () => {
  expect(await check(openai(server.url), { key: 'with a\nbreak' })).toMatchObject(wrong);
  expect(seen).toEqual([]);
});

test('a secret that is empty is told as a missing key', async () => {
  const { StepError } = await import('../../api/reasons.ts');
  const access = {
    ...accessTo(openai(server.url), {}),
    secret: () => {
      throw new StepError('CredentialMissing', 'the Secret account has no key key: add it');
    },
  };
  expect(await checkCredential(access, { egress: localEgress, signal })).toMatchObject({
    works: false,
    reason: 'KeyMissing',
  });
});

const bearer = (checkURL?: string) => ({
  http: { bearer: { tokenRef: ref('token') }, ...(checkURL !== undefined && { checkURL }) },
});

test('an HTTP credential is tried at its checkURL, and cannot be without', async () => {
  handler = (request, response) =>
    sendJson(response, request.headers.authorization === `Bearer ${KEY}` ? 204 : 403, {});
  expect(await check(bearer(`${server.url}/me`))).toMatchObject({ works: true });
  expect(await check(bearer(`${server.url}/me`), { token: 'other' })).toMatchObject(wrong);
  expect(seen).toEqual(['GET /me', 'GET /me']);
  expect([canBeChecked(bearer()), canBeChecked(bearer(server.url))]).toEqual([false, true]);
});

test('an HTTP credential is not sent to a checkURL that its allowedHosts leave out', async () => {
  const { http } = bearer(`${server.url}/me`);
  const result = await check({ http: { ...http, allowedHosts: ['api.example.com'] } });
  expect(result).toMatchObject(wrong);
  expect(seen).toEqual([]);
});

test('an HTTP credential is not sent on by a redirect', async () => {
  answering(302, {}, { location: `${server.url}/elsewhere` });
  await check(bearer(`${server.url}/me`));
  expect(seen).toEqual(['GET /me']);
});

test('what a credential lacks is told as a missing scope', async () => {
  answering(403, {}, { 'www-authenticate': 'Bearer realm="x", error="insufficient_scope", scope="read"' });
  expect(await check(bearer(server.url))).toMatchObject({ works: false, reason: 'MissingScope' });
});

const oauth2 = (changes: object = {}) => ({
  oauth2: {
    authorizationURL: server.url,
    tokenURL: server.url,
    userinfoURL: `${server.url}/userinfo`,
    clientID: 'shop',
    ...changes,
  },
});

test('an account is tried by asking whose it is, with the access token', async () => {
  handler = (request, response) =>
    sendJson(response, request.headers.authorization === `Bearer ${KEY}` ? 200 : 401, { sub: '1' });
  expect(await check(oauth2())).toMatchObject({ works: true });
  expect(await check(oauth2(), { account: 'another-token' })).toMatchObject(wrong);
  expect(seen).toEqual(['GET /userinfo', 'GET /userinfo']);
});

test('it is asked at the very address that the credential names', async () => {
  answering(200, { sub: '1' });
  expect(await check(oauth2({ userinfoURL: `${server.url}/o/userinfo/` }))).toMatchObject({ works: true });
  expect(seen).toEqual(['GET /o/userinfo/']);
  expect(await check(oauth2({ userinfoURL: 'https://[' }))).toMatchObject(wrong);
});

test('a token that is good for other things than to name its account works', async () => {
  answering(403, {});
  expect(await check(oauth2())).toMatchObject({ works: true });
});

test.each([
  ['whose provider names accounts', oauth2(), true],
  ['whose provider does not', oauth2({ userinfoURL: undefined }), false],
  ['of Google', oauth2({ preset: 'google' }), true],
  ['of Microsoft', oauth2({ preset: 'microsoft' }), false],
  ['of Microsoft that reads mail', oauth2({ preset: 'microsoft', imap: { username: 'ada' } }), true],
])('whether an account %s can be tried', (_what, spec, expected) => {
  expect(canBeChecked(spec as CredentialSpec)).toBe(expected);
});

test('an account that nobody has connected is told as that', async () => {
  const { StepError } = await import('../../api/reasons.ts');
  const missing = () => {
    throw new StepError('CredentialMissing', 'there is no token');
  };
  const access = { ...accessTo(oauth2(), {}), secret: missing };
  expect(await checkCredential(access, { egress: localEgress, signal })).toMatchObject({
    works: false,
    reason: 'NotConnected',
  });
});

const bot = (platform: 'telegram' | 'slack') => ({
  bot: { platform, tokenRef: ref('token'), apiURL: server.url },
});
/** What each answers is in its documentation: core.telegram.org/bots/api, docs.slack.dev/reference/methods/auth.test */
const telegramMe = { ok: true, result: { id: 1, is_bot: true, first_name: 'Shop', username: 'shop_bot' } };
const slackMe = { ok: true, team: 'Shop', user: 'shopbot', team_id: 'T1', user_id: 'U1', bot_id: 'B1' };

test('a Telegram bot is asked who it is, with the token in the path', async () => {
  answering(200, telegramMe);
  expect(await check(bot('telegram'), { token: '123:abc-DEF_4' })).toMatchObject({
    works: true,
    account: 'shop_bot',
  });
  expect(seen).toEqual(['GET /bot123%3Aabc-DEF_4/getMe']);
});

test.each([
  [401, { ok: false, error_code: 401, description: 'Unauthorized' }, 'Rejected'],
  [404, { ok: false, error_code: 404, description: 'Not Found' }, 'Rejected'],
  [
    429,
    { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 3 } },
    'Unreachable',
  ],
  [502, 'Bad Gateway', 'Unreachable'],
])('a Telegram bot whose token gets a %i is %#', async (status, body, reason) => {
  answering(status, body);
  expect(await check(bot('telegram'))).toMatchObject({ works: false, reason });
});

test('a Slack bot is asked who it is, with the token in a header', async () => {
  handler = (request, response) =>
    sendJson(response, 200, request.headers.authorization === `Bearer ${KEY}` ? slackMe : { ok: false });
  expect(await check(bot('slack'))).toMatchObject({ works: true, account: 'shopbot (Shop)' });
  expect(seen).toEqual(['POST /auth.test']);
});

test.each([
  ['invalid_auth', 'Rejected'],
  ['account_inactive', 'Rejected'],
  ['token_revoked', 'Rejected'],
  ['token_expired', 'Expired'],
  ['missing_scope', 'MissingScope'],
  ['ratelimited', 'Unreachable'],
  ['internal_error', 'Unreachable'],
])('a Slack bot whose token gets %s is %s', async (error, reason) => {
  answering(200, { ok: false, error });
  expect(await check(bot('slack'))).toMatchObject({ works: false, reason });
});

const s3 = (changes: object = {}) => ({
  s3: {
    endpoint: server.url,
    bucket: 'orders',
    accessKeyIdRef: ref('id'),
    secretAccessKeyRef: ref('secret'),
    ...changes,
  },
});

/** Answers a HeadBucket as the store does: whoever signs with another key is 403, another bucket is 404. */
const store: typeof handler = (request, response) => {
  const date = String(request.headers['x-amz-date']);
  const now = new Date(date.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'));
  const signed = signedHeaders({
    method: 'HEAD',
    host: request.headers.host ?? '',
    path: request.url ?? '',
    region: 'us-east-1',
    accessKeyId: new Secret('ID'),
    secretAccessKey: new Secret(KEY),
    now,
  });
  const isSigned = signed['authorization'] === request.headers.authorization;
  const isThere = request.method === 'HEAD' && request.url === '/orders';
  response.writeHead(isSigned ? (isThere ? 200 : 404) : 403).end();
};

test('a bucket is asked for with a signed request', async () => {
  handler = store;
  expect(await check(s3(), { id: 'ID' })).toMatchObject({ works: true });
  expect(seen).toEqual(['HEAD /orders']);
});

test('a bucket with wrong keys, a wrong name or a wrong region is Rejected', async () => {
  handler = store;
  expect(await check(s3(), { id: 'ID', secret: 'other' })).toMatchObject(wrong);
  const missing = await check(s3({ bucket: 'missing' }), { id: 'ID' });
  expect(missing).toMatchObject(wrong);
  expect(missing.message).toContain('has no bucket missing');
  answering(301, {}, { 'x-amz-bucket-region': 'eu-west-1' });
  expect((await check(s3(), { id: 'ID' })).message).toContain('lies in the region eu-west-1');
});

test('a bucket in the host name is asked for there', async () => {
  const result = await check(s3({ endpoint: 'http://s3.test:9000', pathStyle: false }), { id: 'ID' });
  expect(result.message).toContain('orders.s3.test');
});

test.each([
  ['as it is', (key: string) => key],
  ['in base64', (key: string) => Buffer.from(`user:${key}`).toString('base64')],
  ['in a URL', (key: string) => encodeURIComponent(key)],
])('a secret that a server repeats %s is masked', async (_how, repeat) => {
  answering(401, { error: { message: `no such key: ${repeat(KEY)}` } });
  const said = JSON.stringify([
    await check(openai(server.url)),
    await check(bearer(server.url)),
    await check(bot('telegram')),
  ]);
  expect(said).toContain('no such key');
  expect(said).not.toContain(repeat(KEY).slice(8, 20));
});

test('an address that nothing may connect to is told with what admits it', async () => {
  const nowhere = createEgress(parseEgressRules([], []));
  const result = await check(openai(server.url), {}, nowhere);
  expect(result).toMatchObject({ works: false, reason: 'Unreachable' });
  expect(result.message).toContain('runner.egress.allow');
  expect(seen).toEqual([]);
});

test('a server that says nothing is Unreachable when the time is over', async () => {
  const access = accessTo(openai(`http://127.0.0.1:${silentPort}`), {});
  expect(await resultOf(checkOpenai, access, { egress: localEgress, signal }, 50)).toEqual({
    works: false,
    reason: 'Unreachable',
    message: 'the other side did not answer within 0.05 s',
  });
});

test('a body without an end is left off', async () => {
  handler = (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more).writeHead(200);
    more();
  };
  expect(await check(openai(server.url))).toMatchObject({ works: false, reason: 'Unreachable' });
});
