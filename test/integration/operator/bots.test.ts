/**
 * From the manifests of a bot to what two gateways answer to its messages: one run for each, of one workflow,
 * from nobody but the service.
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { botSecret } from '../../../api/bot.ts';
import { WEBHOOKS } from '../../../api/webhookAuth.ts';
import { secrets } from '../../../kube/resource.ts';
import { credentials, webhookRoutes, workflows } from '../../../operator/shared/resources.ts';
import { readRun } from '../../../runs/read.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startWebhookHarness, type WebhookHarness } from '../../support/operator/webhookHarness.ts';

const TOKEN = '123456789:AAF-canary-token-of-a-bot';
const OTHER_TOKEN = '123456789:AAF-canary-token-that-came-later';
const SIGNING = '8f742231b10e8888abcd99yyyzzz85a5';
const WITHIN = { timeoutMs: 20_000, everyMs: 50 };

let webhooks: WebhookHarness;
let harness: OperatorHarness;

beforeAll(async () => {
  webhooks = await startWebhookHarness();
  ({ harness } = webhooks);
}, 600_000);
afterAll(() => webhooks?.stop());

const object = (kind: string, name: string, spec: object) =>
  stringify({ apiVersion: 'windlass.dev/v1alpha1', kind, metadata: { name }, spec });
const credential = (name: string, bot: object) =>
  object('Credential', name, { bot: { tokenRef: { name: 'hooks', key: 'token' }, ...bot } });
const workflow = (name: string, bot: object = {}, active = true) =>
  object('Workflow', name, { active, nodes: [{ id: 'trigger', bot: { credential: 'helper', ...bot } }] });

const routed = (namespace: string, name: string) =>
  harness.waitFor(namespace, name, { type: 'Routed', status: 'True' });

/** A project with a Telegram bot, and the secret that its messages show. */
async function withBot(token = TOKEN): Promise<{ namespace: string; secret: string }> {
  const namespace = await webhooks.project({ token, signing: SIGNING });
  await harness.apply(namespace, credential('helper', {}));
  const { metadata } = await harness.client.get(credentials, { namespace, name: 'helper' });
  return { namespace, secret: botSecret(token, metadata.uid ?? '') };
}

type Answer = { status: number; run?: string };

/** What each replica answers, one after the other. */
async function send(bot: string, body: string, headers: Record<string, string>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const { publicURL } of webhooks.gateways) {
    const answer = await fetch(`${publicURL}/bot/${bot}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    const { run } = (await answer.json()) as { run?: string };
    answers.push({ status: answer.status, ...(run !== undefined && { run }) });
  }
  return answers;
}

const showing = (secret: string) => ({ 'x-telegram-bot-api-secret-token': secret });
const update = (id: number, text = 'Hello') =>
  JSON.stringify({
    update_id: id,
    message: {
      message_id: id,
      date: 1,
      chat: { id: -100123, type: 'group', title: 'Team' },
      from: { id: 7, first_name: 'Ada', username: 'ada' },
      text,
    },
  });

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);
const stop = (namespace: string, name: string) =>
  harness.client.patch(workflows, { namespace, name }, { spec: { active: false } }, { type: 'merge' });

test('a message is one run, with the output of the trigger, whichever replicas get it and however often', async () => {
  const { namespace, secret } = await withBot();
  await harness.apply(namespace, workflow('answers'));
  const { status } = await routed(namespace, 'answers');
  expect(status?.url).toBe(`https://hooks.example.com/bot/${namespace}.helper`);
  const bot = `${namespace}.helper`;
  const [first, second] = await send(bot, update(1), showing(secret));
  expect(first).toEqual({ status: 200, run: expect.stringMatching(/^answers-/) });
  expect(second).toEqual(first);
  // Whatever else an update holds that came before, it is that update.
  expect(await send(bot, update(1, 'Hello again'), showing(secret))).toEqual([first, first]);
  const [next] = await send(bot, update(2), showing(secret));
  expect(next?.run).not.toBe(first?.run);
  const route = await harness.client.get(webhookRoutes, { namespace, name: 'answers' });
  const found = await readRun(harness.conn, route.spec.projectUID, first?.run ?? '');
  expect(found).toMatchObject({ trigger: 'bot', test: false });
  expect(JSON.parse((found as { input: string }).input)).toEqual({
    text_content: 'Hello',
    data_content: { chat_id: -100123, from: { first_name: 'Ada', username: 'ada' }, message_type: 'text' },
  });
});

