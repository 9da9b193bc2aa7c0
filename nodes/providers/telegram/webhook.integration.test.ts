import { afterEach, beforeEach, expect, test } from 'vitest';
import { botSecret, TELEGRAM_UPDATES } from '../../../api/bot.ts';
import {
  startTelegramServer,
  TELEGRAM_TOKEN,
  type TelegramServer,
} from '../../../test/support/providers/telegram/telegramServer.ts';
import { localEgress } from '../../../test/support/nodes/stepContext.ts';
import { resultOf } from '../../contract/check.ts';
import { Secret } from '../../contract/secret.ts';
import { registerWebhook, type DesiredWebhook } from './webhook.ts';

const URL = 'https://hooks.example.com/bot/shop.support';
const OTHER = 'https://other.example.com/secret-path';
const SECRET = botSecret(TELEGRAM_TOKEN, 'uid-1');

let telegram: TelegramServer;
beforeEach(async () => {
  telegram = await startTelegramServer();
});
afterEach(() => telegram.close());

const desired: DesiredWebhook = { uid: 'uid-1', url: URL, ours: [URL], wasSo: false, isFirst: false };
const gone: Partial<DesiredWebhook> = { wasSo: false };

function register(changes: Partial<DesiredWebhook> = {}, token = TELEGRAM_TOKEN, timeoutMs = 10_000) {
  const { url: _url, ...elsewhere } = desired;
  const webhook = changes === gone ? elsewhere : { ...desired, ...changes };
  const credential = {
    name: 'support',
    spec: { bot: { tokenRef: { name: 'bot', key: 'token' }, apiURL: telegram.url } },
    secret: () => new Secret(token),
  };
  const { signal } = new AbortController();
  return resultOf(
    (access, context) => registerWebhook(access, webhook, context),
    credential,
    { egress: localEgress, signal },
    timeoutMs,
  );
}

const methods = () => telegram.calls.map(({ method }) => method);
const asDesired = { url: URL, secretToken: SECRET, allowedUpdates: [...TELEGRAM_UPDATES] };

test('a bot is registered with our URL, the secret that the gateway knows, and the updates that are wanted', async () => {
  expect(await register()).toEqual({ works: true, url: URL });
  expect(telegram.webhook()).toMatchObject(asDesired);
});

test('what is as it should be is checked and left alone', async () => {
  await register();
  telegram.calls.length = 0;
  expect(await register({ wasSo: true })).toEqual({ works: true, url: URL });
  expect(methods()).toEqual(['getWebhookInfo']);
});

test('an unchecked webhook is registered again, since its secret cannot be read', async () => {
  telegram.register({ url: URL, secretToken: 'of-an-older-token', allowedUpdates: [...TELEGRAM_UPDATES] });
  expect(await register()).toEqual({ works: true, url: URL });
  expect(telegram.webhook()).toMatchObject(asDesired);
});

test.each<[string, Parameters<TelegramServer['register']>[0], string]>([
  ['elsewhere', { url: OTHER, secretToken: 'theirs' }, 'its updates were sent to other.example.com'],
  ['nowhere', { url: '', secretToken: undefined }, 'its updates were sent nowhere'],
  ['with other updates', { allowedUpdates: ['poll'] }, 'it was registered for other kinds of updates'],
])('a bot that somebody else registered %s is mended, and told', async (_how, change, mended) => {
  await register();
  telegram.register({ ...change, pending: [{ update_id: 1 }] });
  expect(await register({ wasSo: true })).toEqual({ works: true, url: URL, mended });
  expect(telegram.webhook()).toMatchObject({ ...asDesired, pending: [{ update_id: 1 }] });
});

test('a secret that somebody else registered is mended once updates are refused for it', async () => {
  await register();
  const lastError = {
    date: Date.now() / 1_000,
    message: 'Wrong response from the webhook: 401 Unauthorized',
  };
  telegram.register({ secretToken: 'theirs', pending: [{ update_id: 1 }], lastError });
  const mended = 'its updates came with another secret than ours';
  expect(await register({ wasSo: true })).toEqual({ works: true, url: URL, mended });
  expect(telegram.webhook()).toMatchObject(asDesired);
});

