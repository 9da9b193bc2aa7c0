/**
 * Bots, spreadsheets and files on a real cluster: each event is one run with the output of its trigger, of a
 * workflow that was only applied. Switched off it starts none, and of what was set up for it nothing is left,
 * neither at the provider nor in the run store.
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, test, type ExpectStatic } from 'vitest';
import { botSecret } from '../../api/bot.ts';
import { keysOf } from '../../store/keys.ts';
import { forEachPage } from '../../store/scan.ts';
import { openRunStore } from '../support/installation/clusterRunStore.ts';
import { startDemoServer, stopDemoServer } from '../support/installation/demoServer.ts';
import { connectAsEditor } from '../support/installation/demoGoogle.ts';
import { demoNamespace, waitForReady } from '../support/installation/install.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { putInBucket } from '../support/installation/demoBucket.ts';
import { webhookAt, writeToBot, writtenByBots } from '../support/installation/demoTelegram.ts';
import { pollUntil } from '../support/time/poll.ts';
import type { Rows } from '../support/providers/google/sheet.ts';
import { tokenOf } from '../support/providers/telegram/telegramServer.ts';
import {
  apply,
  cluster,
  condition,
  createProject,
  cronJobsOf,
  gateway,
  kube,
  namesAt,
  recordedRuns,
  removeProject,
  send,
  workflowObject,
  type RecordedRun,
} from './environment.ts';
import {
  accounts,
  bot,
  BUCKET,
  files,
  secretOf,
  sheet,
  SIGNING_SECRET,
  telegramAccount,
} from './eventWorkflows.ts';

const SOON = { timeoutMs: 100_000, everyMs: 250 };
/** A bot's finalizer has a minute, and a namespace takes its time. */
const LONG = { timeoutMs: 200_000, everyMs: 500 };
/** Bots that nobody else on this cluster has. */
const BOT = Math.floor(Date.now() / 10);
const DOOMED_BOT = BOT + 1;

let project: string;
/** It is deleted as a whole. */
let doomed: string;

beforeAll(async () => {
  [project, doomed] = await Promise.all([createProject(), createProject()]);
  await Promise.all([
    writeRows([1, 'Old']),
    apply(doomed, secretOf(DOOMED_BOT), telegramAccount(), bot('telegram', true)),
    apply(project, secretOf(BOT), ...accounts(), telegram(true), bot('slack', true)),
    startDemoServer(cluster, { name: 'slack', program: 'slack-server', port: 3001, readyPath: '/' }),
  ]);
  const sheets = { cluster, gateway, namespace: project, credential: 'sheets' };
  await connectAsEditor(sheets, 'ada');
  const polled = ['one', 'other'].flatMap((name) => [
    sheet(`${name}-sheet`, true, project),
    files(`${name}-folder`, true, project),
  ]);
  await apply(project, ...polled);
});
afterAll(async () => {
  await stopDemoServer(cluster, 'slack');
  await removeProject(project);
});

type Named = { metadata: { uid: string } };
const telegram = (active: boolean) => bot('telegram', active, project);
const named = (name: string) => `workflows.windlass.dev/${name}`;

/** The table of somebody's spreadsheet, below its header. */
async function writeRows(...rows: Rows): Promise<void> {
  const input = JSON.stringify([['Number', 'Item'], ...rows]);
  const path = `/api/v1/namespaces/${demoNamespace}/services/google:http/proxy/spreadsheets/${project}`;
  await kube(['replace', '--raw', path, '-f', '-'], { input });
}

const writeFile = (name: string, text: string) => putInBucket(cluster, `${project}/${name}`, text);

const outputOf = ({ status }: RecordedRun) => status?.nodes?.[0]?.output;

/** The runs of the workflow, once there are those with these texts and no others, and all have ended. */
const runsOf = (workflow: string, texts: readonly string[]): Promise<RecordedRun[]> =>
  pollUntil(
    `runs of ${workflow}: ${texts.join(', ')}`,
    async () => {
      const runs = (await recordedRuns(project)).filter(({ spec }) => spec.workflow === workflow);
      const found = runs.map((run) => outputOf(run)?.text_content ?? '').toSorted();
      const isEnded = runs.every(({ status }) => status?.completionTime !== undefined);
      if (found.join() !== texts.toSorted().join()) throw new Error(`there are: ${found.join(', ')}`);
      return isEnded && runs;
    },
    SOON,
  );

/** The same of two workflows that watch one thing: each has seen it before it changes again. */
async function runsOfBoth(name: 'sheet' | 'folder', texts: readonly string[]): Promise<RecordedRun[]> {
  const [runs] = await Promise.all([runsOf(`one-${name}`, texts), runsOf(`other-${name}`, texts)]);
  return runs;
}