test('nobody gets in but who shows the secret, and the token is nowhere but in its Secret', async () => {
  const { namespace, secret } = await withBot();
  await harness.apply(namespace, workflow('guarded'));
  await routed(namespace, 'guarded');
  const bot = `${namespace}.helper`;
  for (const other of [TOKEN, `${secret}x`, secret.slice(1), botSecret(TOKEN, 'another-credential')])
    expect(statuses(await send(bot, update(1), showing(other)))).toEqual([401, 401]);
  expect(statuses(await send(bot, update(1), {}))).toEqual([401, 401]);
  expect(statuses(await send(bot, update(1), showing(secret)))).toEqual([200, 200]);
  const { data = {} } = await harness.client.get(secrets, { namespace, name: WEBHOOKS });
  const handed = Object.values(data).map((value) => Buffer.from(value, 'base64').toString());
  expect(handed.map((text) => JSON.parse(text) as string[]).flat()).toEqual([
    Buffer.from(secret).toString('base64'),
  ]);
  const shown = [await webhooks.shown(), ...handed].join('\n');
  for (const hidden of ['canary', Buffer.from(TOKEN).toString('base64')]) expect(shown).not.toContain(hidden);
  expect(await webhooks.shown()).not.toContain(secret);
});

test('a second workflow is told which one has the bot, and takes over at the same URL when that one releases it', async () => {
  const { namespace, secret } = await withBot();
  const bot = `${namespace}.helper`;
  await harness.apply(namespace, workflow('first'));
  await routed(namespace, 'first');
  await harness.apply(namespace, workflow('second'));
  const taken = { type: 'Routed', status: 'False', reason: 'BotTaken' };
  await harness.waitFor(namespace, 'second', taken);
  const { status } = await harness.waitFor(namespace, 'second', { ...taken, type: 'Ready' });
  const said = status?.conditions.find(({ type }) => type === 'Ready');
  expect(said?.message).toMatch(/Credential helper .* workflow first\b/);
  expect(status?.url).toBeUndefined();
  const [before] = await send(bot, update(1), showing(secret));
  expect(before?.run).toMatch(/^first-/);
  // The operator that comes next finds the same.
  await harness.stopOperator();
  harness.startOperator();
  await harness.apply(namespace, workflow('third'));
  expect((await harness.waitFor(namespace, 'third', taken)).metadata.name).toBe('third');
  await harness.client.delete(workflows, { namespace, name: 'third' });
  await stop(namespace, 'first');
  await routed(namespace, 'second');
  const [after] = await send(bot, update(2), showing(secret));
  expect(after?.run).toMatch(/^second-/);
});

test('two Credentials with the token of one bot are one bot, which has one workflow', async () => {
  const { namespace } = await withBot();
  await harness.apply(namespace, workflow('first'));
  await routed(namespace, 'first');
  await harness.apply(namespace, credential('copy', {}));
  await harness.apply(namespace, workflow('second', { credential: 'copy' }));
  const taken = { type: 'Routed', status: 'False', reason: 'BotTaken' };
  const { status } = await harness.waitFor(namespace, 'second', taken);
  const said = status?.conditions.find(({ type }) => type === 'Routed');
  expect(said?.message).toMatch(/Credential copy .* workflow first\b/);
  await stop(namespace, 'first');
  await routed(namespace, 'second');
});

test('switched off, and without its Credential, a bot takes no messages, and nothing of its secret is left', async () => {
  const { namespace, secret } = await withBot();
  const bot = `${namespace}.helper`;
  await harness.apply(namespace, workflow('ends'));
  await routed(namespace, 'ends');
  await harness.client.delete(credentials, { namespace, name: 'helper' });
  await pollUntil(
    'the route being closed',
    async () => statuses(await send(bot, update(1), showing(secret))).every((status) => status === 404),
    WITHIN,
  );
  expect(await webhooks.entriesIn(namespace)).toBeUndefined();
  await harness.apply(namespace, credential('helper', {}));
  const { metadata } = await harness.client.get(credentials, { namespace, name: 'helper' });
  const renewed = botSecret(TOKEN, metadata.uid ?? '');
  await pollUntil(
    'the bot being back, with another secret',
    async () => statuses(await send(bot, update(1), showing(renewed))).every((status) => status === 200),
    WITHIN,
  );
  expect(statuses(await send(bot, update(1), showing(secret)))).toEqual([401, 401]);
  await stop(namespace, 'ends');
  await pollUntil(
    'nothing being served',
    async () => statuses(await send(bot, update(1), showing(renewed))).every((status) => status === 404),
    WITHIN,
  );
  expect(await webhooks.entriesIn(namespace)).toBeUndefined();
});

