/**
 * The webhooks of Telegram's bots: operator and runner with a real API server and run store, and a server
 * that speaks Telegram's wire format. Registered while a workflow has the bot, mended where somebody else has
 * changed it, deleted with the workflow and with the Credential, which goes whatever Telegram says.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { botSecret, BOT_FINALIZER } from '../../../api/bot.ts';
import { events, namespaces, secrets } from '../../../kube/resource.ts';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import { keysOf } from '../../../store/keys.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRunnerProgram, type RunnerProgram } from '../../support/runner/runnerProgram.ts';
import {
  startTelegramServer,
  TELEGRAM_TOKEN,
  type TelegramServer,
} from '../../support/providers/telegram/telegramServer.ts';
import { tokenOf, writeKubeconfig } from '../../support/cluster/users.ts';

const SOON = { timeoutMs: 30_000, everyMs: 50 };
const LONG = { timeout: 90_000 };
const THEIRS = 'https://other.example.com/secret-path';

let harness: OperatorHarness;
let namespace: string;
let project: string;
let runner: RunnerProgram;
const servers: TelegramServer[] = [];
/** A bot of its own for each test: two Credentials with one token are one bot. */
let bots = 1_000;

beforeAll(async () => {
  harness = await startOperatorHarness({
    triesCredentials: true,
    env: { RUNNER_EGRESS_ALLOW: '127.0.0.0/8' },
  });
  harness.startOperator();
  ({ namespace, uid: project } = await harness.createProject());
  await apply('Workflow', 'first', { active: true, nodes: [{ id: 'trigger', manual: {} }] });
  await harness.waitFor(namespace, 'first', { type: 'Ready', status: 'True' });
  const { data } = await harness.client.get(secrets, { namespace, name: 'windlass-runner' });
  const given = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString();
  const identity = await tokenOf(harness.client, namespace, 'windlass-runner');
  runner = await startRunnerProgram({
    kubeconfigPath: await writeKubeconfig(harness.server, 'runner', identity),
    redisURL: harness.redis.url,
    namespace,
    project,
    env: {
      EGRESS_ALLOW: '127.0.0.0/8',
      REDIS_USERNAME: given('username'),
      REDIS_PASSWORD: given('password'),
    },
  });
}, 600_000);

afterAll(async () => {
  await runner?.stop('SIGKILL');
  await harness?.stop();
  await Promise.all(servers.map((server) => server.close()));
});

const manifestOf = (kind: string, name: string, spec: object) =>
  stringify({ apiVersion: 'windlass.dev/v1alpha1', kind, metadata: { name }, spec });
const apply = (kind: string, name: string, spec: object) =>
  harness.apply(namespace, manifestOf(kind, name, spec));

const nextToken = () => TELEGRAM_TOKEN.replace(/^\d+/, String((bots += 1)));
const putToken = (name: string, token: string) =>
  harness.apply(
    namespace,
    stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { token } }),
  );

/**
 * A bot with a Telegram of its own, and its Credential, by that name. `others` are the tokens of further bots
 * there.
 */
async function putBot(name: string, others: string[] = []) {
  const token = nextToken();
  const telegram = await startTelegramServer({ tokens: [token, ...others] });
  servers.push(telegram);
  await putToken(name, token);
  await apply('Credential', name, { bot: { tokenRef: { name, key: 'token' }, apiURL: telegram.url } });
  const webhook = () => telegram.webhook(token);
  return { telegram, webhook, token };
}

/** With a workflow that has it, by the same name; active and registered. */
async function startBot(name: string, others: string[] = []) {
  const bot = await putBot(name, others);
  await switchTo(name, true);
  await registered(name);
  return bot;
}

const switchTo = (name: string, active: boolean) =>
  apply('Workflow', name, { active, nodes: [{ id: 'trigger', bot: { credential: name } }] });
const registered = (name: string) =>
  harness.waitFor(namespace, name, { type: 'TriggerHealthy', status: 'True', reason: 'Registered' });
const find = (name: string) => harness.client.find(credentials, { namespace, name });
const urlOf = (name: string) => `https://hooks.example.com/bot/${namespace}.${name}`;

/** Has the operator read the Secret of a bot, as it does every few minutes. */
const touch = (name: string, { url }: TelegramServer) =>
  harness.client.patch(
    credentials,
    { namespace, name },
    { spec: { bot: { apiURL: `${url}/` } } },
    { type: 'merge' },
  );

const gone = (name: string) =>
  pollUntil(`Credential ${name} being gone`, async () => (await find(name)) === undefined, SOON);

/** What an Event about an object of that name says. */
const told = (reason: string, kind: string, name: string) =>
  pollUntil(
    `${kind} ${name} having an Event ${reason}`,
    async () => {
      const { items } = await harness.client.list(events, { namespace });
      const isAbout = ({ regarding }: (typeof items)[number]) =>
        regarding?.kind === kind && regarding.name === name;
      return items.find((event) => event.reason === reason && isAbout(event))?.note ?? false;
    },
    SOON,
  );

