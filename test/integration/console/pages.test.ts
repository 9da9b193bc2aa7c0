/**
 * Every page and dialog for people who use a keyboard or a screen reader, who see little contrast, or who
 * have a narrow screen.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flawsOf } from '../../support/console/axe.ts';
import { signInAt, startChromium, visit, type Visitor } from '../../support/console/chromium.ts';
import { dialogsOf, openRowDialog, type View } from '../../support/console/dialogs.ts';
import { addQueueing, post, fillProject } from '../../support/console/filledProject.ts';
import { openNode, panelOf } from '../../support/console/steps.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { listen, type Listening } from '../../support/network/listen.ts';

const PROJECT = 'shop';
const LIST = `/console/p/${PROJECT}/workflows`;
const CANVAS = `${LIST}/order-confirmation`;

let system: ConsoleSystem;
let browser: Browser;
let token: string;
let silent: Listening;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await fillProject(system, PROJECT);
  silent = await listen(() => undefined);
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
});
afterAll(async () => {
  await browser?.close();
  await silent?.close();
  await system?.stop();
});

const addressOf = (path: string) => new URL(path, system.consoleURL).href;
const shows = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();
const cardShown = (page: Page) => page.locator('[data-card="trigger"]').waitFor();
const clicked = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

const VIEWS: View[] = [
  { what: 'the list', path: LIST, open: shows('Order confirmation') },
  { what: 'the canvas', path: CANVAS, open: cardShown },
  ...['trigger', 'agent_1', 'mail', 'reply'].map((node) => ({
    what: `the panel of ${node}`,
    path: `${CANVAS}?node=${node}`,
    open: (page: Page) => panelOf(page).getByRole('tab').first().waitFor(),
  })),
  {
    what: 'the connections of a node',
    path: `${CANVAS}?node=agent_1`,
    open: async (page) => {
      await panelOf(page).getByRole('tab', { name: 'Connections' }).click();
      await panelOf(page).getByRole('group', { name: 'Runs next' }).waitFor();
    },
  },
  {
    what: 'the YAML',
    path: CANVAS,
    open: async (page) => {
      await page.getByText('YAML', { exact: true }).click();
      await page.getByRole('textbox', { name: 'Workflow YAML' }).waitFor();
    },
  },
  { what: 'the runs', path: `/console/p/${PROJECT}/runs`, open: shows('Failed') },
  {
    what: 'a run',
    path: `/console/p/${PROJECT}/runs`,
    open: async (page) => {
      await page.locator('a[href*="/runs/order-"]').first().click();
      await page.getByRole('link', { name: 'Open in editor' }).waitFor();
    },
  },
  {
    what: 'the credentials',
    path: `/console/p/${PROJECT}/credentials`,
    open: async (page) => {
      await page.getByText('lost', { exact: true }).first().click();
      await page.getByText('Used by').filter({ visible: true }).first().waitFor();
    },
  },
  { what: 'the overview', path: `/console/p/${PROJECT}/overview`, open: shows(/Failures/i) },
  { what: 'what is not allowed', path: '/console/p/kube-system/workflows', open: shows(/not allowed/i) },
  ...dialogsOf(PROJECT),
];

describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser, { colorScheme });
  });
  afterAll(() => visitor?.close());

  test('the sign-in page has no accessibility violation', async () => {
    await visitor.page.goto(system.consoleURL);
    await visitor.page.getByLabel('Token', { exact: true }).waitFor();
    const flaws = await flawsOf(visitor.page);
    await signInAt(visitor.page, system.consoleURL, token);
    expect(flaws).toEqual([]);
  });

  test.each(VIEWS)('$what has no accessibility violation', async ({ path, open }) => {
    await visitor.page.goto(addressOf(path));
    await open(visitor.page);
    expect(await flawsOf(visitor.page)).toEqual([]);
  });
});

/** What has the focus, by its name. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(
    `(({ activeElement: at }) => at?.getAttribute('aria-label') ?? at?.dataset?.card ?? at?.textContent ?? '')(document)`,
  );

async function tabTo(page: Page, name: RegExp): Promise<string> {
  for (let count = 0; count < 60; count += 1) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (name.test(at)) return at;
  }
  return 'not reached';
}

describe('with the keyboard only', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser);
    await signInAt(visitor.page, system.consoleURL, token);
  });
  afterAll(() => visitor?.close());

  test('the first key skips the navigation, and others reach all of the list', async () => {
    const { page } = visitor;
    await page.goto(addressOf(LIST));
    await shows('Order confirmation')(page);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    for (const name of [
      /^Windlass/,
      /^Switch to/,
      /^Account/,
      /^Workflows/,
      /^Overview/,
      /^New workflow/,
      /^Actions for/,
    ])
      expect(await tabTo(page, name)).toMatch(name);
  });

  test('focus returns when a dialog or panel closes', async () => {
    const { page } = visitor;
    await page.goto(addressOf(LIST));
    await page.getByRole('button', { name: 'New workflow' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await focused(page)).toBe('New workflow');
    await page.goto(addressOf(CANVAS));
    const panel = await openNode(page, 'mail');
    await panel.getByRole('tab').first().focus();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    expect(await focused(page)).toBe('mail');
  });
});

describe('on a narrow screen', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser, { viewport: { width: 390, height: 780 } });
    await signInAt(visitor.page, system.consoleURL, token);
  });
  afterAll(() => visitor?.close());

  const NARROW = VIEWS.filter(({ what }) =>
    ['the list', 'the canvas', 'the runs', 'a run', 'the credentials', 'the overview'].includes(what),
  );

  test.each(NARROW)('$what fits the screen width', async ({ path, open }) => {
    await visitor.page.goto(addressOf(path));
    await open(visitor.page);
    expect(await visitor.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  test('workflows can be activated in the list', async () => {
    const { page } = visitor;
    await page.goto(addressOf(LIST));
    const toggle = page.getByRole('switch', { name: 'A draft is active' });
    await toggle.click({ force: true });
    await expect.poll(() => toggle.isChecked(), { timeout: 20_000 }).toBe(true);
  });
});

describe('a suspended workflow', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    await addQueueing(system, PROJECT, silent.url);
    visitor = await visit(browser);
    await signInAt(visitor.page, system.consoleURL, token);
  });
  afterAll(() => visitor?.close());

  const rowOf = (page: Page) => page.getByRole('row').filter({ hasText: 'Queues up' });
  const dialogOf = (page: Page) => page.getByRole('dialog');

  test('shows, lists and cancels its waiting runs, and is resumed', async () => {
    const { page } = visitor;
    for (let at = 0; at < 3; at += 1) expect(await post(system, `${PROJECT}.queues/q`, { at })).toBe(200);
    await page.goto(addressOf(LIST));
    await openRowDialog(page, 'Queues up', 'Suspend');
    await dialogOf(page).getByText('Every run is refused, including test runs.').waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click();
    await dialogOf(page).waitFor({ state: 'hidden' });
    expect(await rowOf(page).getByText('Suspended').count()).toBe(0);
    await openRowDialog(page, 'Queues up', 'Suspend');
    await dialogOf(page).getByRole('button', { name: 'Suspend', exact: true }).click();
    await rowOf(page).getByText('Suspended').filter({ visible: true }).waitFor();
    expect(await post(system, `${PROJECT}.queues/q`, { at: 3 })).toBe(404);
    await openRowDialog(page, 'Queues up', 'Resume');
    const waiting = dialogOf(page).getByText('2 runs are waiting; they start when you resume.');
    await waiting.waitFor();
    await dialogOf(page).getByRole('button', { name: 'Cancel', exact: true }).click();

    await page.goto(addressOf(`${LIST}/queues`));
    await clicked(page, /: Suspended$/);
    await page.getByText('2 runs are waiting; they start when you resume.').waitFor();
    await page.getByText('After you resume it: ').waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect.poll(() => page.getByLabel('Waiting runs').getByRole('link').count()).toBe(2);
    expect(await flawsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel these 2 runs' }).click();
    await page.getByRole('button', { name: 'Cancel 2 runs', exact: true }).click();
    await page.getByText('No runs are waiting.').waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('button', { name: /: Active$/ }).waitFor();
    expect(await post(system, `${PROJECT}.queues/q`, { at: 4 })).toBe(200);
  });
});
