/** Test runs from the editor: those of the chat panel, a conversation, and those of a version just saved. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunView } from '../../../api/runView.ts';
import { servedState } from '../../../console/editor/run/served.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import { flawsOf } from '../../support/console/axe.ts';
import { canvasOpened } from '../../support/console/steps.ts';
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
  page.setDefaultTimeout(30_000);
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

async function testRun(): Promise<RunView> {
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
    const { phase, nodes } = await testRun();
    expect(phase).toBe('Succeeded');
    expect(nodes.find(({ id }) => id === 'calc')?.output?.data_content).toEqual({ value });
  }
});
