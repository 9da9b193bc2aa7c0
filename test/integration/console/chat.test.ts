/** The chat panel of the editor: a conversation of test runs. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { flawsOf } from '../../support/console/axe.ts';
import { canvasOpened } from '../../support/console/steps.ts';
import { signInAt, startChromium, visit } from '../../support/console/chromium.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
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
  await signInAt(page, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
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
