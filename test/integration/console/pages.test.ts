/**
 * Every page, menu and dialog for people who use a keyboard or a screen reader, who see little contrast, or
 * who have a narrow screen. Each is opened once, menus and dialogs on a narrow screen, where that is hardest;
 * colours and widths change while it is open.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { colorFlawsOf, flawsOf, LAYERS } from '../../support/console/axe.ts';
import {
  show,
  signInAt,
  startChromium,
  startSession,
  visit,
  type Visitor,
} from '../../support/console/chromium.ts';
import { dialogsOf, openRowDialog, type View } from '../../support/console/dialogs.ts';
import { focused, tabTo } from '../../support/console/keyboard.ts';
import { menusOf } from '../../support/console/menus.ts';
import {
  addLoops,
  chooseNode,
  loopViewsOf,
  nextItem,
  RUNS_OF_LOOPS,
} from '../../support/console/loopViews.ts';
import { addQueueing, fillProject, post } from '../../support/console/filledProject.ts';
import { canvasOpened, nodeOf, openNode, panelOf } from '../../support/console/steps.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { listen, type Listening } from '../../support/network/listen.ts';
import { coveredControls } from '../../support/console/topmost.ts';

const PROJECT = 'shop';
const LIST = `/console/p/${PROJECT}/workflows`;
const RUNS = `/console/p/${PROJECT}/runs`;
const CANVAS = `${LIST}/order-confirmation`;

let system: ConsoleSystem;
let browser: Browser;
let token: string;
let silent: Listening;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await fillProject(system, PROJECT);
  await addLoops(system, PROJECT);
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

const PAGES: View[] = [
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
    what: 'the settings of a workflow',
    path: `${CANVAS}?settings=true`,
    open: (page) =>
      page
        .getByRole('complementary', { name: 'Workflow settings' })
        .getByText('Error workflow')
        .first()
        .waitFor(),
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
  { what: 'the templates', path: `/console/p/${PROJECT}/templates`, open: shows(/of \d+ templates/) },
  {
    what: 'a template',
    path: `/console/p/${PROJECT}/templates?template=row-mail`,
    open: shows(/Values to complete/),
  },
  { what: 'the overview', path: `/console/p/${PROJECT}/overview`, open: shows(/Failures/i) },
  {
    what: 'a page of the documentation',
    path: '/console/docs/triggers/mail',
    open: (page) => page.getByRole('navigation', { name: 'On this page' }).waitFor(),
  },
  ...loopViewsOf(PROJECT),
  { what: 'what is not allowed', path: '/console/p/kube-system/workflows', open: shows(/not allowed/i) },
];
const DIALOGS = dialogsOf(PROJECT);
const MENUS = menusOf(PROJECT);
/** Those that promise to fit a narrow screen. */
const FITTING = [
  'the list',
  'the canvas',
  'the settings of a workflow',
  'the runs',
  'a run',
  'the credentials',
  'the templates',
  'a template',
  'the overview',
  'a page of the documentation',
];

const WIDE = { width: 1_440, height: 900 };
const MEDIUM = { width: 1_024, height: 768 };
const NARROW = { width: 390, height: 780 };
const AT_REST = { timeout: 30_000 };

/** Switches to dark colours, in which only colours can break a rule that was kept in light ones. */
async function darken(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
}

/** What the page of a visitor shows. */
const shown = new WeakMap<Page, View>();

async function openView({ page }: Visitor, view: View): Promise<void> {
  if (shown.get(page)?.remains === true) await page.goto('about:blank');
  shown.set(page, view);
  await show(page, addressOf(view.path));
  await view.open(page);
}

