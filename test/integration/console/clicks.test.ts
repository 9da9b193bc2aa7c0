/**
 * How many clicks common work takes. Fields that follow one another in a form are reached with the Tab key;
 * everything else is clicked.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import {
  EDITOR,
  MAIL_ACCOUNT,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';
import { tabToElement } from '../../support/console/canvasSteps.ts';
import { addAfter, createWorkflow, panelOf } from '../../support/console/steps.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let page: Page;
let clicks = 0;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  visitor = await visit(browser, { viewport: { width: 1_440, height: 900 } });
  ({ page } = visitor);
  page.setDefaultTimeout(40_000);
  await page.exposeFunction('countClick', () => (clicks += 1));
  await page.addInitScript(`addEventListener('pointerdown', () => countClick(), { capture: true })`);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
  await page.goto(new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

/** Goes on with the Tab key to a field of the form, and writes. */
async function type(form: Locator, label: string, text: string): Promise<void> {
  const field = form.getByRole('textbox', { name: label }).or(form.getByRole('combobox', { name: label }));
  await tabToElement(page, field.first());
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

async function createCredentialOfNode(fields: Record<string, string>, kind?: RegExp): Promise<void> {
  await panelOf(page).getByRole('button', { name: 'New credential…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New credential' });
  if (kind) await dialog.getByRole('button', { name: kind }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
  for (const [label, text] of Object.entries(fields)) await type(dialog, label, text);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}

test('webhook, agent, mail and response with two new credentials take at most 18 clicks', async () => {
  await createWorkflow(page, 'Orders', /^Webhook/);
  await addAfter(page, 'trigger', 'Agent');
  const model = { 'Base URL': system.model.baseURL, 'API key': 'demo-key' };
  await createCredentialOfNode(model, /^OpenAI or compatible/);
  await type(panelOf(page), 'Model', 'demo');
  await type(panelOf(page), 'Prompt', 'Confirm the order');
  await addAfter(page, 'agent_1', 'Send email');
  await createCredentialOfNode({
    Host: '127.0.0.1',
    Port: String(system.mail.smtpPort),
    Username: MAIL_ACCOUNT.username,
    Password: MAIL_ACCOUNT.password,
    From: 'orders@example.com',
  });
  await type(panelOf(page), 'To', 'ada@example.com');
  await type(panelOf(page), 'Subject', 'Your order');
  await type(panelOf(page), 'Body', 'Thank you');
  await addAfter(page, 'send_email', 'Response');
  expect(clicks).toBeLessThanOrEqual(18);
}, 150_000);

test('a branch with a condition takes at most 6 clicks', async () => {
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await page.getByRole('button', { name: 'Fit the workflow (1)' }).click();
  clicks = 0;
  await addAfter(page, 'trigger', 'Response');
  await page.locator('.react-flow__edge[data-id^="trigger>reply"]').click({ force: true });
  const panel = page.getByRole('complementary', { name: 'Connection' });
  await panel
    .getByRole('textbox', { name: 'Field' })
    .or(panel.getByRole('combobox', { name: 'Field' }))
    .click();
  await page.keyboard.insertText('total');
  await page.keyboard.press('Tab');
  await panel
    .getByRole('combobox', { name: 'Operator' })
    .or(panel.getByRole('textbox', { name: 'Operator' }))
    .click();
  await page.getByRole('option', { name: 'is greater than', exact: true }).click();
  await type(panel, 'Value', '100');
  await panel
    .getByText(/data_content\.total > 100/)
    .first()
    .waitFor();
  expect(clicks).toBeLessThanOrEqual(6);
});
