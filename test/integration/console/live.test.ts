/**
 * Saving an active workflow says what goes live, and asks; saving anything else does not. A run shows where
 * code failed.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflows } from '../../../operator/shared/resources.ts';
import { signInAt, startChromium, visit, type Visitor } from '../../support/console/chromium.ts';
import { manifestOf } from '../../support/console/filledProject.ts';
import {
  addAfter,
  canvasOpened,
  nodeOf,
  openNode,
  runEnded,
  save,
  saveLive,
  testRun,
} from '../../support/console/steps.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  visitor = await visit(browser);
  visitor.page.setDefaultTimeout(20_000);
  await signInAt(visitor.page, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

const set = { id: 'one', skill: { name: 'set', parameters: { values: { n: '1' } } } };
const workflowOf = (name: string, active: boolean) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: { active, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }, set] },
});

const question = (page: Page) => page.getByRole('dialog', { name: 'Make these changes live?' });

/** The ids of the nodes that are stored. */
async function storedNodes(name: string): Promise<string[]> {
  const { spec } = await system.harness.client.get(workflows, { namespace: PROJECT, name });
  return spec.nodes.map(({ id }) => id);
}

async function opened(name: string, { active }: { active: boolean }): Promise<Page> {
  const { page } = visitor;
  await system.apply(PROJECT, manifestOf([workflowOf(name, active)]));
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/${name}`, system.consoleURL).href);
  await canvasOpened(page, 'one');
  return page;
}

async function renamed(page: Page, name: string): Promise<void> {
  const field = page.getByLabel('Workflow name');
  await field.fill(name);
  await field.press('Enter');
}

test('an active workflow lists its live changes and saves nothing before confirmation', async () => {
  const page = await opened('saved', { active: true });
  await addAfter(page, 'one', 'Response');
  await page.keyboard.press('Control+s');
  await question(page).getByRole('list', { name: 'Changes' }).getByText('Added: reply').waitFor();
  await question(page).getByText('id: reply').waitFor();
  await question(page).getByRole('button', { name: 'Cancel' }).click();
  await question(page).waitFor({ state: 'hidden' });
  expect(await storedNodes('saved')).toEqual(['trigger', 'one']);
  await saveLive(page);
  expect(await storedNodes('saved')).toEqual(['trigger', 'one', 'reply']);
});

test('a version with problems lists them and says that it does not go live', async () => {
  const page = await opened('incomplete', { active: true });
  await addAfter(page, 'one', 'Set');
  await page.keyboard.press('Control+s');
  await question(page).getByRole('list', { name: 'Problems' }).getByText('Values is required.').waitFor();
  await question(page).getByText('This version will not go live yet').waitFor();
  await question(page).getByRole('button', { name: 'Save anyway' }).click();
  await expect.poll(() => storedNodes('incomplete')).toEqual(['trigger', 'one', 'set']);
});

test('a test run of an active workflow saves and starts nothing before confirmation', async () => {
  const page = await opened('tested', { active: true });
  await addAfter(page, 'one', 'Response');
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await dialog.getByText('This workflow is active').waitFor();
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await question(page).getByText('Added: reply').waitFor();
  await page.keyboard.press('Escape');
  await question(page).waitFor({ state: 'hidden' });
  expect(await storedNodes('tested')).toEqual(['trigger', 'one']);
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await question(page).getByRole('button', { name: 'Save and make live' }).click();
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  expect(await storedNodes('tested')).toEqual(['trigger', 'one', 'reply']);
});

test('a name of an active workflow, and any change of an inactive one, is saved without confirmation', async () => {
  let page = await opened('renamed', { active: true });
  await renamed(page, 'Orders');
  await save(page);
  page = await opened('inactive', { active: false });
  await addAfter(page, 'one', 'Response');
  await save(page);
  expect(await storedNodes('inactive')).toEqual(['trigger', 'one', 'reply']);
});

test('a panel that loads late leaves the focus in the dialog of a test run', async () => {
  const page = await opened('late', { active: false });
  const dialogShown = Promise.withResolvers<void>();
  await page.route(/\.js$/, async (route) => {
    await dialogShown.promise;
    await route.continue();
  });
  await nodeOf(page, 'one').click();
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  await page.getByRole('dialog', { name: 'Test run' }).getByText('Output of the webhook trigger').waitFor();
  dialogShown.resolve();
  await page.locator('[aria-label="Settings of one"]').waitFor();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Test data' }).waitFor();
  expect(await page.evaluate(`document.activeElement.closest('[role="dialog"]') !== null`)).toBe(true);
  await page.unroute(/\.js$/);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click();
});

test('the line of code that failed in a test run is marked, and a fail node offers no node after it', async () => {
  const page = await opened('coded', { active: false });
  const code = { id: 'one', code: { source: 'const a = 1;\n  throw new Error("no such item");\nreturn a;' } };
  const workflow = workflowOf('coded', false);
  const nodes = [...workflow.spec.nodes.slice(0, 1), code];
  await system.apply(PROJECT, manifestOf([{ ...workflow, spec: { ...workflow.spec, nodes } }]));
  await page.reload();
  await canvasOpened(page, 'one');
  await testRun(page);
  expect(await runEnded(page)).toMatch(/^Failed at one: line 2, column \d+: Error: no such item/);
  const panel = await openNode(page, 'one');
  expect(await panel.locator('.cm-lintRange-error').textContent()).toContain('"no such item"');
  await panel.getByRole('button', { name: 'Close the panel' }).click();
  await page.getByRole('button', { name: 'Add a node after one', exact: true }).click();
  await page.getByLabel('Search nodes').fill('stop and error');
  await page.getByRole('option', { name: 'Fail' }).click();
  await page.getByText('fail', { exact: true }).first().waitFor();
  expect(await page.getByRole('button', { name: 'Add a node after fail', exact: true }).count()).toBe(0);
});
