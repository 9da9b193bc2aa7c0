/**
 * `examples/support-agent` on a real cluster, applied as it lies there: a person on the page of the chat, a
 * program that sends messages, what the agent remembers, and the budget of the day.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newSessionToken } from '../../api/chat.ts';
import { readPath } from '../support/cluster/kubectl.ts';
import { chatEvents, chatURL, type ChatEvent } from '../support/installation/chatClient.ts';
import { addRow, connectAsEditor, rowsOf } from '../support/installation/demoGoogle.ts';
import { demoNamespace, exampleFolder, waitForReady } from '../support/installation/install.ts';
import { pollUntil } from '../support/time/poll.ts';
import { tokenOf, visitor } from './console.ts';
import {
  cluster,
  createProject,
  gateway,
  kube,
  mailsTo,
  recordedRuns,
  removeProject,
  send,
  type RecordedRun,
} from './environment.ts';

const WORKFLOW = 'support-agent';
const EDITOR = 'ada';
const MODEL_REQUESTS = `/api/v1/namespaces/${demoNamespace}/services/model:http/proxy/requests`;
const SOON = { timeoutMs: 100_000, everyMs: 250 };

let project: string;
/** Of the page. */
let url: string;
let orders = 0;
beforeAll(async () => {
  project = await createProject();
  await kube(['apply', '-n', project, '-f', exampleFolder(WORKFLOW)]);
  const asked = { cluster, gateway, namespace: project, credential: 'orders' };
  await connectAsEditor(asked, EDITOR);
  await waitForReady(cluster, WORKFLOW, project);
  url = await chatURL({ cluster, gateway, project }, WORKFLOW);
});
afterAll(() => removeProject(project));

/** Adds an order of that customer to the spreadsheet, which all projects share, and gives its number. */
async function order(email: string): Promise<string> {
  orders += 1;
  const number = `A-${Number.parseInt(project.slice(4), 16)}${orders}`;
  await addRow(cluster, 'shop-orders', [number, 'Desk lamp', 39, 'shipped', 'P-2001', email]);
  return number;
}

/** Sends a message as a program does; the whole stream of its answer. */
async function ask(session: string, message: string): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for await (const event of chatEvents(url, session, message)) events.push(event);
  return events;
}
const answerOf = async (session: string, message: string) => (await ask(session, message)).at(-1)?.data.text;

/** The record of the run that a message with that text started, once it has ended. */
function runOf(text: string): Promise<RecordedRun> {
  return pollUntil(
    `the record of "${text}"`,
    async () =>
      (await recordedRuns(project)).find(
        ({ spec, status }) => spec.input?.text_content === text && status?.completionTime,
      ),
    SOON,
  );
}

async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

test('a person asks for an order, then for a refund: the agent remembers the order, and the refund is a child run', async () => {
  const email = `${project}@example.com`;
  const number = await order(email);
  const [question, request] = [`Where is my order ${number}?`, `Please refund it. I am ${email}.`];
  const { page, complaints } = await visitor();
  await page.goto(url);
  const log = page.getByRole('log', { name: 'Conversation' });
  await write(page, question);
  await log.getByText('Its parcel P-2001 is in Hamburg and arrives tomorrow.').waitFor();
  await write(page, request);
  await log.getByText(`I have refunded 39 EUR for order ${number}.`).waitFor();
  expect(complaints).toEqual([]);

  const [first, second] = [await runOf(question), await runOf(request)];
  expect([first, second].map(toolsOf)).toEqual([
    [['find_order'], ['track_parcel']],
    [['refund', expect.any(String)]],
  ]);
  for (const { status } of [first, second]) {
    const { inputTokens = 0, outputTokens = 0 } =
      status?.nodes?.find(({ id }) => id === 'support')?.usage ?? {};
    expect([inputTokens > 0, outputTokens > 0]).toEqual([true, true]);
    expect(status?.usage).toMatchObject({ tokens: inputTokens + outputTokens });
  }
  const child = toolsOf(second)[0]?.[1];
  const refund = (await recordedRuns(project)).find(({ metadata }) => metadata.name === child);
  expect(refund).toMatchObject({
    spec: { workflow: 'refund', parent: { run: second.metadata.name, node: 'support' } },
    status: { phase: 'Succeeded' },
  });
  const row = (await rowsOf(cluster, 'shop-orders')).find(([each]) => each === number);
  expect(row?.[3]).toBe('refunded');
  expect(await mailsTo(email)).toEqual([
    expect.objectContaining({ subject: `Refund of your order ${number}` }),
  ]);
});

/** The tool calls of a run, each with the child run that it started. */
function toolsOf({ status }: RecordedRun): string[][] {
  const entries = status?.nodes?.flatMap(({ transcript }) => transcript?.entries ?? []) ?? [];
  return entries.flatMap(({ tool, run }) => (tool ? [[tool, ...(run ? [run] : [])]] : []));
}

test('a program gets the answer as a stream; its memory is listed, and after the deletion the agent does not know the order', async () => {
  const number = await order('grace@example.com');
  const session = newSessionToken();
  const events = await ask(session, `Where is my order ${number}?`);
  const texts = events.filter(({ event }) => event === 'text').map(({ data }) => data.text);
  expect(texts.length).toBeGreaterThan(1);
  // What has not been streamed when the run answers comes with the whole answer.
  const { event, data } = events.at(-1) ?? {};
  expect([event, data?.text?.startsWith(texts.join(''))]).toEqual(['done', true]);
  expect(data?.text).toMatch(/P-2001 is in Hamburg and arrives tomorrow\.$/);
  expect(await answerOf(session, 'And where is it now?')).toContain(number);

  const { spec } = await runOf('And where is it now?');
  const { session: key } = (spec.input?.data_content ?? {}) as { session?: string };
  const authorization = `Bearer ${await tokenOf(project, EDITOR)}`;
  const memories = `${gateway.internalURL}/workflows/${project}.${WORKFLOW}/memory`;
  const listed = await send('GET', `${memories}?contains=${key}`, undefined, { authorization });
  expect(JSON.parse(listed.text)).toMatchObject({ items: [{ name: 'support', key, turns: 2 }], total: 1 });
  const deleted = await send('DELETE', `${memories}/support/${key}`, undefined, { authorization });
  expect(deleted.status).toBe(204);
  expect(await answerOf(session, 'And where is it now?')).toContain('number of your order');
});

test('over the budget of the day a message fails with BudgetExceeded before the model is asked', async () => {
  const setDay = (tokens: number) => {
    const patch = JSON.stringify({ spec: { budget: { day: { tokens } } } });
    return kube(['patch', '-n', project, `workflows.windlass.dev/${WORKFLOW}`, '--type=merge', '-p', patch]);
  };
  onTestFinished(async () => void (await setDay(1_000_000)));
  await setDay(1_000);
  const message = await pollUntil(
    'a refused message',
    async () => {
      const text = `Is the shop open? ${Date.now()}`;
      const [answer] = await ask(newSessionToken(), text);
      return answer?.event === 'error' && text;
    },
    SOON,
  );
  const { status } = await runOf(message);
  expect(status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('BudgetExceeded') });
  expect(status?.nodes?.find(({ id }) => id === 'support')).toMatchObject({
    phase: 'Failed',
    reason: 'BudgetExceeded',
    message: expect.stringContaining('1000'),
  });
  expect(JSON.stringify(await readPath(cluster, MODEL_REQUESTS))).not.toContain(message);
});