// One after the other alone would take minutes; what ends the project comes when all of these have ended.
describe('a bot of a project', () => {
  test.concurrent(
    'a bot is registered when its workflow is activated, and not any more when it is switched off',
    LONG,
    async ({ expect }) => {
      const { webhook, token } = await startBot('switched');
      const { metadata } = (await find('switched')) ?? {};
      expect(metadata?.finalizers).toEqual([BOT_FINALIZER]);
      expect(webhook()).toMatchObject({
        url: urlOf('switched'),
        secretToken: botSecret(token, metadata?.uid ?? ''),
        allowedUpdates: ['message', 'channel_post'],
      });
      await harness.waitFor(namespace, 'switched', { type: 'Ready', status: 'True', reason: 'Serving' });
      await switchTo('switched', false);
      const isReleased = async () => (await find('switched'))?.metadata.finalizers === undefined;
      await pollUntil('the mark being gone', isReleased, SOON);
      expect(webhook().url).toBe('');
      await switchTo('switched', true);
      const isBack = () => Promise.resolve(webhook().url === urlOf('switched'));
      await pollUntil('the webhook being back', isBack, SOON);
    },
  );

  test.concurrent(
    'what Telegram refuses is told by the workflow, and registered once it does not',
    LONG,
    async ({ expect }) => {
      const { telegram } = await startBot('refused');
      telegram.setFault('unavailable');
      await touch('refused', telegram);
      const expected = { type: 'TriggerHealthy', status: 'False', reason: 'Unreachable' };
      const { status } = await harness.waitFor(namespace, 'refused', expected);
      const said = status?.conditions.find(({ type }) => type === 'TriggerHealthy')?.message;
      expect(said).toMatch(/^The bot is not registered: .*status 502/);
      telegram.setFault(undefined);
      await registered('refused');
    },
  );

  test.concurrent(
    'with the token of another bot that one is registered, and of the bot before nothing is left',
    LONG,
    async ({ expect }) => {
      const other = nextToken();
      const { telegram, webhook } = await startBot('replaced', [other]);
      telegram.register({ pending: [{ update_id: 1 }] }, other);
      await putToken('replaced', other);
      await touch('replaced', telegram);
      const isThere = () => Promise.resolve(telegram.webhook(other).url === urlOf('replaced'));
      await pollUntil('the other bot being registered', isThere, SOON);
      await pollUntil('the bot before being released', () => Promise.resolve(webhook().url === ''), SOON);
      expect(telegram.webhook(other).pending).toEqual([]);
      await registered('replaced');
    },
  );

  test.concurrent(
    'with Credential, Secret and workflow deleted at once nothing is left at Telegram',
    LONG,
    async ({ expect }) => {
      const { webhook } = await startBot('deleted');
      const ref = { namespace, name: 'deleted' };
      await Promise.all([
        harness.client.delete(secrets, ref),
        harness.client.delete(credentials, ref),
        harness.client.delete(workflows, ref),
      ]);
      await gone('deleted');
      expect(webhook().url).toBe('');
    },
  );

  test.concurrent(
    'a Credential whose token is revoked goes all the same, and what could not be done is told',
    LONG,
    async ({ expect }) => {
      const { telegram } = await startBot('revoked');
      telegram.setFault('unauthorized');
      await harness.client.delete(credentials, { namespace, name: 'revoked' });
      await gone('revoked');
      expect(await told('NotUnregistered', 'Credential', 'revoked')).toMatch(
        /refused the token with status 401/,
      );
    },
  );

  test('a registration that somebody else changed is mended, and told in an Event', LONG, async () => {
    const { telegram, webhook, token } = await startBot('changed');
    const { metadata } = (await find('changed')) ?? {};
    telegram.register({ url: THEIRS, secretToken: 'theirs' }, token);
    // As if the time to check again had come; a new leader checks all.
    const key = keysOf(project).registration(metadata?.uid ?? '');
    await harness.conn.command('hset', key, 'answered', 0);
    await harness.stopOperator();
    harness.startOperator();
    for (const kind of ['Credential', 'Workflow'])
      expect(await told('RegistrationChanged', kind, 'changed')).toMatch(
        /were sent to other\.example\.com\./,
      );
    expect(webhook()).toMatchObject({ url: urlOf('changed') });
    expect(webhook().secretToken).not.toBe('theirs');
    await registered('changed');
  });

  test(
    'what was written to a bot before it begins starts nothing, also where an operator was ended between mark and question',
    LONG,
    async () => {
      const { telegram, webhook, token } = await putBot('marked');
      telegram.register({ pending: [{ update_id: 1 }] }, token);
      await harness.stopOperator();
      const marked = { metadata: { finalizers: [BOT_FINALIZER] } };
      await harness.client.patch(credentials, { namespace, name: 'marked' }, marked, { type: 'merge' });
      await switchTo('marked', true);
      harness.startOperator();
      await registered('marked');
      expect(webhook()).toMatchObject({ url: urlOf('marked'), pending: [] });
    },
  );

  test('a webhook of a bot whose token no runner has any more is told in an Event', LONG, async () => {
    const { webhook } = await startBot('lost');
    const { metadata } = (await find('lost')) ?? {};
    const key = keysOf(project).registration(metadata?.uid ?? '');
    // As after a runner that was ended: the bot that was registered is another one than that of the token.
    const result = { works: true, url: urlOf('lost'), bot: '999' };
    await harness.stopOperator();
    await harness.conn.command('hset', key, 'answer', JSON.stringify({ key: 'before', failures: 0, result }));
    harness.startOperator();
    expect(await told('NotUnregistered', 'Credential', 'lost')).toMatch(/no runner has its token/);
    expect(webhook().url).toBe(urlOf('lost'));
  });
});

test(
  'with its namespace a bot is deregistered by runners that leave before anything else is deleted',
  LONG,
  async () => {
    const { webhook } = await startBot('last');
    // What the namespace controller does at once, and goes on when they are gone.
    const leaving = runner.stop('SIGTERM');
    await Promise.all([harness.client.delete(namespaces, { name: namespace }), leaving]);
    expect(webhook().url).toBe('');
    const isReleased = async () => (await find('last'))?.metadata.finalizers === undefined;
    await pollUntil('the mark being gone', isReleased, SOON);
  },
);
