/**
 * Test runs from the editor: those of the chat panel, a conversation, those of a version just saved, and
 * those with pinned outputs.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunView } from '../../../api/runView.ts';
import { servedState } from '../../../console/editor/run/served.ts';
import { drafts, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { flawsOf } from '../../support/console/axe.ts';
import {
  canvasOpened,
  nodeOf,
  openNode,
  openOutput,
  runEnded,
  testRun,
} from '../../support/console/steps.ts';
import { startChromium, startSession, visit } from '../../support/console/chromium.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { pollUntil } from '../../support/time/poll.ts';

const PROJECT = 'shop';
/** Of the version just saved. */
const NAME = 'calc';

let system: ConsoleSystem;
let browser: Browser;
let token: string;
beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

test('a message starts a test run, and its answer is shown in the panel', { timeout: 120_000 }, async () => {
  const metadata = { name: 'support' };
  const nodes = [
    { id: 'trigger', chat: { access: 'Public' } },
    { id: 'reply', response: { body: "You said: {{ $('trigger').text_content }}" } },
  ];
  await system.apply(
    PROJECT,
    stringify({
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Workflow',
      metadata,
      spec: { nodes, budget: { day: { tokens: 100_000 } } },
    }),
  );
  const visitor = await visit(browser);
  const { page } = visitor;
  page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, token);
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/support`, system.consoleURL).href);
  await canvasOpened(page, 'trigger');
  await page.getByRole('button', { name: 'Chat', exact: true }).click();
  const panel = page.getByRole('dialog', { name: 'Chat' });
  await panel.getByRole('textbox', { name: 'Message' }).fill('Where is it?');
  await page.keyboard.press('Enter');
  await panel.getByRole('log', { name: 'Conversation' }).getByText('You said: Where is it?').waitFor();
  await panel.getByRole('link', { name: /^support-/ }).waitFor();
  expect(await flawsOf(page)).toEqual([]);
  // A long conversation scrolls above the field.
  const message = panel.getByRole('textbox', { name: 'Message' });
  await message.fill(Array.from({ length: 60 }, (_, line) => `line ${line}`).join('\n'));
  await page.keyboard.press('Enter');
  await panel.getByText('You said: line 0').waitFor();
  const box = await message.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
  await visitor.close();
});

/** Saves the workflow, which is inactive, with another value. */
async function save(value: number): Promise<number> {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'calc', skill: { name: 'set', parameters: { values: { value: String(value) } } } },
  ];
  const manifest = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: NAME } };
  await system.apply(PROJECT, stringify({ ...manifest, spec: { nodes } }));
  const { metadata } = await system.harness.client.get(workflows, { namespace: PROJECT, name: NAME });
  return metadata.generation ?? 0;
}

/** Waits for what the console waits for. */
function served(generation: number): Promise<unknown> {
  return pollUntil(
    `generation ${generation} to be served`,
    async () => {
      const workflow = await system.harness.client.get(workflows, { namespace: PROJECT, name: NAME });
      return servedState(workflow, generation).kind === 'served';
    },
    { timeoutMs: 30_000, everyMs: 5 },
  );
}

async function startRun(): Promise<RunView> {
  const url = `${system.gateway.internalURL}/workflows/${PROJECT}.${NAME}/execute?test=true`;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, prefer: 'wait=30' },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as RunView;
}

test('a test run after a save executes the saved version as soon as it is served', async () => {
  for (let value = 1; value <= 8; value += 1) {
    await served(await save(value));
    const { phase, nodes } = await startRun();
    expect(phase).toBe('Succeeded');
    expect(nodes.find(({ id }) => id === 'calc')?.output?.data_content).toEqual({ value });
  }
});

/** Its second step fails each time. */
const failing = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'failing' },
  spec: {
    active: true,
    nodes: [
      { id: 'trigger', manual: { testData: { n: 4 } } },
      { id: 'make', code: { source: 'return { made: nodes.trigger.data_content.n + Math.random() };' } },
      {
        id: 'ask',
        skill: { name: 'http_request', parameters: { method: 'GET', url: 'http://127.0.0.1:9/' } },
      },
      {
        id: 'answer',
        skill: { name: 'set', parameters: { values: { status: 'nodes.ask.data_content.status' } } },
      },
    ],
  },
};

/** The newest run of the failing workflow. */
async function newestRun() {
  const { items } = await system.harness.client.list(workflowRuns, { namespace: PROJECT });
  const runs = items.filter(({ spec }) => spec.workflow === 'failing');
  return runs.toSorted((a, b) => (a.metadata.name < b.metadata.name ? 1 : -1))[0];
}

test('outputs of a failed run are pinned, one is written, and test runs use them', {
  timeout: 120_000,
}, async () => {
  await system.apply(PROJECT, stringify(failing));
  const visitor = await visit(browser);
  const { page } = visitor;
  page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, token);
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/failing`, system.consoleURL).href);
  await canvasOpened(page, 'ask');
  await testRun(page);
  expect(await runEnded(page)).toMatch(/^Failed at ask/);

  await page.getByRole('button', { name: 'Pin outputs' }).click();
  await page.getByText('Outputs pinned: trigger, make.').waitFor();
  await nodeOf(page, 'make').getByText(', pinned').waitFor({ state: 'attached' });
  const stored = () => system.harness.client.find(drafts, { namespace: PROJECT, name: 'failing' });
  const pinsOf = (body = '{}') => Object.keys((JSON.parse(body) as { pins?: object }).pins ?? {});
  await expect.poll(async () => pinsOf((await stored())?.spec.body)).toEqual(['trigger', 'make']);
  expect(await page.getByRole('status', { name: /^Unpublished changes/ }).count()).toBe(0);

  const panel = await openNode(page, 'ask');
  await openOutput(page);
  await panel.getByRole('button', { name: 'Pin an output…' }).click();
  const field = panel.getByRole('textbox', { name: 'Pinned output of ask' });
  await field.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"data_content": {"status": 20');
  await panel.getByText('Invalid JSON').waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"data_content": {"status": 204}}');
  expect(await flawsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await dialog.getByText('Pinned outputs are used instead of executing make, ask.').waitFor();
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  await expect.poll(async () => (await newestRun())?.status?.phase).toBe('Succeeded');
  const nodes = (await newestRun())?.status?.nodes ?? [];
  expect(nodes.find(({ id }) => id === 'answer')?.output?.data_content).toEqual({ status: 204 });

  await openNode(page, 'ask');
  await openOutput(page);
  await panel.getByRole('button', { name: 'Unpin' }).click();
  await panel.getByRole('button', { name: 'Run this node' }).click();
  const alone = page.getByRole('dialog', { name: 'Test run of ask only' });
  await alone.getByText('Nodes before ask are not executed').waitFor();
  await alone.getByRole('button', { name: 'Run this node' }).click();
  await alone.waitFor({ state: 'hidden' });
  await expect.poll(async () => (await newestRun())?.spec.until).toBe('ask');
  await expect.poll(async () => (await newestRun())?.status?.phase).toBe('Failed');
  const last = await newestRun();
  expect(last?.spec).toMatchObject({ mocks: [{ node: 'make' }], unmocked: 'Execute' });
  expect(last?.status?.nodes?.find(({ id }) => id === 'make')?.mocked).toBeDefined();
  const live = await system.harness.client.get(workflows, { namespace: PROJECT, name: 'failing' });
  expect(live.metadata.generation).toBe(1);
  await visitor.close();
});
