/**
 * The examples of bots, spreadsheets, files, loops, callbacks and agents on a real cluster, applied as they
 * lie there: from the event to what comes of it.
 */
import { afterAll, beforeAll, test } from 'vitest';
import { addRow, connectAsEditor, rowsOf } from '../support/installation/demoGoogle.ts';
import { exampleFolder, waitForReady } from '../support/installation/install.ts';
import { putInBucket } from '../support/installation/demoBucket.ts';
import { writeToBot, writtenByBots } from '../support/installation/demoTelegram.ts';
import { pollUntil } from '../support/time/poll.ts';
import { checkEvaluation, checkMailTriage } from './agentExamples.ts';
import { cluster, createProject, gateway, kube, mailsTo, removeProject } from './environment.ts';

/** A poll each half minute, a minute and what a pod takes where one has just ended. */
const POLLED = { timeoutMs: 120_000, everyMs: 500 };
/** The first poll, that of the next minute, and a poll. */
const TEST_MS = 240_000;

const APPLIED = [
  'bot-answer',
  'row-mail',
  'file-rows',
  'newsletter',
  'poll-a-job',
  'long-job',
  'mail-triage',
  'refund-agent',
];

let project: string;
beforeAll(async () => {
  project = await createProject();
  // One after the other: they have accounts of the same name.
  for (const example of APPLIED) await kube(['apply', '-n', project, '-f', exampleFolder(example)]);
});
afterAll(() => removeProject(project));

/** Connects the account of a credential, as a person of its own. */
const connect = (credential: string) =>
  connectAsEditor({ cluster, gateway, namespace: project, credential }, `person-${credential}`);

const isReady = (example: string) => waitForReady(cluster, example, project);

test.concurrent(
  'examples/bot-answer answers a message into its chat',
  async ({ expect }) => {
    await isReady('bot-answer');
    const text = `Where is my lamp, ${project}?`;
    expect(await writeToBot(cluster, { text })).toBe(200);
    const answers = async () => (await writtenByBots(cluster)).filter((sent) => sent.text.includes(project));
    const [answer] = await pollUntil(
      'an answer of the bot',
      async () => {
        const all = await answers();
        return all.length > 0 && all;
      },
      POLLED,
    );
    expect(answer?.chatId).toBe(1_001);
  },
  TEST_MS,
);

test.concurrent(
  'examples/row-mail confirms a new row by mail',
  async ({ expect }) => {
    await connect('sheets');
    await isReady('row-mail');
    const customer = `${project}@example.com`;
    await addRow(cluster, 'orders', [project, 'Ada', customer, 'lamp', 2]);
    await pollUntil('a mail', async () => (await mailsTo(customer)).length > 0, POLLED);
    expect(await mailsTo(customer)).toEqual([
      expect.objectContaining({
        subject: `Your order ${project}`,
        text: expect.stringContaining('2 × lamp'),
      }),
    ]);
  },
  TEST_MS,
);

test.concurrent(
  'examples/file-rows writes a row for a new file',
  async ({ expect }) => {
    await connect('table');
    await isReady('file-rows');
    const file = `${project}.txt`;
    await putInBucket(cluster, `inbox/${file}`, 'Dear shop, the lamp has no bulb.\n');
    const written = async () => (await rowsOf(cluster, 'letters')).filter(([name]) => name === file);
    await pollUntil('a row', async () => (await written()).length > 0, POLLED);
    expect(await written()).toEqual([[file, 33, expect.stringContaining('the lamp has no bulb')]]);
  },
  TEST_MS,
);

/** Calls the webhook of an example, and returns the answer. */
async function callExample(example: string, path: string, body: object): Promise<unknown> {
  await isReady(example);
  const url = `${gateway.publicURL}/webhook/${project}.${example}/${path}`;
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

test.concurrent(
  'examples/newsletter sends one mail per subscriber, and says which failed',
  async ({ expect }) => {
    const names = [`ada-${project}`, 'refuse', `bob-${project}`];
    const subscribers = names.map((name) => ({ name, email: `${name}@example.com` }));
    const summary = await callExample('newsletter', 'newsletters', {
      subject: 'News',
      text: 'Lamps.',
      subscribers,
    });
    expect(summary).toEqual({ sent: 2, failed: [expect.any(String)] });
    for (const name of [`ada-${project}`, `bob-${project}`])
      expect(await mailsTo(`${name}@example.com`)).toEqual([expect.objectContaining({ subject: 'News' })]);
  },
  TEST_MS,
);

test.concurrent(
  'examples/poll-a-job asks until the job is done',
  async ({ expect }) => {
    const answer = await callExample('poll-a-job', 'jobs', { report: project });
    expect(answer).toMatchObject({ state: 'done', result: { report: project } });
  },
  TEST_MS,
);

test.concurrent(
  'examples/long-job waits for the call of an outside system',
  async ({ expect }) => {
    await isReady('long-job');
    const number = `J-${project}`;
    const hook = `${gateway.publicURL}/webhook/${project}.long-job/jobs`;
    const post = (url: string, body: object) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await post(hook, { number, what: 'a lamp' })).status).toBe(200);
    const sent = async () =>
      (await mailsTo('workshop@example.com')).find(({ subject }) => subject === `Job ${number}`);
    const { text } = await pollUntil('the mail to the workshop', sent, POLLED);
    const [, path = ''] = /(\/callback\/\S+)/.exec(text) ?? [];
    const url = `${gateway.publicURL}${path}`;
    expect((await fetch(url)).status).toBe(405);
    expect((await post(url, { result: 'one lamp' })).status).toBe(200);
    await pollUntil('the end of the run', async () => (await post(url, {})).status === 410, POLLED);
  },
  TEST_MS,
);

test.concurrent(
  'examples/mail-triage sorts mail: a mail that commands the model has no effect, and a wrong answer is repaired once',
  async ({ expect }) => {
    await isReady('mail-triage');
    await expect(checkMailTriage(project)).resolves.toBeUndefined();
  },
  TEST_MS,
);

test.concurrent(
  'examples/refund-agent is evaluated with two models, side by side',
  async ({ expect }) => {
    await expect(checkEvaluation(project)).resolves.toBeUndefined();
  },
  TEST_MS,
);
