/** A chat whose agent remembers, with tools and alternative waits, and what the console shows of it. */
import type { Page } from 'playwright-core';
import { workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { sendMessage, wholeStream } from '../gateway/chatHarness.ts';
import { pollUntil } from '../time/poll.ts';
import type { ConsoleSystem } from './consoleSystem.ts';
import type { View } from './dialogs.ts';
import { manifestOf, object } from './filledProject.ts';
import { canvasOpened, panelOf } from './steps.ts';

const WORKFLOW = 'helpdesk';
/** A test run whose key nobody would choose. */
export const LONG_KEY = `chat-${'0123456789'.repeat(20)}`;
const QUESTION = 'Where is my order A-1001?';
const CALL = 'call find_article {"input":{"article":"lamp"}}';

const parts = [
  object('Workflow', 'article', {
    displayName: 'Find an article',
    description: 'Finds an article of the shop.',
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'found', skill: { name: 'set', parameters: { values: { stock: '3' } } } },
    ],
  }),
  object('Workflow', WORKFLOW, {
    displayName: 'Help desk',
    active: true,
    budget: { day: { tokens: 1_000_000 } },
    nodes: [
      { id: 'trigger', chat: { title: 'Help desk', access: 'Public', suggestions: [QUESTION] } },
      {
        id: 'support',
        agent: {
          credential: 'model',
          model: 'demo',
          systemPrompt: 'You answer questions about orders.',
          prompt: "{{ $('trigger').text_content }}",
          tools: [
            { name: 'find_article', workflow: 'article' },
            { name: 'find_order', skill: 'http_request', parameters: { url: 'http://127.0.0.1:9/orders' } },
          ],
          memory: { key: "{{ $('trigger').data_content.session }}" },
        },
      },
    ],
  }),
  object('Workflow', 'approval', {
    displayName: 'Approval',
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'approved', wait: { callback: { timeout: '14d' } } },
      { id: 'due', wait: { until: '2026-05-01T08:00:00Z' } },
      { id: 'later', wait: { duration: '10m' } },
    ],
  }),
];

/** Adds the workflows, and waits until the chat has answered live and in test runs. */
export async function addMemories(system: ConsoleSystem, namespace: string): Promise<void> {
  const { harness } = system;
  await system.apply(namespace, manifestOf(parts));
  for (const name of ['article', WORKFLOW, 'approval'])
    await harness.waitFor(namespace, name, { type: 'Ready', status: 'True' }, 90_000);
  const url = (await harness.client.get(workflows, { namespace, name: WORKFLOW })).status?.url ?? '';
  await wholeStream(await sendMessage(url, { message: QUESTION, id: '1' }));
  const runs = [`${QUESTION}\n${CALL}`, 'And the second one?'].map((text, at) => ({
    name: `asked-${at}`,
    text,
  }));
  for (const { name, text } of runs) {
    const data_content = { session: LONG_KEY, message: text, id: name };
    await harness.client.create(workflowRuns, {
      metadata: { name, namespace },
      spec: { workflow: WORKFLOW, test: true, input: { text_content: text, data_content } },
    });
    const ended = async () =>
      (await harness.client.get(workflowRuns, { namespace, name })).status?.phase === 'Succeeded';
    await pollUntil('the answer', ended, { timeoutMs: 60_000, everyMs: 100 });
  }
}

/** The open drawer. */
export const memoryOf = (page: Page) => page.getByRole('dialog', { name: 'Agent memory' });

export async function openMemory(page: Page): Promise<void> {
  await canvasOpened(page, 'support');
  await page.getByRole('button', { name: 'Agent memory' }).click();
  await memoryOf(page).getByTitle(LONG_KEY, { exact: true }).waitFor();
}

/** What the console shows of them, by the name of a picture. */
export function memoryViewsOf(project: string): (View & { name: string })[] {
  const base = `/console/p/${project}`;
  const path = `${base}/workflows/${WORKFLOW}`;
  const drawer = (page: Page) => memoryOf(page);
  return [
    { name: 'memory', what: 'the memory of an agent', path, open: openMemory },
    {
      name: 'memory-turns',
      what: 'the turns of a memory',
      path,
      open: async (page) => {
        await openMemory(page);
        await drawer(page).getByTitle(LONG_KEY, { exact: true }).click();
        await drawer(page).getByText('And the second one?').first().waitFor();
      },
    },
    {
      name: 'memory-delete',
      what: 'the deletion of a memory',
      path,
      open: async (page) => {
        await openMemory(page);
        await drawer(page)
          .getByRole('button', { name: `Delete ${LONG_KEY}` })
          .click();
        await page.getByRole('dialog', { name: 'Delete this memory?' }).waitFor();
      },
    },
    {
      name: 'model-use',
      what: 'what a run used of a model',
      path: `${base}/runs/asked-0?workflow=${WORKFLOW}`,
      open: (page) => page.getByText('Model use', { exact: true }).waitFor(),
    },
    {
      name: 'model-use-today',
      what: 'what models were used today',
      path: `${base}/overview`,
      open: (page) => page.getByText('Model use today (UTC)').waitFor(),
    },
    {
      name: 'tools',
      what: 'the tools of an agent',
      path: `${path}?node=support`,
      open: async (page) => {
        const heading = panelOf(page).getByText('Tools', { exact: true }).first();
        // What follows it is in the picture, too.
        await heading.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      },
    },
    {
      name: 'wait-callback',
      what: 'a wait for a call',
      path: `${base}/workflows/approval?node=approved`,
      open: (page) => panelOf(page).getByRole('tab').first().waitFor(),
    },
    {
      name: 'wait-until',
      what: 'a wait until a time',
      path: `${base}/workflows/approval?node=due`,
      open: (page) => panelOf(page).getByRole('tab').first().waitFor(),
    },
  ];
}
