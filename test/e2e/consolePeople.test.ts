/**
 * Who may see what in the console: ways in and out, sessions that end, projects, and readers, to whom nothing
 * is offered that fails.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signInAt } from '../support/console/chromium.ts';
import { draftSaved, openPage, openNode, panelOf } from '../support/console/steps.ts';
import { waitForReady } from '../support/installation/install.ts';
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
import { pollUntil } from '../support/time/poll.ts';

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
    { timeoutMs: 100_000 },
  );
});
afterAll(() => Promise.all([removeProject(project), removeProject(other)]));

test('a token signs in to the readable projects only; signing out ends the session', async () => {
  const { page } = await visitor();
  await signInAt(page, consoleURL, editor);
  await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
  expect(page.url()).toContain(`/p/${project}/workflows`);
  await page
    .getByRole('combobox', { name: 'Project' })
    .or(page.getByRole('textbox', { name: 'Project' }))
    .click();
  expect(await page.getByRole('option').allTextContents()).toEqual([project, 'Open another project…']);
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

test('a link signs in once, after a click', async () => {
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

test('an expired session is renewed over the page, and input is kept', async () => {
  const { page, context } = await signedIn(editor, project, 'workflows/count');
  await openNode(page, 'set');
  const name = page.getByLabel('Workflow name');
  await name.fill('Typed before the session ended');
  await name.press('Enter');
  await context.clearCookies();
  await page.keyboard.press('ControlOrMeta+s');
  const dialog = page.getByRole('dialog', { name: 'Session expired' });
  await dialog.getByLabel('Token', { exact: true }).fill(await tokenOf(project, 'edith'));
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await draftSaved(page);
  expect(await name.inputValue()).toBe('Typed before the session ended');
});

/** All buttons and switches that a reader sees in the content of each page. */
const READER_SEES: Record<string, (string | RegExp)[]> = {
  workflows: ['Name', 'Status', 'Trigger', 'Last run', 'Success rate', /^Actions for/],
  'workflows/count': [
    'Runs of this workflow',
    'Versions',
    /^Webhook( · Public)?: Active/,
    'Workflow settings',
    /^trigger/,
    /^set/,
    /^Fit the workflow/,
    'Zoom in',
    'Zoom out',
    /^Keyboard shortcuts/,
  ],
  runs: [],
  run: [
    /^trigger/,
    /^set/,
    'Copy',
    'Copy value of data_content',
    'Copy data_content as expression',
    'Copy value of n',
    'Copy n as expression',
    'Copy',
    'Copy value of text_content',
    'Copy text_content as expression',
    'Copy value of data_content',
    'Copy data_content as expression',
    'Copy value of two',
    'Copy two as expression',
  ],
  credentials: ['Open lost', /^lost/],
  overview: ['Runs per hour as a table', 'Durations as a table', 'Model tokens as a table'],
};

test('a reader finds the links on each page and no button that fails', async () => {
  const { page } = await signedIn(reader, project);
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`);
  });
  const [run] = await recordedRuns(project);
  for (const [name, buttons] of Object.entries(READER_SEES)) {
    const rest = name === 'run' ? `runs/${run?.metadata.name}` : name;
    await pressAll(page, `${consoleURL}p/${project}/${rest}`, buttons);
  }
  await page.goto(`${consoleURL}p/${project}/workflows/count`);
  for (const id of ['trigger', 'set']) {
    await openNode(page, id);
    for (const tab of await panelOf(page).getByRole('tab').all()) await tab.click();
    await page.keyboard.press('Escape');
  }
  await openPage(page, 'Workflows');
  expect(refused).toEqual([]);
});

/**
 * Presses each button of the page's content, one after the other, from the page as it opens: these and no
 * others.
 */
async function pressAll(page: Page, url: string, expected: (string | RegExp)[]): Promise<void> {
  const content = page.locator('main');
  const buttons = content.getByRole('button').or(content.getByRole('switch'));
  const names = expected.map((name) =>
    expect.stringMatching(typeof name === 'string' ? new RegExp(`^${name}$`) : name),
  );
  await page.goto(url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await expect.poll(() => buttons.evaluateAll(nameAll), { timeout: 100_000 }).toEqual(names);
  for (const at of expected.keys()) {
    await buttons.nth(at).click();
    const items = page.getByRole('menuitem');
    if ((await items.count()) > 0) await items.last().click();
    await page.keyboard.press('Escape');
    if (page.url().split('?')[0] !== url) await page.goto(url);
  }
}

/** What each is called; runs in the page. */
const nameAll = (all: { getAttribute(name: string): string | null; textContent: string | null }[]) =>
  all.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? '');
