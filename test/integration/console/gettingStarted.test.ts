/** The first steps of a new project: ticked by what exists, dismissed, and shown again. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { flawsOf } from '../../support/console/axe.ts';
import { startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { accountsOf, manifestOf, object, post } from '../../support/console/filledProject.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let page: Page;
let token: string;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  visitor = await visit(browser);
  ({ page } = visitor);
  page.setDefaultTimeout(40_000);
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
  await startSession(visitor.context, system.consoleURL, token);
  await open();
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

const open = () => page.goto(new URL(`/console/p/${PROJECT}/overview`, system.consoleURL).href);
const steps = () => page.getByRole('region', { name: 'Getting started' });
const step = (title: string, state: 'done' | 'to do') =>
  steps().getByRole('listitem', { name: `${title}: ${state}` });

test('an empty project has three steps, none of which is done', async () => {
  for (const title of [
    'Create a credential or choose a template',
    'Build a workflow and try it',
    'Publish and activate it',
  ])
    await step(title, 'to do').waitFor();
  // The steps are the only way to begin that it offers.
  expect(await page.getByText('No data yet').count()).toBe(0);
  expect(await flawsOf(page)).toEqual([]);
});

test.each([
  ['credentials', 403],
  ['workflowruns', 500],
])('where the %s cannot be read (%d), the overview says where to begin', async (plural, status) => {
  const listing = new RegExp(`/namespaces/${PROJECT}/${plural}\\?`);
  const json = { kind: 'Status', reason: status === 403 ? 'Forbidden' : 'InternalError', message: 'No.' };
  await page.route(listing, (route) => route.fulfill({ status, json }));
  await open();
  await page.getByText('No data yet').waitFor();
  await page.getByRole('link', { name: 'Go to workflows' }).waitFor();
  expect(await steps().count()).toBe(0);
  await page.unroute(listing);
  expect(visitor.complaints.splice(0).filter((line) => !line.includes(`/${plural}?`))).toEqual([]);
  await open();
});

test('the first step leads to the templates', async () => {
  await steps().getByRole('link', { name: 'choose a template' }).click();
  await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/p/${PROJECT}/templates`);
  await open();
});

test('a key is offered for a new workflow, but not where there are only fingers', async () => {
  const fingers = await visit(browser, { viewport: { width: 390, height: 844 }, hasTouch: true });
  await startSession(fingers.context, system.consoleURL, token);
  const isKeyShown = async ({ page: shown }: Visitor): Promise<boolean> => {
    await shown.goto(new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
    await shown.getByText('Create your first workflow').waitFor();
    return shown.getByText('to create a workflow.').isVisible();
  };
  expect(await isKeyShown(visitor)).toBe(true);
  expect(await isKeyShown(fingers)).toBe(false);
  await fingers.close();
  await open();
});

test('dismissed steps stay away until the help menu shows them', async () => {
  await page.getByRole('button', { name: 'Dismiss getting started' }).click();
  await steps().waitFor({ state: 'detached' });
  await open();
  await page.getByText('No data yet').waitFor();
  await page.getByRole('link', { name: 'Browse templates' }).waitFor();
  expect(await steps().count()).toBe(0);
  await page.goto(new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
  await page.getByRole('button', { name: 'Help' }).click();
  await page.getByRole('menuitem', { name: 'Getting started' }).click();
  await step('Build a workflow and try it', 'to do').waitFor();
});

test('what exists is ticked', async () => {
  const nodes = [{ id: 'trigger', webhook: { path: 'in' } }];
  const workflow = object('Workflow', 'first', { active: true, nodes });
  await system.apply(PROJECT, manifestOf([...accountsOf(system), workflow]));
  await step('Create a credential or choose a template', 'done').waitFor();
  await step('Publish and activate it', 'done').waitFor();
  await system.harness.waitFor(PROJECT, 'first', { type: 'Ready', status: 'True' }, 90_000);
  await post(system, `${PROJECT}.first/in`, {});
  await step('Build a workflow and try it', 'done').waitFor({ timeout: 60_000 });
  expect(visitor.complaints).toEqual([]);
});