describe('on a wide screen', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser, { viewport: WIDE });
    await signInAt(visitor.page, system.consoleURL, token);
  });
  beforeEach(async () => {
    await visitor.page.emulateMedia({ colorScheme: 'light' });
    await visitor.page.setViewportSize(WIDE);
  });
  afterAll(() => visitor?.close());

  test('the sign-in page has no accessibility violation', async () => {
    const stranger = await visit(browser, { viewport: WIDE });
    const { page } = stranger;
    await page.goto(system.consoleURL);
    await page.getByLabel('Token', { exact: true }).waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await darken(page);
    await expect.poll(() => colorFlawsOf(page), AT_REST).toEqual([]);
    await stranger.close();
  });

  test.each(PAGES)('$what has no accessibility violation, and fits a narrow screen', async (view) => {
    const { page } = visitor;
    await openView(visitor, view);
    expect(await flawsOf(page)).toEqual([]);
    await darken(page);
    await expect.poll(() => colorFlawsOf(page), AT_REST).toEqual([]);
    if (!FITTING.includes(view.what)) return;
    await page.setViewportSize(NARROW);
    const width = () => page.evaluate('document.documentElement.scrollWidth');
    await expect.poll(width, AT_REST).toBeLessThanOrEqual(NARROW.width);
  });
});

