/**
 * The conversation of an agent: live while it works, and from the record afterwards. Withheld data is not
 * shown in either.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { supportWorkflow } from '../../support/console/agentViews.ts';
import { flawsOf } from '../../support/console/axe.ts';
import { tabToElement } from '../../support/console/canvasSteps.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { accountsOf, manifestOf } from '../../support/console/filledProject.ts';
import { chooseNode } from '../../support/console/loopViews.ts';
import { openNode, openOutput, panelOf, runEnded, testRun } from '../../support/console/steps.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { listen, type Listening } from '../../support/network/listen.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let shop: Listening;
/** Lets the tool answer. */
let answerNow = Promise.withResolvers<void>();
/** What somebody wrote into the order. */
let note = '';

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  await system.apply(PROJECT, manifestOf(accountsOf(system)));
  shop = await listen((request, response) => {
    request.resume();
    const order = JSON.stringify({ path: request.url, state: 'sent', mark: '<b>bold</b>', note });
    void answerNow.promise.then(() => response.setHeader('content-type', 'application/json').end(order));
  });
  visitor = await visit(browser);
  visitor.page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await shop?.close();
  await system?.stop();
});

/** Starts a test run of the agent on the canvas, and opens its output. */
async function started(spec: object = {}): Promise<Page> {
  const { page } = visitor;
  answerNow = Promise.withResolvers();
  const prompt = 'Where is it?\ncall find_order {"query":{"number":"A-1001"}}';
  await system.apply(PROJECT, manifestOf([supportWorkflow(`${shop.url}/orders`, prompt, spec)]));
  await system.harness.waitFor(PROJECT, 'support', { type: 'Valid', status: 'True' }, 90_000);
  await show(page, new URL(`/console/p/${PROJECT}/workflows/support`, system.consoleURL).href);
  await openNode(page, 'support');
  await openOutput(page);
  await testRun(page);
  return page;
}

test('a conversation grows while the agent works, and is the same in the record', async () => {
  const page = await started();
  const panel = panelOf(page);
  await panel.getByRole('status').getByText('Calling find_order…').waitFor();
  const call = panel.getByRole('button', { name: /^find_order/ });
  expect(await call.textContent()).toContain('running');
  await call.click();
  await panel.getByRole('group', { name: 'Arguments of find_order' }).waitFor();
  expect(await panel.getByRole('group', { name: 'Result of find_order' }).count()).toBe(0);
  await panel.getByText('1 answer · 1 tool call').waitFor();
  answerNow.resolve();
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  await panel.getByText('2 answers · 1 tool call').waitFor();
  // What was open stays open.
  const result = panel.getByRole('group', { name: 'Result of find_order' });
  await expect.poll(() => result.textContent()).toContain('"mark": "<b>bold</b>"');
  await panel.getByRole('group', { name: 'Answer of the model' }).waitFor();
  expect(await panel.getByRole('status').count()).toBe(0);

  await page.getByRole('link', { name: 'Run details' }).click();
  await chooseNode(page, 'support');
  const shown = page.getByRole('region', { name: 'Conversation', exact: true });
  await shown.getByText('2 answers · 1 tool call').waitFor();
  await shown.getByRole('button', { name: 'System prompt' }).click();
  await shown.getByRole('group', { name: 'System prompt' }).getByText('Find the order before').waitFor();
  await tabToElement(page, shown.getByRole('button', { name: /^find_order/ }));
  await page.keyboard.press('Enter');
  await shown.getByRole('group', { name: 'Result of find_order' }).waitFor();
  expect(await flawsOf(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test('a text that an attacker wrote loads nothing from elsewhere, and hides nothing in a conversation', async () => {
  note =
    '![x](http://127.0.0.1:9/?d=s) <img src="http://127.0.0.1:9/"> \u202E001 \u{e0048}\u{e0069} \u001b[2J';
  const page = await started();
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith('http://127.0.0.1:9/')) elsewhere.push(request.url());
  });
  answerNow.resolve();
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  const panel = panelOf(page);
  await panel.getByRole('button', { name: /^find_order/ }).click();
  for (const name of ['Result of find_order', 'Answer of the model']) {
    const shown = panel.getByRole('group', { name });
    await expect.poll(() => shown.textContent()).toContain('![x](http://127.0.0.1:9/?d=s) <img src=');
    expect(await shown.textContent()).toContain('[U+202E]001 [U+E0048][U+E0069]');
    expect(await shown.locator('img, a').count()).toBe(0);
  }
  expect(elsewhere).toEqual([]);
  expect(visitor.complaints).toEqual([]);
  note = '';
});

test('a conversation that the workflow does not record is not shown, neither live nor afterwards', async () => {
  const page = await started({ recordData: 'None' });
  const panel = panelOf(page);
  await panel
    .getByText(/^Not recorded/)
    .first()
    .waitFor();
  answerNow.resolve();
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  await panel
    .getByText(/^Not recorded/)
    .first()
    .waitFor();
  expect(await panel.getByText('A-1001').count()).toBe(0);
});