async function switchOff(workflow: object, name: string): Promise<void> {
  await apply(project, workflow);
  await condition(project, named(name), 'Active', { status: 'False' });
}

const registered = (namespace: string) =>
  condition(namespace, named('telegram'), 'TriggerHealthy', { status: 'True', reason: 'Registered' });
const webhookOf = (number: number) => webhookAt(cluster, tokenOf(number));

/** What a messaging service sends to the URL of a bot. */
const sendTo = (url: string, body: string, headers: Record<string, string>) =>
  send('POST', gateway.publicURL + new URL(url).pathname, body, {
    'content-type': 'application/json',
    ...headers,
  });

test.concurrent('a message at Telegram is one run, however often it is sent; without the workflow nothing is left at Telegram', async ({
  expect,
}) => {
  await waitForReady(cluster, 'telegram', project);
  const { url = '' } = (await workflowObject(project, 'telegram')).status ?? {};
  expect(await webhookOf(BOT)).toBe(url);
  const hello = { bot: BOT, text: 'Hello', update: 1 };
  for (const message of [hello, hello, { ...hello, text: 'Bye', update: 2 }])
    expect(await writeToBot(cluster, message)).toBe(200);
  const runs = await runsOf('telegram', ['Hello', 'Bye']);
  expect(runs.map(({ spec, status }) => [spec.trigger?.type, status?.phase])).toEqual([
    ['bot', 'Succeeded'],
    ['bot', 'Succeeded'],
  ]);
  const from = { first_name: 'Ada', username: 'ada' };
  expect(runs.map(outputOf)).toContainEqual({
    text_content: 'Hello',
    data_content: { chat_id: 1_001, from, message_type: 'text' },
  });
  const answers = (await writtenByBots(cluster)).filter(({ text }) => text.startsWith(project));
  expect(answers.map(({ chatId }) => chatId)).toEqual([1_001, 1_001]);

  const credential = 'credentials.windlass.dev/telegram';
  const { metadata } = await getJson<Named>(cluster, credential, '-n', project);
  await switchOff(telegram(false), 'telegram');
  await pollUntil('the webhook being deleted', async () => (await webhookOf(BOT)) === '', SOON);
  const secret = botSecret(tokenOf(BOT), metadata.uid);
  const late = await sendTo(url, '{"update_id":3}', { 'x-telegram-bot-api-secret-token': secret });
  expect(late.status).toBe(404);
  await apply(project, telegram(true));
  await registered(project);
  expect(await webhookOf(BOT)).toBe(url);
  await runsOf('telegram', ['Hello', 'Bye']);

  // Both at once, as one who takes a folder away; it ends when both are gone.
  const gone = ['delete', '-n', project, named('telegram'), credential, '--timeout=150s'];
  await kube(gone, { timeoutMs: 170_000 });
  expect(await webhookOf(BOT)).toBe('');
});

test.concurrent('a namespace that is deleted leaves nothing at Telegram', async ({ expect }) => {
  await registered(doomed);
  expect(await webhookOf(DOOMED_BOT)).toContain(doomed);
  await removeProject(doomed);
  const isGone = async () => !(await namesAt('/api/v1/namespaces')).includes(doomed);
  await pollUntil('the end of the namespace', isGone, LONG);
  expect(await webhookOf(DOOMED_BOT)).toBe('');
});

/** What Slack sends, signed. */
async function sendFromSlack(url: string, body: object, secret = SIGNING_SECRET) {
  const text = JSON.stringify(body);
  const at = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', secret).update(`v0:${at}:${text}`).digest('hex');
  return sendTo(url, text, {
    'x-slack-request-timestamp': String(at),
    'x-slack-signature': `v0=${signature}`,
  });
}

/** Ids of events and times of messages differ. */
const mention = (number: number, text: string) => {
  const message = { channel: 'C024BE91L', user: 'U061F7AUR', text, ts: `1355517523.00000${number}` };
  return {
    type: 'event_callback',
    event_id: `Ev${number}`,
    event: { type: 'app_mention', ...message },
  };
};

test.concurrent('a mention at Slack is one run, however often it is sent; switched off the workflow starts none', async ({
  expect,
}) => {
  await waitForReady(cluster, 'slack', project);
  const { url = '' } = (await workflowObject(project, 'slack')).status ?? {};
  const challenge = await sendFromSlack(url, { type: 'url_verification', challenge: 'prove it' });
  expect([challenge.status, challenge.text]).toEqual([200, 'prove it']);
  expect((await sendFromSlack(url, mention(1, 'Hello'), 'another secret')).status).toBe(401);
  for (const event of [mention(1, 'Hello'), mention(1, 'Hello'), mention(2, 'Bye')])
    expect((await sendFromSlack(url, event)).status).toBe(200);
  const runs = await runsOf('slack', ['Hello', 'Bye']);
  expect(new Set(runs.map(({ status }) => status?.phase))).toEqual(new Set(['Succeeded']));
  const from = { first_name: '', username: 'U061F7AUR' };
  expect(runs.map(outputOf)).toContainEqual({
    text_content: 'Hello',
    data_content: { chat_id: 'C024BE91L', from, message_type: 'app_mention' },
  });
  await switchOff(bot('slack', false), 'slack');
  expect((await sendFromSlack(url, mention(3, 'Late'))).status).toBe(404);
  await runsOf('slack', ['Hello', 'Bye']);
});

