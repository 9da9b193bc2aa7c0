/** Who may see what in the console: ways in and out, sessions that end, projects, and readers, to whom nothing is offered that fails. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signInAt } from '../support/chromium.ts';
import { openPage, openNode, panelOf } from '../support/consoleSteps.ts';
import { waitForReady } from '../support/install.ts';
import { consoleURL, member, signedIn, tokenOf, visitor } from './console.ts';
import {
  apply,
  cluster,
  createProject,
  gateway,
  postWebhook,
  recordedRuns,
  removeProject,
  workflowOf,
} from './environment.ts';
import { pollUntil } from '../support/poll.ts';

let project: string;
let other: string;
let editor: string;
let reader: string;

beforeAll(async () => {
  [project, other] = await Promise.all([createProject(), createProject()]);
  [editor, reader] = await Promise.all([member(project, 'edith', 'edit'), member(project, 'rita', 'view')]);
  const nodes = [
    { id: 'trigger', webhook: { path: 'in' } },
    { id: 'set', skill: { name: 'set', parameters: { values: { two: '1 + 1' } } } },
  ];
  await apply(project, workflowOf('count', nodes), {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Credential',
    metadata: { name: 'lost' },
    spec: { openai: { apiKeyRef: { name: 'not-there', key: 'key' } } },
  });
  await waitForReady(cluster, 'count', project);
  await postWebhook(project, 'count', 'in', { n: 1 });
  await pollUntil(
    'the record of a run',
    async () => {
      if ((await recordedRuns(project)).length === 0) throw new Error('there is none');
      return true;
    },
    { timeoutMs: 60_000 },
  );
});
afterAll(() => Promise.all([removeProject(project), removeProject(other)]));

test('a token leads in, to the projects that its holder may read and to no other; signing out ends it', async () => {
  const { page } = await visitor();
  await signInAt(page, consoleURL, editor);
  await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
  expect(page.url()).toContain(`/p/${project}/workflows`);
  await page
    .getByRole('combobox', { name: 'Project' })
    .or(page.getByRole('textbox', { name: 'Project' }))
    .click();
  expect(await page.getByRole('option').allTextContents()).toEqual([project]);
  await page.keyboard.press('Escape');
  await page.goto(`${consoleURL}p/${other}/workflows`);
  await page
    .getByText(/may not|forbidden|not allowed/i)
    .first()
    .waitFor();
  await page.getByRole('button', { name: /account|signed in/i }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Token', { exact: true }).waitFor();
  await page.goto(`${consoleURL}p/${project}/workflows`);
  await page.getByLabel('Token', { exact: true }).waitFor();
});

test('a link signs in once, with a press of its button', async () => {
  const made = await fetch(`${gateway.internalURL}/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${editor}` },
  });
  const { url } = (await made.json()) as { url: string };
  const there = `${gateway.internalURL}${new URL(url).pathname}`;
  const { page } = await visitor();
  await page.goto(there);
  await page.getByRole('button').click();
  await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
  const { page: late } = await visitor();
  await late.goto(there);
  await late
    .getByText(/used|not valid|expired|no longer/i)
    .first()
    .waitFor();
  expect(await late.getByRole('navigation').count()).toBe(0);
});

test('a session that ends is asked for again over the page, and what was typed is still there', async () => {
  const { page, context } = await signedIn(editor, project, 'workflows/count');
  await openNode(page, 'set');
  const name = page.getByLabel('Name of the workflow');
  await name.fill('Typed before the session ended');
  await name.press('Enter');
  await context.clearCookies();
  await page.keyboard.press('ControlOrMeta+s');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('Token', { exact: true }).fill(await tokenOf(project, 'edith'));
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Saved', exact: true }).waitFor();
  expect(await name.inputValue()).toBe('Typed before the session ended');
});

test('a reader finds no button that fails, on any page', async () => {
  const { page } = await signedIn(reader, project);
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`);
  });
  const [run] = await recordedRuns(project);
  const at = (rest: string) => `${consoleURL}p/${project}/${rest}`;
  const pages = [
    'workflows',
    'workflows/count',
    'runs',
    `runs/${run?.metadata.name}`,
    'credentials',
    'overview',
  ];
  let pressed = 0;
  for (const rest of pages) {
    await page.goto(at(rest));
    pressed += await pressAll(page, at(rest));
  }
  await page.goto(at('workflows/count'));
  for (const id of ['trigger', 'set']) {
    await openNode(page, id);
    for (const tab of await panelOf(page).getByRole('tab').all()) await tab.click();
    await page.keyboard.press('Escape');
  }
  await openPage(page, 'Workflows');
  expect(refused).toEqual([]);
  expect(pressed).toBeGreaterThan(10);
  expect(await page.getByRole('button', { name: /new workflow/i }).count()).toBe(0);
});

/** Presses each button of the page's content, one after the other, from the page as it opens. */
async function pressAll(page: Page, url: string): Promise<number> {
  const buttons = page.locator('main').getByRole('button').or(page.locator('main').getByRole('switch'));
  await page.locator('main [aria-busy]').waitFor({ state: 'detached' });
  await buttons
    .or(page.getByRole('heading', { level: 1 }))
    .first()
    .waitFor();
  const count = await buttons.count();
  for (let at = 0; at < count; at += 1) {
    const button = buttons.nth(at);
    if (!(await button.isVisible()) || !(await button.isEnabled())) continue;
    await button.click();
    const items = page.getByRole('menuitem');
    if ((await items.count()) > 0) await items.last().click();
    await page.keyboard.press('Escape');
    if (page.url().split('?')[0] !== url) await page.goto(url);
  }
  return count;
}
