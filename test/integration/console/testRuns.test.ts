/**
 * Test runs from the editor: of the draft, by a real event, of the chat panel, of a version just saved, and
 * with pinned outputs. Closing the dialog cancels them. A run shows where code failed.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ANNOTATION } from '../../../api/group.ts';
import type { RunView } from '../../../api/runView.ts';
import { servedState } from '../../../console/editor/run/served.ts';
import { drafts, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { flawsOf, LAYERS } from '../../support/console/axe.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { manifestOf } from '../../support/console/filledProject.ts';
import { focused } from '../../support/console/keyboard.ts';
import {
  addAfter,
  askToPublish,
  askToRunTo,
  canvasOpened,
  nodeOf,
  openNode,
  openOutput,
  panelOf,
  publishDialog,
  renameWorkflow,
  runEnded,
  testRun,
  view as switchTo,
  writeExpression,
  writeYaml,
} from '../../support/console/steps.ts';
import {
  openWebhookWorkflow,
  publishedNodes,
  webhookWorkflow,
} from '../../support/console/webhookWorkflow.ts';
import { pollUntil } from '../../support/time/poll.ts';

const PROJECT = 'shop';
/** Of the version just saved. */
const NAME = 'calc';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let token: string;
beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
  visitor = await visit(browser);
  visitor.page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, token);
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

const storedNodes = (name: string) => publishedNodes({ system, project: PROJECT }, name);

/** Stores a small workflow and opens it. */
async function opened(name: string, { active }: { active: boolean }): Promise<Page> {
  const { page } = visitor;
  await openWebhookWorkflow(page, { system, project: PROJECT }, { name, active });
  return page;
}

/** What is opened next loads the console, and parts of it when they are needed. */
const forgetConsole = () => visitor.page.goto('about:blank');

test('a test run executes the draft of an active workflow and publishes nothing', async () => {
  const page = await opened('tested', { active: true });
  await addAfter(page, 'one', 'Response');
  await page.getByRole('button', { name: 'Workflow settings' }).click();
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await dialog.getByText('Events still run the published version').waitFor();
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  // The panel that is open stays in the address, and the run beside another one.
  const addressed = (name: string) => new URL(page.url()).searchParams.get(name);
  expect(addressed('settings')).toBe('true');
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search everything').fill('reply');
  await page.locator('[data-combobox-selected]').filter({ hasText: 'reply' }).waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => addressed('node')).toBe('reply');
  expect(addressed('run')).toMatch(/^tested-/);
  await nodeOf(page, 'reply')
    .getByText(/\d m?s/)
    .waitFor();
  const strip = page.getByRole('group', { name: 'The run on the canvas' });
  await strip.getByText('Draft', { exact: true }).waitFor();
  expect(await storedNodes('tested')).toEqual(['trigger', 'one']);
  await page.getByRole('status', { name: /^Unpublished changes/ }).waitFor();
  await strip.getByRole('link', { name: 'Run details' }).click();
  await page.getByText(/tested-\w+ \(draft\)$/).waitFor();
});

/** Opens the dialog of a test run, and listens. Its URL at this gateway, as soon as it is open. */
async function listensFor(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await dialog.getByRole('button', { name: 'Listen for an event' }).click();
  await dialog.getByText('Listening for one event').waitFor();
  const url = await dialog.getByText(/^https?:.*\/test-[0-9a-f]{32}$/).textContent();
  return `${system.gateway.publicURL}${new URL(url ?? '').pathname}`;
}

const sendTo = (url: string, body: object): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Without sending an event: a URL that is open refuses other methods. */
const isOpen = async (url: string): Promise<boolean> => (await fetch(url)).status === 405;

test('a test run of the draft listens for one real event, which the console shows', async () => {
  const page = await opened('listening', { active: true });
  await addAfter(page, 'one', 'Response');
  const url = await listensFor(page);
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await dialog.getByText(/closes in [01]:\d\d/).waitFor();
  await dialog.getByText('Anyone who knows it can send the event.').waitFor();
  expect(await flawsOf(page, LAYERS)).toEqual([]);
  expect((await sendTo(url, { order: 'A-4711' })).status).toBe(200);
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  await openNode(page, 'trigger');
  await openOutput(page);
  await page.getByText('A-4711').first().waitFor();
  expect(await storedNodes('listening')).toEqual(['trigger', 'one']);
  expect([410, 404]).toContain((await sendTo(url, {})).status);
});