async function watchSheet(expect: ExpectStatic): Promise<void> {
  await writeRows([1, 'Old'], [2, 'Lamp']);
  const added = 'Row 3 of Sheet1 was added: Number: 2; Item: Lamp.';
  await runsOfBoth('sheet', [added]);
  await writeRows([2, 'Lantern']);
  const changed = '2 rows of Sheet1 changed: 1 updated, 1 removed.';
  const runs = await runsOfBoth('sheet', [added, changed]);
  const change = { sheet: 'Sheet1', values: null, previous: null };
  const [old, lamp, lantern] = [
    { Number: 1, Item: 'Old' },
    { Number: 2, Item: 'Lamp' },
    { Number: 2, Item: 'Lantern' },
  ];
  expect(runs.map((run) => outputOf(run)?.data_content)).toEqual(
    expect.arrayContaining([
      {
        spreadsheet_id: project,
        changes: [{ ...change, row: 3, event: 'added', values: lamp }],
        truncated: false,
      },
      {
        spreadsheet_id: project,
        changes: [
          { ...change, row: 2, event: 'updated', values: lantern, previous: lamp },
          { ...change, row: 2, event: 'removed', previous: old },
        ],
        truncated: false,
      },
    ]),
  );
  await switchOff(sheet('one-sheet', false, project), 'one-sheet');
  await writeRows([2, 'Lantern'], [3, 'Late']);
  await runsOf('other-sheet', [added, changed, 'Row 3 of Sheet1 was added: Number: 3; Item: Late.']);
  await switchOff(sheet('other-sheet', false, project), 'other-sheet');
  await runsOf('one-sheet', [added, changed]);
}

async function watchFolder(expect: ExpectStatic): Promise<void> {
  await writeFile('orders.csv', '1;Lamp');
  await runsOfBoth('folder', ['orders.csv']);
  await writeFile('orders.csv', '1;Lamp\n2;Lantern');
  await writeFile('more.csv', '3;Compass');
  const names = ['orders.csv', 'orders.csv', 'more.csv'];
  const runs = await runsOfBoth('folder', names);
  const outputs = runs.map((run) => outputOf(run)?.data_content);
  const id = `${project}/orders.csv`;
  const file = {
    id,
    name: 'orders.csv',
    mime_type: 'text/plain',
    modified_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    folder_id: `${project}/`,
    url: `http://s3.${demoNamespace}.svc:7070/${BUCKET}/${id}`,
  };
  expect(outputs).toContainEqual({ event: 'added', file: { ...file, size: 6 } });
  expect(outputs).toContainEqual({ event: 'modified', file: { ...file, size: 16 } });
  await switchOff(files('one-folder', false, project), 'one-folder');
  await writeFile('late.csv', '');
  await runsOf('other-folder', [...names, 'late.csv']);
  await switchOff(files('other-folder', false, project), 'other-folder');
  await runsOf('one-folder', names);
}

/** The kinds of keys that the run store has of the project. */
async function keptKinds(): Promise<Set<string>> {
  const { metadata } = await getJson<Named>(cluster, 'namespace', project);
  const { prefix } = keysOf(metadata.uid);
  const kinds = new Set<string>();
  const store = await openRunStore(cluster);
  await forEachPage(store.conn, `${prefix}*`, async (keys) => {
    for (const key of keys) kinds.add(key.slice(prefix.length).split(':')[0] ?? '');
  });
  await store.close();
  return kinds;
}

test.concurrent('changes of a spreadsheet and of a folder are one run each; when their workflows are switched off nothing is remembered', async ({
  expect,
}) => {
  const names = ['one-sheet', 'other-sheet', 'one-folder', 'other-folder'];
  await Promise.all(names.map((name) => waitForReady(cluster, name, project)));
  expect([...(await keptKinds())]).toEqual(expect.arrayContaining(['polls', 'poll', 'kept']));
  await Promise.all([watchSheet(expect), watchFolder(expect)]);
  await pollUntil('the end of the CronJob', async () => (await cronJobsOf(project)).length === 0, SOON);
  const kinds = await keptKinds();
  for (const kind of ['polls', 'poll', 'kept']) expect(kinds).not.toContain(kind);
});