describe('with the keyboard only', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser);
    await startSession(visitor.context, system.consoleURL, token);
  });
  afterAll(() => visitor?.close());

  test('the first key skips the navigation, and others reach all of the list', async () => {
    const { page } = visitor;
    await show(page, addressOf(LIST));
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
    await show(page, addressOf(LIST));
    await page.getByRole('button', { name: 'New workflow' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await focused(page)).toBe('New workflow');
    await show(page, addressOf(CANVAS));
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
    visitor = await visit(browser, { viewport: NARROW });
    await startSession(visitor.context, system.consoleURL, token);
  });
  afterAll(() => visitor?.close());

  beforeEach(async () => {
    await visitor.page.emulateMedia({ colorScheme: 'light' });
    await visitor.page.setViewportSize(NARROW);
  });

  test('the canvas is readable and begins with the trigger; all of it is shown when asked', async () => {
    const { page } = visitor;
    const boxOf = (node: string) => nodeOf(page, node).boundingBox();
    await show(page, addressOf(CANVAS));
    await canvasOpened(page, 'trigger');
    const trigger = await boxOf('trigger');
    expect(trigger?.width).toBeGreaterThan(130);
    expect(trigger?.x).toBeGreaterThan(0);
    await clicked(page, /^Fit the workflow/);
    const add = page.getByRole('button', { name: /^Add a node after (reply|Response)/ });
    const end = async () => {
      const box = await add.boundingBox();
      return (box?.x ?? 0) + (box?.width ?? NARROW.width);
    };
    await expect.poll(end, AT_REST).toBeLessThanOrEqual(NARROW.width);
  });

  test('the node that failed is brought into view', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${RUNS}?phase=Failed&workflow=stock-check`));
    const href = await page.locator('a[href*="/runs/stock-check-"]').first().getAttribute('href');
    const run = /runs\/([^?]+)/.exec(href ?? '')?.[1];
    // There is room for the trigger only.
    await page.setViewportSize({ width: 300, height: 780 });
    await show(page, addressOf(`${LIST}/stock-check?run=${run}`));
    await nodeOf(page, 'ask').and(page.locator('[data-phase="Failed"]')).waitFor();
    const end = async () => {
      const box = await nodeOf(page, 'ask').boundingBox();
      return (box?.x ?? 0) + (box?.width ?? 300);
    };
    await expect.poll(end, AT_REST).toBeLessThanOrEqual(300);
  });

  test('a row of the runs tells the workflow, the status, the times, and why it failed', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${RUNS}?phase=Failed&workflow=stock-check`));
    const row = page.getByRole('row').filter({ hasText: 'Check the stock' }).first();
    for (const text of ['Check the stock', 'Failed', /ago$|^just now$/, / m?s$/, /cannot connect/]) {
      const box = await row.getByText(text).filter({ visible: true }).first().boundingBox();
      expect((box?.x ?? NARROW.width) + (box?.width ?? 0)).toBeLessThanOrEqual(NARROW.width);
    }
    // The cause first: the rest of the text may be cut off.
    expect(await row.locator('[data-column="Error"]').textContent()).toMatch(/^cannot connect.* · ask$/s);
    await row.getByText('Check the stock').click({ force: true });
    await page.waitForURL(/\/runs\/stock-check-/);
  });

  /** Those of these buttons of the dialog that have to be scrolled to. */
  async function buttonsBelow(page: Page, names: string[], height = NARROW.height): Promise<string[]> {
    const ends = names.map(async (name) => {
      const box = await page.getByRole('dialog').getByRole('button', { name, exact: true }).boundingBox();
      return { name, end: (box?.y ?? height) + (box?.height ?? 0) };
    });
    return (await Promise.all(ends)).filter(({ end }) => end > height * 0.95).map(({ name }) => name);
  }

  test('the buttons of a long dialog are within the screen', async () => {
    await openView(visitor, DIALOGS.find(({ what }) => what === 'the change of a credential') as View);
    await expect.poll(() => buttonsBelow(visitor.page, ['Cancel', 'Save']), AT_REST).toEqual([]);
  });

  test('the form of a new credential scrolls above its buttons, which stay', async () => {
    const { page } = visitor;
    const height = 844;
    await page.setViewportSize({ width: 390, height });
    await openView(visitor, DIALOGS.find(({ what }) => what === 'a new credential') as View);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Another account/ }).click();
    const isLong = () => dialog.evaluate((box) => box.scrollHeight > box.clientHeight);
    await expect.poll(isLong, AT_REST).toBe(true);
    const buttons = ['Cancel', 'Create'];
    await expect.poll(() => buttonsBelow(page, buttons, height), AT_REST).toEqual([]);
    const last = dialog.getByRole('textbox').last();
    await last.focus();
    const isAboveButtons = async (): Promise<boolean> => {
      const create = dialog.getByRole('button', { name: 'Create', exact: true });
      const [field, button] = await Promise.all([last.boundingBox(), create.boundingBox()]);
      return (field?.y ?? height) + (field?.height ?? 0) <= (button?.y ?? 0);
    };
    await expect.poll(isAboveButtons, AT_REST).toBe(true);
    expect(await buttonsBelow(page, buttons, height)).toEqual([]);
  });

  test('a conflict is resolved in one column', async () => {
    const { page } = visitor;
    await openView(visitor, DIALOGS.find(({ what }) => what === 'the conflict') as View);
    const choices = ['Decide later', 'Use theirs, discard mine', 'Continue with the edited version'];
    await expect.poll(() => buttonsBelow(page, choices), AT_REST).toEqual([]);
    const dialog = page.getByRole('dialog');
    const yours = dialog.getByRole('textbox', { name: 'Your version' });
    const take = dialog.getByRole('button', { name: /^Use theirs, line \d+$/ });
    await take.first().click();
    await take.waitFor({ state: 'hidden' });
    expect(await yours.textContent()).toMatch(/displayName: .* there/);
    expect(await yours.locator('.cm-deletedChunk').count()).toBe(0);
  });

  test('where there are only fingers, no keys are offered, and buttons of the canvas are larger', async () => {
    const fingers = await visit(browser, { viewport: NARROW, hasTouch: true });
    const { page } = fingers;
    await startSession(fingers.context, system.consoleURL, token);
    await show(page, addressOf(LIST));
    await shows('Order confirmation')(page);
    expect(await page.locator('kbd').filter({ visible: true }).count()).toBe(0);
    await show(page, addressOf(CANVAS));
    await canvasOpened(page, 'trigger');
    await clicked(page, /^Fit the workflow/);
    const add = page.getByRole('button', { name: /^Add a node after (reply|Response)/ });
    const isHitAbove = () =>
      add.evaluate((button) => {
        const { x, y, width } = button.getBoundingClientRect();
        return button.ownerDocument.elementFromPoint(x + width / 2, y - 3) === button;
      });
    await expect.poll(isHitAbove, AT_REST).toBe(true);
    await fingers.close();
  });

  test.each([...MENUS, ...DIALOGS])(
    'every control of $what is clickable, also when the screen grows and shrinks; it is readable, dialogs are accessible',
    async (view) => {
      const { page } = visitor;
      await openView(visitor, view);
      for (const size of [NARROW, WIDE, MEDIUM]) {
        await page.setViewportSize(size);
        await expect.poll(() => coveredControls(page), AT_REST).toEqual([]);
      }
      await page.setViewportSize(WIDE);
      const check = DIALOGS.includes(view) ? flawsOf : colorFlawsOf;
      expect(await check(page, LAYERS)).toEqual([]);
      await darken(page);
      await expect.poll(() => colorFlawsOf(page, LAYERS), AT_REST).toEqual([]);
    },
  );

  test('two versions are compared in one column', async () => {
    const { page } = visitor;
    await openView(visitor, DIALOGS.find(({ what }) => what === 'the comparison of revisions') as View);
    expect(await page.getByRole('dialog').locator('.cm-editor').count()).toBe(1);
    await page.setViewportSize(WIDE);
    await expect.poll(() => page.getByRole('dialog').locator('.cm-editor').count(), AT_REST).toBe(2);
  });

  test('the banner of a managed workflow takes one line until the rest of it is shown', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${LIST}/from-git`));
    const banner = page.getByRole('status').filter({ hasText: 'Argo CD (shop) manages this workflow' });
    const heightOf = async () => (await banner.boundingBox())?.height;
    const more = banner.getByRole('button', { name: 'Show more' });
    await more.waitFor();
    expect(await more.evaluate((button) => button.getBoundingClientRect().right)).toBeLessThan(NARROW.width);
    expect(await heightOf()).toBeLessThan(44);
    expect(await banner.getByRole('button', { name: 'Try changes' }).isVisible()).toBe(false);
    await banner.getByRole('button', { name: 'Show more' }).press('Enter');
    await banner.getByRole('button', { name: 'Try changes' }).click();
    await banner.getByRole('button', { name: 'Copy as patch' }).waitFor();
    await banner.getByRole('button', { name: 'Show less' }).click();
    await expect.poll(heightOf, AT_REST).toBeLessThan(44);
    await page.setViewportSize(WIDE);
    await banner.getByRole('button', { name: 'Copy as patch' }).waitFor();
    expect(await banner.getByRole('button', { name: 'Show more' }).isVisible()).toBe(false);
  });

  test('the buttons of the header are within the screen, also while the page is not live', async () => {
    const { page } = visitor;
    const edge = () =>
      page
        .getByRole('banner')
        .getByRole('button')
        .evaluateAll((all) => Math.max(...all.map((button) => button.getBoundingClientRect().right)));
    await show(page, addressOf(LIST));
    await shows('Order confirmation')(page);
    expect(await edge()).toBeLessThanOrEqual(NARROW.width - 8);
    await page.route('**/console/live', (route) => route.abort());
    await page.reload();
    await shows('Offline')(page);
    expect(await edge()).toBeLessThanOrEqual(NARROW.width - 8);
    await page.unroute('**/console/live');
  });

  test('the bar of the editor takes two rows', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${LIST}/large`));
    await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
    const height = async () => (await page.locator('main header').boundingBox())?.height;
    await expect.poll(height, AT_REST).toBeLessThan(90);
  });

  test('every way to sign in to an HTTP API is within its form', async () => {
    const { page } = visitor;
    await show(page, addressOf(`/console/p/${PROJECT}/credentials`));
    await clicked(page, 'New credential');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^HTTP API/ })
      .click();
    const ways = page.getByRole('radiogroup', { name: 'Authentication' });
    const [around, last] = [
      await ways.boundingBox(),
      await ways.getByText('Query parameter', { exact: true }).boundingBox(),
    ];
    expect((last?.x ?? NARROW.width) + (last?.width ?? 0)).toBeLessThanOrEqual(
      (around?.x ?? 0) + (around?.width ?? 0),
    );
  });

  test('workflows can be activated in the list', async () => {
    const { page } = visitor;
    await show(page, addressOf(LIST));
    const toggle = page.getByRole('switch', { name: 'A draft is active' });
    await toggle.click({ force: true });
    await expect.poll(() => toggle.isChecked(), { timeout: 20_000 }).toBe(true);
  });
});