test('listening that is stopped, or whose dialog is closed, leaves no run and no URL', async () => {
  const page = await opened('stopped', { active: false });
  const url = await listensFor(page);
  expect(await isOpen(url)).toBe(true);
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await expect.poll(() => focused(page)).toBe('Stop listening');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Run', exact: true }).waitFor();
  await expect.poll(() => focused(page)).toBe('Listen for an event');
  await expect.poll(() => isOpen(url)).toBe(false);
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  const again = await listensFor(page);
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await expect.poll(() => isOpen(again)).toBe(false);
  const { items } = await system.harness.client.listAll(workflowRuns, { namespace: PROJECT });
  expect(items.filter(({ spec }) => spec.workflow === 'stopped')).toEqual([]);
});

/** A workflow whose runs do not end by themselves. */
const pausing = (name: string) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: {
    active: false,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'pause', wait: { duration: '1h' } },
    ],
  },
});

test.each([
  ['draft', /\/workflowruns\?/],
  ['published version', /\/execute\?/],
])(
  'closing the dialog while a test run of the %s starts cancels it, and leads nowhere',
  async (what, path) => {
    const name = what === 'draft' ? 'closed-draft' : 'closed';
    const { page } = visitor;
    await system.apply(PROJECT, manifestOf([pausing(name)]));
    await show(page, new URL(`/console/p/${PROJECT}/workflows/${name}`, system.consoleURL).href);
    await canvasOpened(page, 'pause');
    if (what === 'draft') await renameWorkflow(page, 'Draft');
    const [begun, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(path, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      const response = await route.fetch();
      begun.resolve();
      await closed.promise;
      // The page may have stopped to wait for it.
      return route.fulfill({ response }).catch(() => undefined);
    });
    await page.getByRole('button', { name: 'Test run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Test run' });
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await begun.promise;
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    closed.resolve();
    const runs = async () => {
      const { items } = await system.harness.client.list(workflowRuns, { namespace: PROJECT });
      return items.filter(({ spec }) => spec.workflow === name).map(({ status }) => status?.phase);
    };
    await expect.poll(runs, { timeout: 30_000 }).toEqual(['Cancelled']);
    expect(new URL(page.url()).search).toBe('');
    await page.unroute(path);
  },
);

