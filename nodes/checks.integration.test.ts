/** Accounts of mail, models and APIs are checked, and what holds for every kind. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import {
  accessTo,
  check,
  KEY,
  ref,
  signal,
  WRONG,
  startProvider,
} from '../test/support/nodes/credentialCheck.ts';
import { sendJson } from '../test/support/network/listen.ts';
import { startMailServer } from '../test/support/providers/mail/mailServer.ts';
import { startModelServer } from '../test/support/providers/model/modelServer.ts';
import { localEgress } from '../test/support/nodes/stepContext.ts';
import { createEgress } from './egress/egress.ts';
import { parseEgressRules } from './egress/rules.ts';
import { resultOf } from './contract/check.ts';
import { checkOpenai } from './providers/openai/check.ts';
import { canBeChecked, checkCredential } from './checks.ts';

const side = await startProvider();
const mailbox = await startMailServer({ username: 'orders', password: KEY });
const open = await startMailServer();
const model = await startModelServer({ apiKey: KEY });
const silent = createServer(() => undefined).listen(0, '127.0.0.1');
await once(silent, 'listening');
const silentPort = (silent.address() as AddressInfo).port;
afterAll(async () => {
  silent.close();
  await Promise.all([mailbox.close(), open.close(), model.close()]);
});

const smtp = (port: number, login: object = { username: 'orders', passwordRef: ref('password') }) => ({
  smtp: { host: '127.0.0.1', port, tls: 'None' as const, from: 'a@example.com', ...login },
});

test('a mail account works when the server takes its login, and no mail is sent', async () => {
  expect(await check(smtp(mailbox.smtpPort))).toEqual({
    works: true,
    message: '127.0.0.1 accepted the login.',
    account: 'orders',
  });
  expect(mailbox.messages).toEqual([]);
});

test('a mail account without a login works when the server answers', async () => {
  expect(await check(smtp(open.smtpPort, {}))).toMatchObject({ works: true });
});

test('a mail account with a wrong password is Rejected with what the server says', async () => {
  const result = await check(smtp(mailbox.smtpPort), { password: 'wrong-password' });
  expect(result).toMatchObject(WRONG);
  expect(result.message).toContain('5.7.8 Username and password not accepted');
});

test('a mail account at a server that offers no login is Rejected', async () => {
  expect(await check(smtp(open.smtpPort))).toMatchObject(WRONG);
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
  expect(result).toMatchObject(WRONG);
  expect(result.message).toContain('Incorrect API key provided.');
});

test('a wrong key that Gemini refuses with status 400, in a list, is Rejected', async () => {
  const message = 'API key not valid. Please pass a valid API key.';
  side.answer(400, [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }]);
  const result = await check(openai(side.url));
  expect(result).toMatchObject(WRONG);
  expect(result.message).toContain(message);
});

test('of many models fifty are told, each once, masked, in one line, and none too long', async () => {
  const ids = Array.from({ length: 200 }, (_, index) => ({ id: `model-${String(index).padStart(3, '0')}` }));
  const odd = [{ id: 'a'.repeat(1_000) }, { id: `b ${KEY}` }, { id: 'c\nd\u0007' }, { id: 7 }, null, {}];
  side.answer(200, { data: [...odd, ...ids, ...ids] });
  const result = await check(openai(side.url));
  const { models = [] } = result as { models?: string[] };
  expect(models).toHaveLength(50);
  expect(models.slice(0, 4)).toEqual(['a'.repeat(256), 'b [secret]', 'c d', 'model-000']);
});

test("a key of Anthropic's API works when it lists its models", async () => {
  side.answer(200, { data: [{ id: 'claude-1', type: 'model' }], has_more: false });
  const anthropic = { baseURL: side.url, apiKeyRef: ref('key') };
  expect(await check({ anthropic })).toMatchObject({ works: true, models: ['claude-1'] });
  expect(side.seen).toEqual(['GET /v1/models?limit=1000']);
});

test('a server without a list of models is asked a question that lacks everything', async () => {
  side.handle((request, response) => {
    if (request.method === 'GET') sendJson(response, 404, {});
    else if (request.headers.authorization === `Bearer ${KEY}`) sendJson(response, 400, {});
    else sendJson(response, 401, { error: { message: 'no such key' } });
  });
  expect(await check(openai(side.url))).toMatchObject({ works: true });
  expect(side.seen).toEqual(['GET /models', 'POST /chat/completions']);
  expect(await check(openai(side.url), { key: 'wrong-key' })).toMatchObject(WRONG);
});

test('an address at which there is nothing of a model is reported as such', async () => {
  side.answer(404, {});
  const result = await check(openai(side.url));
  expect(result).toMatchObject({ works: false, reason: 'Unreachable' });
  expect(result.message).toContain('baseURL must be complete');
});

test('a server that asks to wait says for how long', async () => {
  side.answer(429, {}, { 'retry-after': '120' });
  const expected = { works: false, reason: 'Unreachable', retryAfterMs: 120_000 };
  expect(await check(openai(side.url))).toMatchObject(expected);
});

test('a key that no header can hold is Rejected, and not sent', async () => {
  expect(await check(openai(side.url), { key: 'with a\nbreak' })).toMatchObject(WRONG);
  expect(side.seen).toEqual([]);
});

test('a secret that is empty is reported as a missing key', async () => {
  const { StepError } = await import('../api/reasons.ts');
  const access = {
    ...accessTo(openai(side.url), {}),
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
  http: {
    bearer: { tokenRef: ref('token') },
    ...(checkURL !== undefined && { checkURL, allowedHosts: [new URL(checkURL).origin] }),
  },
});

test('an HTTP credential is tried at its checkURL, and cannot be without', async () => {
  side.handle((request, response) =>
    sendJson(response, request.headers.authorization === `Bearer ${KEY}` ? 204 : 403, {}),
  );
  expect(await check(bearer(`${side.url}/me`))).toMatchObject({ works: true });
  expect(await check(bearer(`${side.url}/me`), { token: 'other' })).toMatchObject(WRONG);
  expect(side.seen).toEqual(['GET /me', 'GET /me']);
  expect([canBeChecked(bearer()), canBeChecked(bearer(side.url))]).toEqual([false, true]);
});

test.each([[[]], [['api.example.com']], [['127.0.0.1']], [['*']]])(
  'an HTTP credential is not sent to a checkURL that its allowedHosts leave out: %j',
  async (allowedHosts) => {
    const { http } = bearer(`${side.url}/me`);
    const result = await check({ http: { ...http, allowedHosts } });
    expect(result).toMatchObject(WRONG);
    expect(result.message).toContain(`add "${side.url}" to its spec.http.allowedHosts`);
    expect(side.seen).toEqual([]);
  },
);

test('an HTTP credential is not sent on by a redirect', async () => {
  side.answer(302, {}, { location: `${side.url}/elsewhere` });
  await check(bearer(`${side.url}/me`));
  expect(side.seen).toEqual(['GET /me']);
});

test('what a credential lacks is reported as a missing scope', async () => {
  side.answer(403, {}, { 'www-authenticate': 'Bearer realm="x", error="insufficient_scope", scope="read"' });
  expect(await check(bearer(side.url))).toMatchObject({ works: false, reason: 'MissingScope' });
});

test.each([
  ['as it is', (key: string) => key],
  ['in base64', (key: string) => Buffer.from(`user:${key}`).toString('base64')],
  ['in a URL', (key: string) => encodeURIComponent(key)],
])('a secret that a server repeats %s is masked', async (_how, repeat) => {
  side.answer(401, { error: { message: `no such key: ${repeat(KEY)}` } });
  const said = JSON.stringify([
    await check(openai(side.url)),
    await check(bearer(side.url)),
    await check({ bot: { platform: 'telegram', tokenRef: ref('token'), apiURL: side.url } }),
  ]);
  expect(said).toContain('no such key');
  expect(said).not.toContain(repeat(KEY).slice(8, 20));
});

test('an address that nothing may connect to is told with what admits it', async () => {
  const nowhere = createEgress(parseEgressRules([], []));
  const result = await check(openai(side.url), {}, nowhere);
  expect(result).toMatchObject({ works: false, reason: 'Unreachable' });
  expect(result.message).toContain('runner.egress.allow');
  expect(side.seen).toEqual([]);
});

test('a server that says nothing is Unreachable when the time is over', async () => {
  const access = accessTo(openai(`http://127.0.0.1:${silentPort}`), {});
  expect(await resultOf(checkOpenai, access, { egress: localEgress, signal }, 50)).toEqual({
    works: false,
    reason: 'Unreachable',
    message: 'the provider did not answer within 0.05 s',
  });
});

test('a body without an end is left off', async () => {
  side.handle((_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more).writeHead(200);
    more();
  });
  expect(await check(openai(side.url))).toMatchObject({ works: false, reason: 'Unreachable' });
});
