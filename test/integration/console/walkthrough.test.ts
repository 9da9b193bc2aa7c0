/** The editor, the list of runs and the command palette as somebody uses them who knows other editors. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { flawsOf, LAYERS } from '../../support/console/axe.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import {
  EDITOR,
  MAIL_ACCOUNT,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';
import { descriptionOf } from '../../support/console/description.ts';
import { focused, tabTo } from '../../support/console/keyboard.ts';
import { addLoops, RUNS_OF_LOOPS } from '../../support/console/loopViews.ts';
import { fillProject, manifestOf, object } from '../../support/console/filledProject.ts';
import { edgeOf } from '../../support/console/canvasSteps.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { drafts, workflows } from '../../../operator/shared/resources.ts';
import {
  canvasOpened,
  choose,
  chooseCondition,
  codeField,
  panelOf,
  publish,
  view as switchTo,
  writeExpression,
} from '../../support/console/steps.ts';

const PROJECT = 'shop';
const LIST = `/console/p/${PROJECT}/workflows`;
const RUNS = `/console/p/${PROJECT}/runs`;
const CANVAS = `${LIST}/order-confirmation`;
const SET = { name: 'set', parameters: { values: { n: '1' } } };
const WIDE = { width: 1_440, height: 900 };
const MEDIUM = { width: 1_024, height: 768 };
const AT_REST = { timeout: 30_000 };

let system: ConsoleSystem;
let browser: Browser;
let token: string;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await fillProject(system, PROJECT);
  await addLoops(system, PROJECT);
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

const addressOf = (path: string) => new URL(path, system.consoleURL).href;
const cardShown = (page: Page) => page.locator('[data-card="trigger"]').waitFor();
/** No Secret of the credentials that these tests save, and a draft that exists when it is created. */
const EXPECTED =
  /status of 404 .*\/secrets\/(mail|of-template)-secret$|status of 409 .*\/workflowdrafts(\?\S*)?$/;
/**
 * What the browser complained of since the last call, without answers of the API server that the console
 * expects.
 */
const complaintsOf = ({ complaints }: Visitor) => complaints.splice(0).filter((each) => !EXPECTED.test(each));
/** Whether the card of the node is inside the canvas, from its left to its right edge. */
async function isShown(page: Page, id: string): Promise<boolean> {
  const [card, canvas] = await Promise.all([
    page.locator(`[data-card="${id}"]`).boundingBox(),
    page.getByRole('region', { name: 'Canvas' }).boundingBox(),
  ]);
  if (card === null || canvas === null) return false;
  return card.x >= canvas.x && card.x + card.width <= canvas.x + canvas.width;
}
const clicked = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

test('the page names the scripts of the workflow list, so that they come with the entry', async () => {
  const page = await (await fetch(addressOf(LIST))).text();
  expect(page).toMatch(/<link rel="modulepreload" href="[^"]*\/WorkflowsPage-[^"]+\.js"/);
});