test('a draft with a problem does not start, and the dialog says why and leads there', async () => {
  const page = await opened('wrong', { active: true });
  await addAfter(page, 'one', 'Set');
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  const problems = dialog.getByRole('list', { name: 'Problems of the draft' });
  await problems.getByText('Values are required.').waitFor();
  const run = dialog.getByRole('button', { name: 'Run', exact: true });
  await expect.poll(() => run.getAttribute('aria-disabled')).toBe('true');
  await dialog.getByText('Correct the problems above first.').waitFor();
  const [first, input] = await Promise.all([
    problems.boundingBox(),
    dialog.getByRole('textbox', { name: 'Test data' }).boundingBox(),
  ]);
  expect(first?.y).toBeLessThan(input?.y ?? 0);
  expect(await storedNodes('wrong')).toEqual(['trigger', 'one']);
  await problems.getByRole('button', { name: 'set' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('complementary', { name: 'Node set' }).first().waitFor();
});

test('a test run to a node, and what it had is there again, starts although later nodes are incomplete', async () => {
  const page = await opened('half', { active: false });
  await addAfter(page, 'one', 'Set');
  await addAfter(page, 'set', 'Agent');
  await testRun(page, { data_content: { amount: 150 } }, 'one');
  expect(await runEnded(page)).toMatch(/^Succeeded up to one/);
  await page.reload();
  await canvasOpened(page, 'set');
  await askToRunTo(page, 'set');
  const dialog = page.getByRole('dialog', { name: 'Test run up to set' });
  await dialog.getByRole('textbox', { name: 'Test data' }).getByText('150').waitFor();
  const problems = dialog.getByRole('list', { name: 'Problems of the draft' });
  await problems.getByText('Values are required.').waitFor();
  expect(await problems.getByRole('listitem').count()).toBe(1);
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  // With its output no run executes it.
  await panelOf(page).getByRole('button', { name: 'Pin output' }).click();
  await panelOf(page).getByRole('textbox', { name: 'Pinned output of set' }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"data_content": {"n": 7}}');
  await testRun(page, undefined, 'set');
  expect(await runEnded(page)).toMatch(/^Succeeded up to set/);
  expect(await storedNodes('half')).toEqual(['trigger', 'one']);
});

test('a credential that nobody created is marked, keeps a test run from starting, and is named before a publication', async () => {
  const page = await opened('lacking', { active: true });
  const { spec, ...manifest } = webhookWorkflow('lacking', true);
  const parameters = { to: 'ada@example.com', subject: 'a', body: 'b' };
  const mail = { id: 'mail', skill: { name: 'send_email', credential: 'order-mail', parameters } };
  await switchTo(page, 'YAML');
  await writeYaml(page, stringify({ ...manifest, spec: { nodes: [...spec.nodes, mail] } }));
  await switchTo(page, 'Canvas');
  const missing = 'Credential order-mail does not exist in this project. Create it or choose another one.';
  const mark = nodeOf(page, 'mail').getByText('problem: ');
  await mark.waitFor({ state: 'attached' });
  expect(await mark.textContent()).toBe(`, problem: ${missing}`);

  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  const problems = dialog.getByRole('list', { name: 'Problems of the draft' });
  await problems.getByText(missing).waitFor();
  const run = dialog.getByRole('button', { name: 'Run', exact: true });
  await expect.poll(() => run.getAttribute('aria-disabled')).toBe('true');
  await problems.getByRole('button', { name: 'mail' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await panelOf(page).getByText(missing).waitFor();
  await testRun(page, undefined, 'one');
  expect(await runEnded(page)).toMatch(/^Succeeded up to one/);

  await askToPublish(page);
  const asked = publishDialog(page);
  await asked.getByText('Credentials are missing').waitFor();
  await asked.getByRole('list', { name: 'Problems' }).getByText(missing).waitFor();
  await asked.getByRole('button', { name: 'Publish anyway' }).waitFor();
  await asked.getByRole('button', { name: 'Cancel' }).click();

  const smtp = {
    host: 'mail.example.com',
    from: 'shop@example.com',
    username: 'shop',
    passwordRef: { name: 'no-such-secret', key: 'password' },
  };
  const { apiVersion } = manifest;
  await system.apply(
    PROJECT,
    manifestOf([{ apiVersion, kind: 'Credential', metadata: { name: 'order-mail' }, spec: { smtp } }]),
  );
  await mark.waitFor({ state: 'detached' });
});

test('a draft that the operator refuses says where, and leads there', async () => {
  const page = await opened('refused', { active: true });
  await addAfter(page, 'one', 'Wait');
  await panelOf(page).getByRole('radiogroup', { name: 'Wait' }).getByText('Until', { exact: true }).click();
  await writeExpression(page, 'Until', 'tomorrow');
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  const why = dialog.getByRole('list', { name: 'Why it cannot run' });
  await why.getByText('is not a time in RFC 3339').waitFor();
  await why.getByRole('button', { name: 'wait' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('complementary', { name: 'Node wait' }).first().waitFor();
  expect(await storedNodes('refused')).toEqual(['trigger', 'one']);
});

test('the connection whose condition failed is marked, and Show opens it', async () => {
  const { page } = visitor;
  const edges = [{ from: 'trigger', to: 'one', when: 'nodes.trigger.data_content.amount > 100' }];
  const workflow = webhookWorkflow('compared', false);
  await system.apply(PROJECT, manifestOf([{ ...workflow, spec: { ...workflow.spec, edges } }]));
  await show(page, new URL(`/console/p/${PROJECT}/workflows/compared`, system.consoleURL).href);
  await canvasOpened(page, 'one');
  await testRun(page, { data_content: { amount: '150' } });
  expect(await runEnded(page)).toMatch(/^Failed: Connection trigger → one: /);
  const failed = page.getByLabel('Connection from trigger to one, failed');
  const color = () =>
    failed
      .locator('[data-failed]')
      .evaluate((line) => line.ownerDocument.defaultView.getComputedStyle(line).stroke);
  const red = await color();
  await page
    .getByRole('group', { name: 'The run on the canvas' })
    .getByRole('button', { name: 'Show connection' })
    .click();
  await page
    .getByRole('complementary', { name: 'Connection' })
    .getByRole('group', { name: 'Only if' })
    .waitFor();
  // It is as red as before.
  await failed.locator('[data-failed][data-active]').waitFor({ state: 'attached' });
  expect(await color()).toBe(red);
});

test.each(['loads late', 'cannot be loaded'])(
  'a test run starts by key after the check of the draft that %s, not before',
  async (how) => {
    await forgetConsole();
    const page = await opened(`check-${how.replaceAll(' ', '-')}`, { active: false });
    const isDone = Promise.withResolvers<void>();
    const check = /\/DraftProblems[^/]*\.js$/;
    await page.route(check, async (route) => {
      await isDone.promise;
      await (how === 'loads late' ? route.continue() : route.abort());
    });
    await page.getByRole('button', { name: 'Test run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Test run' });
    const run = dialog.getByRole('button', { name: 'Run', exact: true });
    await dialog.getByText('text_content is a string').waitFor();
    await dialog.getByRole('textbox', { name: 'Test data' }).waitFor();
    expect(await run.getAttribute('aria-disabled')).toBe('true');
    await dialog.getByRole('status').getByText('Checking the draft…').waitFor();
    const listen = dialog.getByRole('button', { name: 'Listen for an event' });
    expect(await listen.isDisabled()).toBe(true);
    await expect.poll(() => focused(page)).toBe('Run');
    await page.keyboard.press('Enter');
    // It starts runs and nothing else: a line more would be other data.
    const data = dialog.getByRole('textbox', { name: 'Test data' });
    const text = await data.innerText();
    await data.focus();
    await page.keyboard.press('Control+Enter');
    expect(await data.innerText()).toBe(text);
    isDone.resolve();
    await expect.poll(() => run.getAttribute('aria-disabled')).toBe('false');
    expect(await listen.isDisabled()).toBe(false);
    expect(await dialog.getByText('Checking the draft…').count()).toBe(0);
    await page.keyboard.press('Control+Enter');
    expect(await runEnded(page)).toMatch(/^Succeeded/);
    await page.unroute(check);
  },
);

test('a panel that loads late leaves the focus in the dialog of a test run', async () => {
  await forgetConsole();
  const page = await opened('late', { active: false });
  const dialogShown = Promise.withResolvers<void>();
  await page.route(/\.js$/, async (route) => {
    await dialogShown.promise;
    await route.continue();
  });
  await nodeOf(page, 'one').click();
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  await page.getByRole('dialog', { name: 'Test run' }).getByText('text_content is a string').waitFor();
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
  const workflow = webhookWorkflow('coded', false);
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

test('a message starts a test run, and its answer is shown in the panel', { timeout: 120_000 }, async () => {
  const metadata = { name: 'support' };
  const nodes = [
    { id: 'trigger', chat: { access: 'Public' } },
    { id: 'reply', response: { body: "You said: {{ $('trigger').text_content }}" } },
  ];
  await system.apply(
    PROJECT,
    stringify({
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Workflow',
      metadata,
      spec: { nodes, budget: { day: { tokens: 100_000 } } },
    }),
  );
  const { page } = visitor;
  await show(page, new URL(`/console/p/${PROJECT}/workflows/support`, system.consoleURL).href);
  await canvasOpened(page, 'trigger');
  await page.getByRole('button', { name: 'Chat', exact: true }).click();
  const panel = page.getByRole('dialog', { name: 'Chat' });
  await panel.getByRole('textbox', { name: 'Message' }).fill('Where is it?');
  await page.keyboard.press('Enter');
  await panel.getByRole('log', { name: 'Conversation' }).getByText('You said: Where is it?').waitFor();
  await panel.getByRole('link', { name: /^support-/ }).waitFor();
  expect(await flawsOf(page)).toEqual([]);
  // A long conversation scrolls above the field.
  const message = panel.getByRole('textbox', { name: 'Message' });
  await message.fill(Array.from({ length: 60 }, (_, line) => `line ${line}`).join('\n'));
  await page.keyboard.press('Enter');
  await panel.getByText('You said: line 0').waitFor();
  const box = await message.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
});

/** Saves the workflow, which is inactive, with another value. */
async function save(value: number): Promise<number> {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'calc', skill: { name: 'set', parameters: { values: { value: String(value) } } } },
  ];
  const manifest = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: NAME } };
  await system.apply(PROJECT, stringify({ ...manifest, spec: { nodes } }));
  const { metadata } = await system.harness.client.get(workflows, { namespace: PROJECT, name: NAME });
  return metadata.generation ?? 0;
}

/** Waits for what the console waits for. */
function served(generation: number): Promise<unknown> {
  return pollUntil(
    `generation ${generation} to be served`,
    async () => {
      const workflow = await system.harness.client.get(workflows, { namespace: PROJECT, name: NAME });
      return servedState(workflow, generation).kind === 'served';
    },
    { timeoutMs: 30_000, everyMs: 5 },
  );
}

async function startRun(): Promise<RunView> {
  const url = `${system.gateway.internalURL}/workflows/${PROJECT}.${NAME}/execute?test=true`;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, prefer: 'wait=30' },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as RunView;
}

test('a test run after a save executes the saved version as soon as it is served', async () => {
  for (let value = 1; value <= 8; value += 1) {
    await served(await save(value));
    const { phase, nodes } = await startRun();
    expect(phase).toBe('Succeeded');
    expect(nodes.find(({ id }) => id === 'calc')?.output?.data_content).toEqual({ value });
  }
});

/** Its second step fails each time. */
const failing = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'failing' },
  spec: {
    active: true,
    nodes: [
      { id: 'trigger', manual: { testData: { n: 4 } } },
      { id: 'make', code: { source: 'return { made: nodes.trigger.data_content.n + Math.random() };' } },
      {
        id: 'ask',
        skill: { name: 'http_request', parameters: { method: 'GET', url: 'http://127.0.0.1:9/' } },
      },
      {
        id: 'answer',
        skill: { name: 'set', parameters: { values: { status: 'nodes.ask.data_content.status' } } },
      },
    ],
  },
};

/** The newest run of the failing workflow. */
async function newestRun() {
  const { items } = await system.harness.client.list(workflowRuns, { namespace: PROJECT });
  const runs = items.filter(({ spec }) => spec.workflow === 'failing');
  return runs.toSorted((a, b) => (a.metadata.name < b.metadata.name ? 1 : -1))[0];
}

test('outputs of a failed run are pinned, one is written, and test runs use them', {
  timeout: 120_000,
}, async () => {
  await system.apply(PROJECT, stringify(failing));
  const { page } = visitor;
  await show(page, new URL(`/console/p/${PROJECT}/workflows/failing`, system.consoleURL).href);
  await canvasOpened(page, 'ask');
  await testRun(page);
  expect(await runEnded(page)).toMatch(/^Failed at ask/);

  await page.getByRole('button', { name: 'Pin outputs' }).click();
  await page.getByText('Outputs pinned: trigger, make.').waitFor();
  await nodeOf(page, 'make').getByText(', pinned').waitFor({ state: 'attached' });
  const stored = () => system.harness.client.find(drafts, { namespace: PROJECT, name: 'failing' });
  const pinsOf = (body = '{}') => Object.keys((JSON.parse(body) as { pins?: object }).pins ?? {});
  await expect.poll(async () => pinsOf((await stored())?.spec.body)).toEqual(['trigger', 'make']);
  expect(await page.getByRole('status', { name: /^Unpublished changes/ }).count()).toBe(0);
  // The list marks no draft of that kind.
  expect((await stored())?.metadata.annotations).toEqual({ [ANNOTATION.pinsOnly]: 'true' });

  const panel = await openNode(page, 'ask');
  await openOutput(page);
  await panel.getByRole('button', { name: 'Pin output' }).click();
  const field = panel.getByRole('textbox', { name: 'Pinned output of ask' });
  await field.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"data_content": {"status": 20');
  await panel.getByText('Invalid JSON').waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"data_content": {"status": 204}}');
  expect(await flawsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await dialog.getByText('Replaced by pinned outputs: "make", "ask".').waitFor();
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  await expect.poll(async () => (await newestRun())?.status?.phase).toBe('Succeeded');
  const nodes = (await newestRun())?.status?.nodes ?? [];
  expect(nodes.find(({ id }) => id === 'answer')?.output?.data_content).toEqual({ status: 204 });

  await openNode(page, 'ask');
  await openOutput(page);
  await panel.getByRole('button', { name: 'Unpin' }).click();
  await panel.getByRole('button', { name: 'Run this node' }).click();
  const alone = page.getByRole('dialog', { name: 'Test run of ask only' });
  await alone.getByText('Nodes before ask are not executed').waitFor();
  await alone.getByRole('button', { name: 'Run this node' }).click();
  await alone.waitFor({ state: 'hidden' });
  await expect.poll(async () => (await newestRun())?.spec.until).toBe('ask');
  await expect.poll(async () => (await newestRun())?.status?.phase).toBe('Failed');
  const last = await newestRun();
  expect(last?.spec).toMatchObject({ mocks: [{ node: 'make' }], unmocked: 'Execute' });
  expect(last?.status?.nodes?.find(({ id }) => id === 'make')?.mocked).toBeDefined();
  const live = await system.harness.client.get(workflows, { namespace: PROJECT, name: 'failing' });
  expect(live.metadata.generation).toBe(1);
});