test('what Telegram could not deliver lately is told, and what was long ago is not', async () => {
  await register();
  const message = 'Wrong response from the webhook: 503 Service Unavailable';
  telegram.register({ pending: [{}], lastError: { date: Date.now() / 1_000, message } });
  expect(await register({ wasSo: true })).toEqual({ works: true, url: URL, undelivered: message });
  telegram.register({ lastError: { date: Date.now() / 1_000 - 3_600, message } });
  expect(await register({ wasSo: true })).toEqual({ works: true, url: URL });
});

test('what was written to a bot before it begins starts nothing, and what comes while it is being registered does', async () => {
  telegram.register({ pending: [{ update_id: 1 }] });
  await register({ isFirst: true });
  expect(telegram.webhook().pending).toEqual([]);
  telegram.register({ pending: [{ update_id: 2 }] });
  // As after a runner that was ended before it could answer.
  await register({ isFirst: true });
  expect(telegram.webhook().pending).toEqual([{ update_id: 2 }]);
});

test('a bot that is taken from somebody else is told the first time, without what their URL may hold', async () => {
  telegram.register({ url: OTHER });
  const result = await register({ isFirst: true });
  expect(result).toEqual({ works: true, url: URL, mended: 'its updates were sent to other.example.com' });
});

test('an address of ours of before is no news', async () => {
  const before = 'https://old.example.com/bot/shop.support';
  telegram.register({ url: before });
  expect(await register({ ours: [URL, before] })).toEqual({ works: true, url: URL });
});

test('a webhook of ours is deleted, and waiting updates stay', async () => {
  await register();
  telegram.register({ pending: [{ update_id: 1 }] });
  expect(await register(gone)).toEqual({ works: true });
  expect(telegram.webhook()).toMatchObject({ url: '', pending: [{ update_id: 1 }] });
  expect(await register(gone)).toEqual({ works: true });
});

test('a webhook of somebody else is not deleted', async () => {
  telegram.register({ url: OTHER });
  expect(await register(gone)).toEqual({ works: true });
  expect(telegram.webhook().url).toBe(OTHER);
});

test.each([
  ['unauthorized', { reason: 'Rejected', message: /refused the token with status 401: Unauthorized/ }],
  ['forbidden', { reason: 'Rejected', message: /status 403/ }],
  ['notFound', { reason: 'Rejected', message: /knows no bot with this token/ }],
  ['tooManyRequests', { reason: 'Unreachable', message: /limits the rate/, retryAfterMs: 17_000 }],
  ['unavailable', { reason: 'Unreachable', message: /status 502: Bad Gateway/ }],
  ['drop', { reason: 'Unreachable', message: /was lost/ }],
  ['hang', { reason: 'Unreachable', message: /did not answer within 0.5 s/ }],
  ['garbage', { reason: 'Unreachable', message: /status 200/ }],
] as const)('of %s the reason is told, and nothing is changed', async (fault, { message, ...wrong }) => {
  await register();
  telegram.setFault(fault);
  for (const changes of [{ wasSo: true }, gone]) {
    const result = await register(changes, TELEGRAM_TOKEN, fault === 'hang' ? 500 : 10_000);
    expect(result).toMatchObject({ works: false, ...wrong, message: expect.stringMatching(message) });
    expect(JSON.stringify(result)).not.toContain(TELEGRAM_TOKEN.slice(10));
  }
  telegram.setFault(undefined);
  expect(telegram.webhook()).toMatchObject(asDesired);
});

test('a URL that Telegram does not take is told in its words, with where it comes from', async () => {
  const result = await register({ url: 'http://hooks.example.com/bot/shop.support' });
  const message = expect.stringMatching(
    /: An HTTPS URL must be provided for webhook \(the URL was http:\/\/hooks.example.com\/bot\/shop.support, .*gateway\.public\.url/,
  );
  expect(result).toEqual({ works: false, reason: 'Rejected', message });
});

test('a token that is revoked is Rejected', async () => {
  const result = await register({}, TELEGRAM_TOKEN.replace('AAH', 'AAX'));
  expect(result).toMatchObject({ works: false, reason: 'Rejected' });
});