describe('the page of a run', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser, { viewport: WIDE });
    await startSession(visitor.context, system.consoleURL, token);
  });
  afterAll(() => visitor?.close());
  const runAt = (name: string) => addressOf(`/console/p/${PROJECT}/runs/${name}`);
  const childLink = (page: Page) =>
    page.getByText('Started the run').getByRole('link', { name: /^receipt-/ });

  test('links the child run of each item, which links its parent', async () => {
    const { page } = visitor;
    await show(page, runAt(RUNS_OF_LOOPS.invoices));
    await chooseNode(page, 'receipts');
    await nextItem(page);
    const second = await childLink(page).textContent();
    await page.getByRole('button', { name: 'Next item' }).click();
    await expect.poll(() => childLink(page).textContent()).not.toBe(second);
    await childLink(page).click();
    await page.getByText('pad', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: RUNS_OF_LOOPS.invoices }).click();
    await page.getByText(RUNS_OF_LOOPS.invoices, { exact: true }).waitFor();
  });

  test('shows the item that a node of a loop got, instead of the list', async () => {
    const { page } = visitor;
    await show(page, runAt(RUNS_OF_LOOPS.invoices));
    await chooseNode(page, 'double');
    const input = page.getByRole('region', { name: /^Input: item \[\d\] of each$/ });
    await input.getByText('ink').waitFor();
    expect(await page.getByRole('region', { name: 'Input: output of trigger' }).count()).toBe(0);
  });

  test('a run in doubt is continued after the decision', async () => {
    const { page } = visitor;
    await show(page, runAt(RUNS_OF_LOOPS.doubt));
    await clicked(page, /^Retry/);
    await page.getByRole('menuitem', { name: 'From the failed node' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Continue in a new run' }).isDisabled()).toBe(true);
    await dialog.getByLabel('It did not happen: execute the node again').check();
    await dialog.getByRole('button', { name: 'Continue in a new run' }).click();
    await page.getByText('Retry of').waitFor();
    await page.getByRole('status').getByText('Succeeded').waitFor();
  });
});

