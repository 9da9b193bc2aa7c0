/** The documentation in the console: pages, links, anchors, search, and the ways that lead to it. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { manifestOf, object } from '../../support/console/filledProject.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  const nodes = [{ id: 'trigger', mail: { credential: 'mailbox' } }];
  const passwordRef = { name: 'accounts', key: 'model-api-key' };
  const imap = { host: '127.0.0.1', port: 993, username: 'ada', passwordRef };
  await system.apply(
    PROJECT,
    manifestOf([object('Credential', 'mailbox', { imap }), object('Workflow', 'mails', { nodes })]),
  );
  visitor = await visit(browser);
  ({ page } = visitor);
  page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

const open = (path: string) => show(page, new URL(`/console/${path}`, system.consoleURL).href);
const title = (name: string) => page.getByRole('heading', { level: 1, name });
const contents = () => page.getByRole('navigation', { name: 'Documentation' });

test('an address leads to a heading of a page, and relative links to others', async () => {
  await open('docs/credentials#oauth2');
  const heading = page.getByRole('heading', { level: 2, name: 'oauth2' });
  await heading.waitFor();
  await expect.poll(async () => (await heading.boundingBox())?.y ?? -1).toBeLessThan(300);
  await contents()
    .getByText(/^Windlass \d+\.\d+/)
    .waitFor();
  await open('docs/triggers/mail');
  const current = contents().locator('[aria-current="page"]');
  await expect.poll(() => current.allTextContents()).toEqual(['The trigger mail']);
  await page
    .getByRole('article')
    .locator('a[href^="/console/docs/"]:not([href*="/docs/triggers/mail"])')
    .first()
    .click();
  await page.waitForURL((url) => /\/console\/docs\/(?!triggers\/mail)/.test(url.pathname));
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('the search finds headings, and an unknown page says so', async () => {
  await open('docs/language');
  await page.getByLabel('Search the documentation').fill('allowed hosts');
  await contents().getByRole('link', { name: 'Allowed hosts' }).click();
  await page.waitForURL(/\/docs\/credentials#allowed-hosts$/);
  await page.getByLabel('Search the documentation').fill('<b>nothing</b>');
  await contents().getByText('No title or heading contains "<b>nothing</b>".').waitFor();
  await contents().getByRole('button', { name: 'Clear search' }).click();
  // The page that is open is in sight, and a way back.
  const current = contents().locator('[aria-current="page"]');
  await current.waitFor();
  await expect.poll(async () => (await current.boundingBox())?.y ?? -1).toBeLessThan(850);
  await contents().getByRole('link', { name: 'Back to the console' }).waitFor();
  await open('docs/not-there');
  await title('Page not found').waitFor();
  expect(await contents().isVisible()).toBe(true);
});

test('a short name in a table stays on one line, unless the screen is narrow', async () => {
  await open('docs/triggers/mail');
  const name = page.locator('td code').getByText('data_content.in_reply_to', { exact: true });
  const lines = () => name.evaluate((code) => code.getClientRects().length);
  await name.waitFor();
  expect(await lines()).toBe(1);
  await page.setViewportSize({ width: 390, height: 780 });
  await expect.poll(lines).toBe(2);
  await page.setViewportSize({ width: 1_360, height: 850 });
});

test('on a narrow screen an unknown page is shown as none, and each page can be chosen', async () => {
  await page.setViewportSize({ width: 390, height: 780 });
  await open('docs/not-there');
  await title('Page not found').waitFor();
  const choice = page.getByRole('combobox', { name: 'Page of the documentation' });
  expect(await choice.locator('option:checked').textContent()).toBe('Choose a page');
  await choice.selectOption({ label: 'Agents' });
  await title('Agents').waitFor();
  await page.setViewportSize({ width: 1_360, height: 850 });
});

test('a node, the help menu and the command palette lead there', async () => {
  await open(`p/${PROJECT}/workflows/mails?node=trigger`);
  const [opened] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: /^Docs/ }).click(),
  ]);
  await opened.waitForURL(/\/console\/docs\/triggers\/mail$/);
  await opened.close();
  await page.getByRole('button', { name: 'Help', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Documentation' }).click();
  await page.waitForURL(/\/console\/docs\//);
  await open(`p/${PROJECT}/workflows`);
  await page.getByRole('link', { name: 'mails' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search everything').fill('allowed hosts');
  await page.getByRole('dialog').getByRole('option', { name: 'Allowed hosts' }).click();
  await page.waitForURL(/\/docs\/credentials#allowed-hosts$/);
  expect(visitor.complaints).toEqual([]);
});