test('with another token in the Secret, the old secret is refused once the workflow was reconciled', async () => {
  const { namespace, secret } = await withBot();
  const bot = `${namespace}.helper`;
  await harness.apply(namespace, workflow('rotated'));
  await routed(namespace, 'rotated');
  await webhooks.putSecret(namespace, { token: OTHER_TOKEN });
  await harness.client.patch(
    workflows,
    { namespace, name: 'rotated' },
    { metadata: { annotations: { 'example.com/looked': '1' } } },
    { type: 'merge' },
  );
  const { metadata } = await harness.client.get(credentials, { namespace, name: 'helper' });
  const renewed = botSecret(OTHER_TOKEN, metadata.uid ?? '');
  await pollUntil(
    'the new secret being taken up',
    async () => statuses(await send(bot, update(1), showing(renewed))).every((status) => status === 200),
    WITHIN,
  );
  expect(statuses(await send(bot, update(2), showing(secret)))).toEqual([401, 401]);
});

const slack = { platform: 'slack', signingSecretRef: { name: 'hooks', key: 'signing' } };
const signed = (body: string) => {
  const time = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', SIGNING).update(`v0:${time}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${signature}` };
};

test('what Slack signs is one run for each message, however often it is told of it, and its challenge is answered', async () => {
  const namespace = await webhooks.project({ token: 'xoxb-1', signing: SIGNING });
  await harness.apply(namespace, credential('helper', slack));
  await harness.apply(namespace, workflow('talks', { commands: ['deploy'] }));
  await routed(namespace, 'talks');
  const bot = `${namespace}.helper`;
  const challenge = JSON.stringify({ type: 'url_verification', challenge: '"3eZb"' });
  expect(await send(bot, challenge, signed(challenge))).toEqual([{ status: 200 }, { status: 200 }]);
  const message = (text: string, event: object = {}, id = 'Ev0PV52K21') =>
    JSON.stringify({
      type: 'event_callback',
      event_id: id,
      event: { type: 'app_mention', channel: 'C1', user: 'U1', ts: '1355517523.000005', text, ...event },
    });
  const other = message('<@U2> help');
  expect(await send(bot, other, signed(other))).toEqual([{ status: 200 }, { status: 200 }]);
  const wanted = message('<@U2> deploy');
  const [first, second] = await send(bot, wanted, signed(wanted));
  expect(first).toEqual({ status: 200, run: expect.stringMatching(/^talks-/) });
  expect(second).toEqual(first);
  const again = { 'x-slack-retry-num': '1', 'x-slack-retry-reason': 'http_timeout' };
  expect(await send(bot, wanted, { ...signed(wanted), ...again })).toEqual([first, first]);
  // Who subscribes to both gets two events for a mention in a channel.
  const twin = message('<@U2> deploy', { type: 'message', channel_type: 'channel' }, 'Ev0PV52K22');
  expect(await send(bot, twin, signed(twin))).toEqual([first, first]);
  const next = message('<@U2> deploy', { ts: '1355517523.000006' }, 'Ev0PV52K23');
  expect((await send(bot, next, signed(next)))[0]?.run).not.toBe(first?.run);
  expect(statuses(await send(bot, `${wanted} `, signed(wanted)))).toEqual([401, 401]);
});

test('a Slack bot without a signing secret, and a Secret without the key, let nobody in and say why', async () => {
  const { namespace, secret } = await withBot();
  const bot = `${namespace}.helper`;
  await harness.apply(namespace, credential('helper', { platform: 'slack' }));
  await harness.apply(namespace, workflow('unsigned'));
  const missing = { type: 'Active', status: 'False', reason: 'KeyMissing' };
  const { status } = await harness.waitFor(namespace, 'unsigned', missing);
  const said = status?.conditions.find(({ type }) => type === 'CredentialsReady');
  expect(said?.message).toContain('signingSecretRef');
  const closed = async () =>
    statuses(await send(bot, update(1), showing(secret))).every((status) => status === 503);
  await pollUntil('messages being refused', closed, WITHIN);
  await webhooks.putSecret(namespace, { other: 'x' });
  await harness.apply(namespace, credential('helper', slack));
  await pollUntil(
    'the Secret key being missed',
    async () => {
      const { status } = await harness.client.get(workflows, { namespace, name: 'unsigned' });
      const ready = status?.conditions.find(({ type }) => type === 'CredentialsReady');
      return ready?.status === 'False' && /Secret hooks.*signing/.test(ready.message);
    },
    WITHIN,
  );
  expect(await closed()).toBe(true);
});