describe('a suspended workflow', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    await addQueueing(system, PROJECT, silent.url);
    visitor = await visit(browser);
    await startSession(visitor.context, system.consoleURL, token);
  });
  afterAll(() => visitor?.close());

  const rowOf = (page: Page) => page.getByRole('row').filter({ hasText: 'Queues up' });
  const dialogOf = (page: Page) => page.getByRole('dialog');

  test('shows, lists and cancels its waiting runs, and is resumed', async () => {
    const { page } = visitor;
    for (let at = 0; at < 3; at += 1) expect(await post(system, `${PROJECT}.queues/q`, { at })).toBe(200);
    await show(page, addressOf(LIST));
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
    const waiting = dialogOf(page).getByText('2 runs are paused; they start or continue when you resume.');
    await waiting.waitFor();
    await dialogOf(page).getByRole('button', { name: 'Cancel', exact: true }).click();

    await show(page, addressOf(`${LIST}/queues`));
    await clicked(page, /: Suspended$/);
    await page.getByText('2 runs are paused; they start or continue when you resume.').waitFor();
    await page.getByText('After you resume it: ').waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect.poll(() => page.getByLabel('Waiting runs').getByRole('link').count()).toBe(2);
    expect(await flawsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel these 2 runs' }).click();
    await page.getByRole('button', { name: 'Cancel 2 runs', exact: true }).click();
    await page.getByText('No runs are paused.').waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('button', { name: /: Active$/ }).waitFor();
    expect(await post(system, `${PROJECT}.queues/q`, { at: 4 })).toBe(200);
  });
});

describe('while its data is loading', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser, { viewport: WIDE });
    await startSession(visitor.context, system.consoleURL, token);
    // Never answered.
    await visitor.page.route(
      ({ pathname }) => /^\/(kube|workflows)\//.test(pathname),
      () => undefined,
    );
  });
  afterAll(() => visitor?.close());

  test.each([
    ['the list', LIST],
    ['the canvas', CANVAS],
    ['the runs', RUNS],
    ['a run', `${RUNS}/order-1?workflow=order-confirmation`],
    ['the credentials', `/console/p/${PROJECT}/credentials`],
    ['the overview', `/console/p/${PROJECT}/overview`],
    ['the templates', `/console/p/${PROJECT}/templates`],
  ])('%s has no accessibility violation', async (_what, path) => {
    const { page } = visitor;
    await show(page, addressOf(path));
    await page.locator('[aria-busy]').first().waitFor();
    expect(await flawsOf(page)).toEqual([]);
  });
});