describe('the editor', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser, { viewport: WIDE });
    await startSession(visitor.context, system.consoleURL, token);
  });
  beforeEach(() => visitor.page.setViewportSize(WIDE));
  afterAll(() => visitor?.close());

  const selectedTab = (page: Page) => panelOf(page).getByRole('tab', { selected: true }).textContent();

  test('a click anywhere in the row of a run opens it, and Show leads to its error', async () => {
    const { page } = visitor;
    await show(page, addressOf(RUNS));
    const row = page.getByRole('row').filter({ hasText: 'Check the stock' }).first();
    await row.getByRole('cell').last().click();
    await page.getByRole('link', { name: 'Open in editor' }).click();
    await page.getByRole('button', { name: 'Show node' }).click();
    await panelOf(page).getByText('Unreachable').first().waitFor();
    expect(await selectedTab(page)).toBe('Output');
    await page.locator('[data-card="trigger"]').click();
    await panelOf(page).getByText('article').first().waitFor();
    expect(await selectedTab(page)).toBe('Output');
    // It is marked as failed while it is selected.
    const failed = page.locator('[data-card="ask"]');
    await failed.click();
    const style = `getComputedStyle(document.querySelector('[data-card="ask"]'))`;
    const colors = await page.evaluate<string[]>(`[${style}.outlineColor, ${style}.borderTopColor]`);
    expect(new Set(colors).size).toBe(2);
    expect(await page.evaluate(`${style}.outlineStyle`)).toBe('solid');
  });

  test('a run shows what its steps sent', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${RUNS}?workflow=order-confirmation`));
    await page.locator('a[href*="/runs/order-"]').first().click();
    await page.getByRole('region', { name: 'Timeline' }).getByTitle('mail', { exact: true }).click();
    const sent = page.getByRole('region', { name: 'Sent', exact: true });
    await expect.poll(() => sent.getByLabel('Sent: Subject').innerText()).toMatch(/Your order A-1\d+/);
    await sent.getByLabel('Sent: To').getByText('@').waitFor();
  });

  test('an expression that is turned off comes back', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${LIST}/stock-check?node=ask`));
    await panelOf(page).getByRole('button', { name: 'Use an expression for Method' }).click();
    await writeExpression(page, 'Method', "{{ $('trigger').data_content.verb }}");
    await panelOf(page).getByRole('button', { name: 'Use a fixed value for Method' }).click();
    await panelOf(page).getByRole('combobox', { name: 'Method' }).waitFor();
    await panelOf(page).getByRole('button', { name: 'Use an expression for Method' }).click();
    await expect.poll(() => codeField(page, 'Method').textContent(), AT_REST).toContain('data_content.verb');
  });

  test('a reference that cannot be resolved is marked once, at its node and in the YAML, before it is published', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${LIST}/stock-check?node=ask`));
    await panelOf(page).getByRole('textbox', { name: 'URL' }).waitFor();
    await writeExpression(page, 'URL', "https://api.example.com/{{ $('later').text_content }}");
    await page.locator('[data-card="ask"][data-problem]').waitFor();
    await panelOf(page).getByRole('tab', { name: 'Parameters' }).focus();
    const told = panelOf(page).getByText("Node 'later' does not exist");
    await expect.poll(() => told.count(), AT_REST).toBe(1);
    await switchTo(page, 'YAML');
    await page.locator('.cm-lint-marker-error').first().waitFor();
  });

  test('a credential is tested and edited at its node', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${CANVAS}?node=mail`));
    await panelOf(page).getByRole('button', { name: 'Test', exact: true }).click();
    await panelOf(page).getByText('Tested: works.').waitFor();
    await panelOf(page).getByRole('button', { name: 'Edit the credential mail' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the credential "mail"' });
    await dialog.getByLabel(/^From/).fill('not an address');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('This is not an email address').waitFor();
    expect(await dialog.getByLabel(/^Port/).getAttribute('placeholder')).toBe('25');
  });

  test('nodes stay readable beside a panel, and all are visible again without it', async () => {
    const { page } = visitor;
    await page.setViewportSize(MEDIUM);
    await show(page, addressOf(`${CANVAS}?node=reply`));
    await panelOf(page).getByRole('tab').first().waitFor();
    const zoom = async () =>
      Number(
        await page.evaluate(
          `new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a`,
        ),
      );
    await expect.poll(() => isShown(page, 'reply'), AT_REST).toBe(true);
    expect(await zoom()).toBeGreaterThanOrEqual(0.75);
    await page.setViewportSize(WIDE);
    await page.getByRole('button', { name: 'Close the panel' }).click();
    await expect
      .poll(async () => [await isShown(page, 'trigger'), await isShown(page, 'reply')], AT_REST)
      .toEqual([true, true]);
  });

  test('the canvas is where it was before the gallery, and fitted to another width of the window', async () => {
    const { page } = visitor;
    await show(page, addressOf(CANVAS));
    await cardShown(page);
    await page.setViewportSize(MEDIUM);
    const seen = async () => [await isShown(page, 'trigger'), await isShown(page, 'reply')];
    await expect.poll(seen, AT_REST).toEqual([true, true]);
    const place = async () => (await page.locator('[data-card="trigger"]').boundingBox())?.x;
    const isAtRest = async () => (await place()) === (await place());
    await page.getByRole('region', { name: 'Canvas' }).focus();
    for (const id of ['trigger', 'agent_1', 'mail', 'reply']) {
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => focused(page)).toBe(id);
    }
    await expect.poll(isAtRest, AT_REST).toBe(true);
    const before = await place();
    await page.keyboard.press('+');
    await page.getByLabel('Search nodes').waitFor();
    await expect.poll(seen, AT_REST).toEqual([false, true]);
    await expect.poll(isAtRest, AT_REST).toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(place, AT_REST).toBeCloseTo(before ?? Number.NaN, 0);
    // Also if it is closed while the canvas still moves.
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.evaluate(`new MutationObserver((_changes, observer) => {
      observer.disconnect();
      const escape = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(escape);
    }).observe(document.querySelector('.react-flow__viewport'), { attributeFilter: ['style'] })`);
    await page.keyboard.press('+');
    await expect.poll(seen, AT_REST).toEqual([true, true]);
    await expect.poll(isAtRest, AT_REST).toBe(true);
    await expect.poll(place, AT_REST).toBeCloseTo(before ?? Number.NaN, 0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });

  test('the canvas behind the YAML is fitted to another width of the window once it is shown', async () => {
    const { page } = visitor;
    await page.goto(addressOf(CANVAS));
    await cardShown(page);
    await switchTo(page, 'YAML');
    await page.getByRole('textbox', { name: 'Workflow YAML' }).waitFor();
    await page.setViewportSize(MEDIUM);
    await switchTo(page, 'Canvas');
    const seen = async () => [await isShown(page, 'trigger'), await isShown(page, 'reply')];
    await expect.poll(seen, AT_REST).toEqual([true, true]);
  });

  test('the Tab key reaches the canvas', async () => {
    const { page } = visitor;
    await show(page, addressOf(CANVAS));
    await cardShown(page);
    await page.getByRole('button', { name: 'Test run', exact: true }).focus();
    expect(await tabTo(page, /^trigger$/)).toBe('trigger');
  });

  test('the navigation can be reduced to its icons, also for the next page', async () => {
    const { page } = visitor;
    const width = async () => (await page.getByRole('navigation').boundingBox())?.width ?? 0;
    await show(page, addressOf(CANVAS));
    await cardShown(page);
    const whole = await width();
    await page.getByRole('button', { name: 'Collapse the navigation' }).click();
    await expect.poll(width, AT_REST).toBeLessThan(whole / 2);
    await page.getByRole('navigation').getByRole('link', { name: 'Credentials' }).click();
    await page.getByRole('heading', { name: 'Credentials', level: 1 }).waitFor();
    expect(await width()).toBeLessThan(whole / 2);
    await page.getByRole('button', { name: 'Expand the navigation' }).click();
    await expect.poll(width, AT_REST).toBe(whole);
  });

  test('the command palette leads to a node, a run and an action by their names', async () => {
    const { page } = visitor;
    const choose = async (text: string, option: RegExp): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByLabel('Search everything').fill(text);
      await page.locator('[data-combobox-selected]').filter({ hasText: option }).waitFor();
      await page.keyboard.press('Enter');
    };
    await show(page, addressOf(CANVAS));
    await cardShown(page);
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search everything').fill('<b>nothing</b>');
    await page.getByText('Nothing matches "<b>nothing</b>".').waitFor();
    expect(await flawsOf(page, LAYERS)).toEqual([]);
    await page.keyboard.press('Escape');
    await choose('confirmation agent', /^Write the confirmation/);
    await panelOf(page).getByText('agent_1').waitFor();
    await choose(RUNS_OF_LOOPS.invoices, /^Invoices ·\s/);
    await page.getByText(RUNS_OF_LOOPS.invoices, { exact: true }).waitFor();
    await choose('new work', /^New workflow/);
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(LIST);
  });

  test('Escape closes the command palette, also after a search, and gives the focus back', async () => {
    const { page } = visitor;
    await show(page, addressOf(CANVAS));
    await cardShown(page);
    await page.locator('[data-card="agent_1"]').focus();
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search everything').fill('publish');
    await page.keyboard.press('Escape');
    await page.getByLabel('Search everything').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('agent_1');
  });

  test('the question mark lists the keys on every page, and is a character in a field', async () => {
    const { page } = visitor;
    await page.goto(addressOf(LIST));
    await page.getByRole('button', { name: 'New workflow' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    const search = page.locator('input:focus');
    expect([await search.inputValue(), await keys.count()]).toEqual(['?', 0]);
    await page.waitForURL((url) => url.searchParams.get('text') === '?');
    await search.fill('');
    await search.blur();
    await page.keyboard.press('?');
    await keys.getByRole('group', { name: 'Workflows' }).getByText('New workflow').waitFor();
    // The address has the empty text later, which is no reason to close the list.
    await page.waitForURL((url) => url.search === '');
    expect(await keys.count()).toBe(1);
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('?');
    await keys.waitFor();
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
  });

  test('Back closes a dialog or a drawer, and the next one leaves the page once', async () => {
    const { page } = visitor;
    await page.goto(addressOf(LIST));
    await page.getByRole('link', { name: 'Order confirmation', exact: true }).click();
    await cardShown(page);
    await page.locator('[data-card="agent_1"]').click();
    await panelOf(page).getByRole('tab').first().waitFor();
    const at = page.url();
    const back = () => page.evaluate('history.back()');
    const dialogs = page.getByRole('dialog');
    const closed = async () => {
      await dialogs.waitFor({ state: 'detached' });
      expect([page.url(), await panelOf(page).count()]).toEqual([at, 1]);
    };
    for (const name of ['Help me build', 'Versions']) {
      await page.getByRole('button', { name, exact: true }).click();
      await dialogs.waitFor();
      await back();
      await closed();
    }
    await page.locator('[data-card="agent_1"]').focus();
    await page.keyboard.press('?');
    await dialogs.waitFor();
    await back();
    await closed();
    await page.keyboard.press('?');
    await dialogs.waitFor();
    await page.reload();
    await cardShown(page);
    await panelOf(page).getByRole('tab').first().waitFor();
    await closed();
    await page.locator('[data-card="agent_1"]').focus();
    await page.keyboard.press('?');
    await dialogs.waitFor();
    await page.keyboard.press('Escape');
    await closed();
    await back();
    await page.getByRole('heading', { name: 'Workflows' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(LIST);
    // The dialogs left nothing to go forward to but the workflow.
    await page.evaluate('history.forward()');
    await cardShown(page);
    await expect.poll(() => page.url()).toBe(at);
  });

  test('Back and Escape close only the dialog on top of another one, whose content stays', async () => {
    const { page } = visitor;
    await page.goto(addressOf(`/console/p/${PROJECT}/credentials`));
    await page.getByRole('link', { name: 'Workflows', exact: true }).click();
    await page.getByRole('button', { name: 'New workflow' }).first().click();
    const dialogs = page.getByRole('dialog');
    await dialogs.getByRole('tab', { name: 'Template' }).click();
    await dialogs.getByRole('button', { name: /Confirm orders from a spreadsheet/ }).click();
    const name = dialogs.first().getByLabel('ID', { exact: true });
    await name.fill('typed');
    const create = dialogs.getByRole('button', { name: 'New credential for Language model' });
    const back = () => page.evaluate('history.back()');
    for (const close of [back, () => page.keyboard.press('Escape')]) {
      await create.click();
      await expect.poll(() => dialogs.count()).toBe(2);
      await close();
      await expect.poll(() => dialogs.count()).toBe(1);
      expect([await name.inputValue(), new URL(page.url()).pathname]).toEqual(['typed', LIST]);
    }
    await back();
    await dialogs.waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe(LIST);
    await back();
    await page.getByRole('heading', { name: 'Credentials', level: 1 }).waitFor();
  });

  test('the slash leads to the search of the list of runs', async () => {
    const { page } = visitor;
    await show(page, addressOf(RUNS));
    const search = page.getByLabel('Search runs');
    await search.waitFor();
    await page.keyboard.press('/');
    await page.keyboard.insertText('nothing');
    expect(await search.inputValue()).toBe('nothing');
    await page.keyboard.press('Escape');
    expect(await search.inputValue()).toBe('');
  });

  test('Escape clears the search in a drawer before it closes it', async () => {
    const { page } = visitor;
    await show(page, addressOf(CANVAS));
    await page.getByRole('button', { name: 'Runs of this workflow' }).click();
    const drawer = page.getByRole('dialog', { name: 'Runs of this workflow' });
    const search = drawer.getByLabel('Search runs');
    await search.fill('nothing');
    await drawer.getByText('No runs match the filters').waitFor();
    await search.press('Escape');
    await expect.poll(() => search.inputValue()).toBe('');
    await search.press('Escape');
    await drawer.waitFor({ state: 'detached' });
  });

  test('keys of the page do nothing over a dialog, whose typed text stays', async () => {
    const { page } = visitor;
    await show(page, addressOf(LIST));
    await page.getByRole('button', { name: 'New workflow' }).waitFor();
    const dialogs = page.getByRole('dialog');
    // Once loaded, each opens at its key.
    for (const key of ['?', 'Control+k']) {
      await page.keyboard.press(key);
      await dialogs.waitFor();
      await page.keyboard.press('Escape');
      await dialogs.waitFor({ state: 'detached' });
    }
    await page.keyboard.press('n');
    const name = dialogs.getByLabel('Name', { exact: true });
    await name.fill('Typed');
    await dialogs.getByRole('button', { name: 'Create and open' }).focus();
    for (const key of ['?', 'n', '/', 'Control+k']) await page.keyboard.press(key);
    await name.press('Control+k');
    expect([await dialogs.count(), await name.inputValue()]).toEqual([1, 'Typed']);
    await page.keyboard.press('Escape');
    await dialogs.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.keyboard.press('n');
    await dialogs.getByRole('group', { name: 'Workflows' }).waitFor();
    expect(await dialogs.count()).toBe(1);
    await page.keyboard.press('Escape');
  });

  test('what the command palette finds waits for the rights of the actions', async () => {
    const { page } = visitor;
    const rights = /selfsubjectaccessreviews/;
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route(rights, async (route) => {
      if (route.request().postData()?.includes('"execute"') === true) await answered;
      await route.continue();
    });
    await page.goto(addressOf(CANVAS));
    await cardShown(page);
    await page.keyboard.press('Control+k');
    const search = page.getByLabel('Search everything');
    await search.fill('new workflow');
    await page.getByRole('option', { name: 'New workflow' }).waitFor();
    await search.fill('test run');
    const found = page.getByRole('option', { name: 'Test run', exact: true });
    await page.getByRole('option').or(page.getByText('Nothing matches "test run".')).first().waitFor();
    expect(await found.count()).toBe(0);
    answer();
    await found.waitFor();
    await page.keyboard.press('Escape');
    await page.unroute(rights);
  });

  test('a node that is added by the command palette is searched at once, also from a card', async () => {
    const { page } = visitor;
    await show(page, addressOf(CANVAS));
    await page.locator('[data-card="agent_1"]').focus();
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search everything').fill('add a node');
    await page
      .locator('[data-combobox-selected]')
      .filter({ hasText: /^Add a node/ })
      .waitFor();
    await page.keyboard.press('Enter');
    const search = page.getByLabel('Search nodes');
    await search.waitFor();
    await page.keyboard.type('send');
    expect(await search.inputValue()).toBe('send');
  });

  test.each([
    ['the command palette', /\/Palette-/, 'Control+k', 'Search everything'],
    ['the dialog for a new workflow', /\/CreateDialog-/, 'n', 'Name'],
  ])('what is typed while %s is loaded is in its field', async (_what, script, key, label) => {
    const { page } = visitor;
    const [asked, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(script, async (route) => {
      asked.resolve();
      await loaded.promise;
      return route.continue();
    });
    await page.goto(addressOf(LIST));
    await page.getByRole('button', { name: 'New workflow' }).waitFor();
    await page.keyboard.press(key);
    await asked.promise;
    await page.keyboard.type('mails');
    await page.keyboard.press('Backspace');
    loaded.resolve();
    const field = page.getByRole('dialog').getByLabel(label, { exact: true });
    await expect.poll(() => field.inputValue()).toBe('mail');
    await page.keyboard.type('box');
    expect(await field.inputValue()).toBe('mailbox');
    await page.keyboard.press('Escape');
    await page.unroute(script);
  });

  test('the gallery is searched and filtered by keyboard, and shows what was used last', async () => {
    const { page } = visitor;
    const selected = page.locator('[data-combobox-selected]');
    await show(page, addressOf(CANVAS));
    await page.locator('[data-card="agent_1"]').focus();
    await page.keyboard.press('+');
    await page.getByLabel('Search nodes').waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await page.keyboard.type('gpt');
    await selected.filter({ hasText: /^Agent/ }).waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    expect(await tabTo(page, /^Data/)).toMatch(/^Data/);
    await page.keyboard.press('Enter');
    await selected.filter({ hasText: /^Set/ }).waitFor();
    expect(await page.getByRole('option', { name: /^Agent/ }).count()).toBe(0);
    await page.keyboard.press('ArrowDown');
    await selected.filter({ hasText: /^Remove duplicates/ }).waitFor();
    await page.keyboard.press('Enter');
    await panelOf(page).getByText('remove_duplicates').first().waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('+');
    const used = page.getByRole('group', { name: 'Recently used' }).getByRole('option');
    await expect.poll(() => used.count(), AT_REST).toBe(1);
    expect(await used.textContent()).toMatch(/^Remove duplicates/);
  });

  test('a new node has the focus in the first field that it needs, beside what most users fill in', async () => {
    const { page } = visitor;
    await show(page, addressOf(CANVAS));
    await page.locator('[data-card="agent_1"]').focus();
    await page.keyboard.press('+');
    await page.getByLabel('Search nodes').waitFor();
    await page.keyboard.type('http request');
    await page
      .locator('[data-combobox-selected]')
      .filter({ hasText: /^HTTP request/ })
      .waitFor();
    await page.keyboard.press('Enter');
    await panelOf(page).getByText('http_request').first().waitFor();
    await expect.poll(() => focused(page)).toBe('URL');
    for (const name of ['Method', 'Body']) expect(await panelOf(page).getByText(name).count()).toBe(1);
  });

  test('without a selection + adds the next node', async () => {
    const { page } = visitor;
    await show(page, addressOf(LIST));
    await page.getByRole('button', { name: 'New workflow' }).waitFor();
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('By keys');
    await page.keyboard.press('Enter');
    await canvasOpened(page, 'trigger');
    await page.keyboard.press('+');
    await choose(page, 'Response');
    await expect.poll(() => edgeOf(page, 'trigger', 'reply').count()).toBe(1);
  });

  test('a button that moves when its field is left takes the click', async () => {
    const { page } = visitor;
    await show(page, addressOf(CANVAS));
    await page.locator('[data-card="reply"]').focus();
    await page.keyboard.press('+');
    await page.getByLabel('Search nodes').waitFor();
    await choose(page, 'HTTP request');
    await expect.poll(() => focused(page)).toBe('URL');
    await panelOf(page).getByRole('button', { name: 'Use an expression for Method' }).click();
    await panelOf(page).getByRole('button', { name: 'Use a fixed value for Method' }).waitFor();
    await panelOf(page).getByText('URL is required.').waitFor();
  });

  test('the fields of an optional object are shown when it is added, and go with it', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${CANVAS}?node=mail`));
    await panelOf(page).getByRole('tab', { name: 'Options' }).click();
    expect(await panelOf(page).getByLabel('Limit').count()).toBe(0);
    await panelOf(page).getByRole('button', { name: 'Add Retry' }).click();
    await page.keyboard.type('3');
    await expect.poll(() => panelOf(page).getByLabel('Limit').inputValue()).toBe('3');
    await panelOf(page).getByRole('button', { name: 'Add Backoff' }).click();
    const factor = panelOf(page).getByRole('textbox', { name: 'Factor' });
    await factor.pressSequentially('1.05');
    expect(await factor.inputValue()).toBe('1.05');
    await panelOf(page).getByRole('button', { name: 'Remove Retry' }).click();
    await expect.poll(() => focused(page)).toBe('Add Retry');
    expect(await panelOf(page).getByLabel('Limit').count()).toBe(0);
  });

  test('a chosen reference leaves the cursor behind it, and the dialog of a test run begins at Run', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${LIST}/stock-check?node=ask`));
    await panelOf(page).getByRole('button', { name: 'Insert reference into URL' }).click();
    const choice = page.getByRole('dialog', { name: 'Insert reference' });
    await choice
      .getByRole('button', { name: /^text_content/ })
      .first()
      .click();
    await expect.poll(() => focused(page)).toBe('URL');
    await page.keyboard.type('!');
    await expect.poll(() => codeField(page, 'URL').textContent(), AT_REST).toMatch(/text_content }}!/);
    await clicked(page, /^Test run$/);
    await expect.poll(() => focused(page)).toBe('Run');
  });

  test('Ctrl+S and Enter leave the focus in the field, so that the next key does not remove the node', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${CANVAS}?node=mail`));
    const name = panelOf(page).getByLabel('Node name');
    await name.fill('Send the mail!');
    await page.keyboard.press('Control+s');
    expect(await focused(page)).toBe('Node name');
    await page.keyboard.press('Backspace');
    await expect.poll(() => name.inputValue()).toBe('Send the mail');
    expect(await page.locator('[data-card="mail"]').count()).toBe(1);
    await page.getByLabel('Workflow name').fill('Confirm orders');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Publish', exact: true }).waitFor();
    expect(await focused(page)).toBe('Workflow name');
  });

  test('the button between fixed value and expression keeps the focus when its input is replaced', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${LIST}/stock-check?node=ask`));
    await panelOf(page).getByRole('button', { name: 'Use an expression for Method' }).press('Enter');
    await expect.poll(() => focused(page)).toBe('Use a fixed value for Method');
  });

  describe('branches', () => {
    const TOTAL = 'has(nodes.trigger.?data_content.total) && nodes.trigger.data_content.total >= 100';
    const STATE = 'has(nodes.trigger.?data_content.state) && nodes.trigger.data_content.state == "paid"';
    const testData = { total: 250, state: 'paid' };
    const step = (id: string) => ({ id, skill: SET });
    const edges = [
      { from: 'trigger', to: 'large' },
      { from: 'trigger', to: 'rest' },
    ];
    const savedEdges = async (name: string) =>
      (await system.harness.client.get(workflows, { namespace: PROJECT, name })).spec.edges;
    const open = async (page: Page, name: string) => {
      const nodes = [{ id: 'trigger', manual: { testData } }, step('large'), step('rest')];
      await system.apply(PROJECT, manifestOf([object('Workflow', name, { nodes, edges })]));
      await page.goto(addressOf(`${LIST}/${name}`));
      await canvasOpened(page, 'rest');
      await page.getByRole('button', { name: 'Fit the workflow (1)' }).click();
    };

    test('a condition is built of rows, written and read as CEL, and another connection is taken otherwise', async () => {
      const { page } = visitor;
      await open(page, 'branched');
      await edgeOf(page, 'trigger', 'large').click({ force: true });
      // What cannot be chosen says why, also to those who do not see a tooltip.
      const choice = (name: string) => page.getByRole('radiogroup', { name });
      expect(await descriptionOf(choice('Run'))).toMatch(/^A trigger cannot fail/);
      expect(await descriptionOf(choice('Only if, as'))).toMatch(/needs a condition\.$/);
      await chooseCondition(page, { field: 'total', operator: 'is at least', value: '100' });
      await page.getByRole('button', { name: 'Add condition' }).click();
      await chooseCondition(page, { row: ' 2', field: 'state', operator: 'equals', value: 'paid' });
      await page.getByText(`${TOTAL} && ${STATE}`, { exact: true }).waitFor();
      const panel = page.getByRole('complementary', { name: 'Connection' });
      await panel.getByText('true', { exact: true }).waitFor();
      expect(await flawsOf(page)).toEqual([]);
      await edgeOf(page, 'trigger', 'rest').click({ force: true });
      await panel.getByText('Otherwise', { exact: true }).click();
      await panel.getByText(`!(${TOTAL} && ${STATE})`, { exact: true }).waitFor();
      await publish(page);
      expect(await savedEdges('branched')).toEqual([
        { from: 'trigger', to: 'large', when: `${TOTAL} && ${STATE}` },
        { from: 'trigger', to: 'rest', when: `!(${TOTAL} && ${STATE})` },
      ]);
      await edgeOf(page, 'trigger', 'large').click({ force: true });
      await panel.getByText('CEL', { exact: true }).click();
      // Its text area is replaced once the code editor is loaded.
      await panel.locator('[contenteditable="true"][aria-label="Only if"]').click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(`${STATE} ? true : false`);
      await panel.getByText('Conditions cannot show this expression.').waitFor();
    });

    test('a field that is typed is kept by Enter and by leaving it, with or without data_content', async () => {
      const { page } = visitor;
      await open(page, 'typed');
      await edgeOf(page, 'trigger', 'large').click({ force: true });
      const field = page.getByRole('combobox', { name: 'Field', exact: true });
      await field.click();
      await page.keyboard.type('data_content.country');
      await page.getByRole('option', { name: 'country', exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await expect.poll(() => field.inputValue()).toBe('trigger: country');
      await page.getByText('nodes.trigger.data_content.country', { exact: false }).first().waitFor();
      await field.click();
      await page.keyboard.press('ControlOrMeta+a');
      // Another field has a name with it inside: `state`.
      await page.keyboard.type('tat');
      await page.keyboard.press('Tab');
      await expect.poll(() => field.inputValue()).toBe('trigger: tat');
    });

    test('a connection is opened, changed, closed and published by keyboard without losing the focus', async () => {
      const { page } = visitor;
      await open(page, 'connection-by-keys');
      await page.locator('[data-card="large"]').click();
      await panelOf(page).getByRole('tab', { name: 'Connections' }).press('Enter');
      await panelOf(page)
        .getByRole('button', { name: /^trigger/ })
        .focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => focused(page)).toBe('Settings of the connection from trigger to large');
      await page.keyboard.press('Backspace');
      await expect.poll(() => edgeOf(page, 'trigger', 'large').count()).toBe(1);
      await chooseCondition(page, { field: 'total', operator: 'is at least', value: '100' });
      await page.getByRole('button', { name: 'Add condition' }).press('Enter');
      await page.getByRole('button', { name: 'Remove condition 2' }).press('Enter');
      await expect.poll(() => focused(page)).toBe('Add condition');
      await page.keyboard.press('Escape');
      await expect.poll(() => focused(page)).toBe('large');
      await page.getByRole('button', { name: 'Publish', exact: true }).press('Enter');
      await page.getByRole('dialog').getByRole('textbox', { name: 'What changes' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
      expect(await focused(page)).toBe('Published');
    });

    test('Switch adds labeled branches at once, also one for otherwise', async () => {
      const { page } = visitor;
      await open(page, 'switched');
      await page.getByRole('button', { name: 'Add a node after trigger', exact: true }).click();
      await choose(page, 'Switch', page.getByRole('heading', { name: 'Switch after trigger' }));
      await page.keyboard.type('state');
      await page.getByRole('option', { name: /^state/ }).click();
      const add = page.getByRole('button', { name: 'Add 3 branches' });
      await page.getByText('Enter a value for each branch.').waitFor();
      expect(await add.isDisabled()).toBe(true);
      await page.getByLabel('Value 1', { exact: true }).fill('paid');
      await page.getByLabel('Value 2', { exact: true }).fill('open');
      await page.getByLabel('Label 2', { exact: true }).fill('Still open');
      expect(await flawsOf(page)).toEqual([]);
      await add.click();
      await page.locator('[data-card="otherwise"]').waitFor();
      await publish(page);
      const [paid, still] = [STATE, STATE.replace('paid', 'open')];
      expect(await savedEdges('switched')).toEqual([
        ...edges,
        { from: 'trigger', to: 'paid', when: paid },
        { from: 'trigger', to: 'still_open', when: still },
        { from: 'trigger', to: 'otherwise', when: `!(${paid}) && !(${still})` },
      ]);
    });
  });

  test('input, settings and output are side by side in the expanded panel, also for the next node', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${CANVAS}?node=mail`));
    const expand = page.getByRole('button', { name: 'Input and output side by side' });
    await expand.click();
    const [input, output] = ['Input', 'Output'].map((name) => panelOf(page).getByRole('region', { name }));
    await output?.getByRole('button', { name: 'Run to here' }).waitFor();
    await input?.getByRole('button', { name: /^number/ }).waitFor();
    await codeField(page, 'Subject').waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close the panel' }).click();
    await page.locator('[data-card="agent_1"]').click();
    await panelOf(page).getByRole('region', { name: 'Input' }).waitFor();
    await page.setViewportSize({ width: 390, height: 780 });
    await panelOf(page).getByRole('tab', { name: 'Input' }).waitFor();
    await page.setViewportSize(WIDE);
    await page.getByRole('button', { name: 'Show the canvas beside the panel' }).click();
    await panelOf(page).getByRole('tab', { name: 'Output' }).waitFor();
  });

  test('a template opens as a draft, of which only name and trigger are published', async () => {
    const { page } = visitor;
    // Also where the answer, whether the user may have drafts, comes late.
    const rights = /selfsubjectaccessreviews/;
    const late = async (route: Route) => {
      const isAboutDrafts = route.request().postData()?.includes('workflowdrafts') === true;
      if (isAboutDrafts) await created;
      await route.continue();
    };
    const asking = page.waitForRequest(
      (request) => rights.test(request.url()) && request.postData()?.includes('workflowdrafts') === true,
    );
    const { promise: created, resolve: letThrough } = Promise.withResolvers<void>();
    await page.route(rights, late);
    // That of a workflow that was deleted, which is kept for some days.
    const base = { uid: 'of-a-deleted-workflow', body: JSON.stringify({ spec: { nodes: [] } }) };
    await system.harness.client.create(drafts, {
      metadata: { namespace: PROJECT, name: 'from-template' },
      spec: { base, body: base.body },
    });
    await page.goto(addressOf(`/console/p/${PROJECT}/templates?template=poll-a-job`));
    await page.getByLabel('ID', { exact: true }).fill('from-template');
    await clicked(page, 'Create and open');
    await asking;
    letThrough();
    await page.getByRole('status', { name: 'Unpublished changes. The draft is saved.' }).waitFor();
    await page.unroute(rights, late);
    const at = { namespace: PROJECT, name: 'from-template' };
    const live = await system.harness.client.get(workflows, at);
    expect(live.spec.nodes.map(({ id }) => id)).toEqual(['trigger']);
    expect(live.spec.active).toBe(false);
    const draft = await system.harness.client.get(drafts, at);
    expect(draft.spec.base.uid).toBe(live.metadata.uid);
    await publish(page);
    const { spec } = await system.harness.client.get(workflows, at);
    expect(spec.nodes.length).toBeGreaterThan(1);
  });

  test('a template takes the credentials that are chosen and created for it, and the values of the project', async () => {
    const { page } = visitor;
    await show(page, addressOf(`/console/p/${PROJECT}/templates?template=row-mail`));
    await page.getByRole('combobox', { name: 'Language model', exact: true }).click();
    await page.getByRole('option', { name: 'model', exact: true }).click();
    await clicked(page, 'New credential for Send email (SMTP)');
    const dialog = page.getByRole('dialog');
    const account = { Host: '127.0.0.1', Port: String(system.mail.smtpPort), ...MAIL_ACCOUNT };
    const { username: Username, password: Password, ...server } = account;
    const fields = { Name: 'of-template', ...server, Username, Password, From: 'shop@example.com' };
    for (const [label, text] of Object.entries(fields))
      await dialog
        .getByLabel(new RegExp(`^${label}`))
        .first()
        .fill(text);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByLabel('Spreadsheet ID', { exact: true }).fill('1BxiMVs0XRA5');
    await page.getByLabel('ID', { exact: true }).fill('with-accounts');
    await clicked(page, 'Create and open');
    await cardShown(page);
    const at = { namespace: PROJECT, name: 'with-accounts' };
    const { body } = (await system.harness.client.get(drafts, at)).spec;
    const { nodes } = (JSON.parse(body) as { spec: WorkflowSpec }).spec;
    expect(nodes).toMatchObject([
      { spreadsheet: { spreadsheetId: '1BxiMVs0XRA5' } },
      { agent: { credential: 'model' } },
      { skill: { name: 'send_email', credential: 'of-template' } },
    ]);
    expect(complaintsOf(visitor)).toEqual([]);
  });

  test('a template whose draft cannot be stored leaves no workflow behind, and says why', async () => {
    const { page } = visitor;
    const refuse = (route: Route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 503, body: '' }) : route.continue();
    expect(complaintsOf(visitor)).toEqual([]);
    await page.route(/\/workflowdrafts/, refuse);
    await page.goto(addressOf(`/console/p/${PROJECT}/templates?template=hello`));
    await page.getByLabel('ID', { exact: true }).fill('refused');
    await clicked(page, 'Create and open');
    await page.getByRole('alert').first().waitFor();
    const { items } = await system.harness.client.listAll(workflows, { namespace: PROJECT });
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('refused');
    await page.unroute(/\/workflowdrafts/, refuse);
    // The browser reports the refusal, too.
    visitor.complaints.splice(0);
  });

  test('a credential that was made or edited at a node gives the focus back to its button', async () => {
    const { page } = visitor;
    await show(page, addressOf(`${CANVAS}?node=mail`));
    const edit = panelOf(page).getByRole('button', { name: 'Edit the credential mail' });
    await edit.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('Edit the credential mail');
    expect(complaintsOf(visitor)).toEqual([]);
    await panelOf(page).getByRole('button', { name: 'New credential…' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('New credential…');
  });

  test('a new credential has the focus in its form', async () => {
    const { page } = visitor;
    await show(page, addressOf(`/console/p/${PROJECT}/credentials`));
    await clicked(page, 'New credential');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Send email/ })
      .click();
    const field = page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true });
    await field.waitFor();
    const hasFocus = () => field.evaluate((element) => element === element.ownerDocument.activeElement);
    await expect.poll(hasFocus).toBe(true);
  });

  test('an invalid save says which revision is live, and an invalid schedule that nothing is scheduled', async () => {
    const { page } = visitor;
    const nodes = (text: string) => [
      { id: 'trigger', webhook: { path: 'kept' } },
      { id: 'reply', response: { body: text } },
    ];
    const kept = (text: string) => object('Workflow', 'kept', { active: true, nodes: nodes(text) });
    await system.apply(PROJECT, manifestOf([kept('fine')]));
    await system.harness.waitFor(PROJECT, 'kept', { type: 'Ready', status: 'True' }, 60_000);
    const never = { id: 'trigger', schedule: { cron: '0 0 30 2 *' } };
    const scheduled = object('Workflow', 'never', { active: true, nodes: [never, { id: 'a', skill: SET }] });
    await system.apply(PROJECT, manifestOf([kept("{{ $('later').text_content }}"), scheduled]));
    await show(page, addressOf(`${LIST}/kept`));
    await clicked(page, /: Published version not live$/);
    await page.getByText(/Events start runs of the earlier version kept-\w+\./).waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await show(page, addressOf(`${LIST}/never`));
    await clicked(page, /: Needs attention$/);
    await page.getByText('Nothing is scheduled. This schedule never fires').waitFor();
  });

  test('the browser complains of nothing meanwhile', () => {
    expect(complaintsOf(visitor)).toEqual([]);
  });
});
