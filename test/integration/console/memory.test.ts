/** The memory of agents and what models were used, in the console. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { colorFlawsOf, flawsOf } from '../../support/console/axe.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import {
  EDITOR,
  READER,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';
import { accountsOf, manifestOf } from '../../support/console/filledProject.ts';
import {
  addMemories,
  LONG_KEY,
  memoryOf,
  memoryViewsOf,
  openMemory,
} from '../../support/console/memoryViews.ts';

const PROJECT = 'shop';
const CHAT = `/console/p/${PROJECT}/workflows/helpdesk`;

const RATES = { input: '1000', output: '1000', source: 'https://models.example', date: '2026-11-30' };
const PRICES = { currency: 'EUR', models: [{ model: 'demo', ...RATES }] };

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(PRICES), startChromium()]);
  await system.createProject(PROJECT);
  await system.apply(PROJECT, manifestOf(accountsOf(system)));
  await addMemories(system, PROJECT);
  visitor = await visit(browser, { viewport: { width: 390, height: 780 } });
  visitor.page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

const open = (page: Page, path: string) => show(page, new URL(path, system.consoleURL).href);
const keyIn = (page: Page, key: string) => memoryOf(page).getByTitle(key, { exact: true });

// The drawer of memories is in agentScreens.test.ts, at each width.
test.each(memoryViewsOf(PROJECT).slice(3))(
  '$what is accessible on a narrow screen, light and dark',
  async ({ path, open: openView }) => {
    const { page } = visitor;
    await page.emulateMedia({ colorScheme: 'light' });
    await open(page, path);
    await openView(page);
    expect(await flawsOf(page)).toEqual([]);
    const overflow = await page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);
    expect(overflow).toBe(0);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => colorFlawsOf(page), { timeout: 30_000 }).toEqual([]);
    expect(visitor.complaints).toEqual([]);
  },
);

test('a run and the Overview show the tokens that models used, and what they cost', async () => {
  const { page } = visitor;
  await open(page, `/console/p/${PROJECT}/runs/asked-0?workflow=helpdesk`);
  await page.getByText(/^Model use[1-9][\d,]* tokens.*, \d+\.\d+ EUR$/).waitFor();
  await open(page, `/console/p/${PROJECT}/overview`);
  const cost = page.getByText(/^\d+\.\d+ EUR$/).first();
  await cost.waitFor();
  const total = page.getByText(/^[1-9][\d,]* tokens\.$/);
  await total.waitFor();
  expect(await total.count()).toBe(1);
  // The card and the table have one answer: the only workflow that asked a model used all.
  const table = page.getByRole('region', { name: 'Model use today by workflow' });
  const [ofProject = ''] = (await total.innerText()).split(' ');
  await table.getByRole('cell', { name: ofProject, exact: true }).waitFor();
  await table.getByRole('cell', { name: await cost.innerText(), exact: true }).waitFor();
  expect(await table.getByText('Other workflows').count()).toBe(0);
});

test('where the model use cannot be read, the Overview says so', async () => {
  const { page } = visitor;
  const path = `**/projects/${PROJECT}/usage`;
  await page.route(path, (route) => route.fulfill({ status: 403, body: '' }));
  await page.goto(new URL(`/console/p/${PROJECT}/overview`, system.consoleURL).href);
  const failure = page.getByRole('alert').filter({ hasText: 'Could not load the model use' });
  await failure.waitFor();
  await page.unroute(path);
  await failure.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('region', { name: 'Model use today by workflow' }).waitFor();
  expect(await failure.count()).toBe(0);
});

test('a memory is found by its key, read turn by turn, and deleted after a confirmation', async () => {
  const { page } = visitor;
  await open(page, CHAT);
  await openMemory(page);
  await memoryOf(page).getByRole('textbox', { name: 'Search keys and first messages' }).fill('no such key');
  await memoryOf(page).getByText('No key or first message contains this text').waitFor();
  await memoryOf(page).getByRole('textbox', { name: 'Search keys and first messages' }).fill('find_article');
  await memoryOf(page)
    .getByText(/^Where is my order A-1001/)
    .waitFor();
  await keyIn(page, LONG_KEY).click();
  await memoryOf(page).getByRole('link', { name: 'asked-0' }).waitFor();
  await memoryOf(page)
    .getByText(/^find_article/)
    .waitFor();
  await memoryOf(page).getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this memory?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await memoryOf(page).getByRole('button', { name: 'All memories' }).click();
  await keyIn(page, LONG_KEY).waitFor();
  await memoryOf(page)
    .getByRole('button', { name: `Delete ${LONG_KEY}` })
    .click();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect.poll(() => keyIn(page, LONG_KEY).count()).toBe(0);
});

test('a reader sees memories and cannot delete them', async () => {
  const reader = await visit(browser);
  const { page } = reader;
  await startSession(reader.context, system.consoleURL, await system.tokenWith(PROJECT, 'reader', READER));
  await open(page, CHAT);
  await page.getByRole('button', { name: 'Agent memory' }).click();
  await memoryOf(page).getByRole('row').nth(1).waitFor();
  expect(
    await memoryOf(page)
      .getByRole('button', { name: /^Delete/ })
      .count(),
  ).toBe(0);
  await reader.close();
});
