/**
 * Publishing shows what changes and what that does to runs, and test runs execute the draft. A run shows
 * where code failed.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DraftSpec } from '../../../api/draft.ts';
import { publicationOf } from '../../../api/version.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { drafts, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { colorFlawsOf, flawsOf, LAYERS } from '../../support/console/axe.ts';
import { startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { manifestOf } from '../../support/console/filledProject.ts';
import { focused } from '../../support/console/keyboard.ts';
import {
  addAfter,
  canvasOpened,
  createWorkflow,
  draftSaved,
  nodeOf,
  openNode,
  openOutput,
  publish,
  runEnded,
  testRun,
  view,
  writeYaml,
  yamlOn,
} from '../../support/console/steps.ts';
import {
  EDITOR,
  READER,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  visitor = await visit(browser);
  visitor.page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
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

const publishing = (page: Page) => page.getByRole('button', { name: 'Publish', exact: true }).click();
const question = (page: Page) => page.getByRole('dialog', { name: 'Publish these changes?' });

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

test('publishing lists the changes of an active workflow and does nothing before confirmation', async () => {
  const page = await opened('saved', { active: true });
  await addAfter(page, 'one', 'Response');
  await publishing(page);
  await question(page).getByRole('list', { name: 'Changes' }).getByText('Added: reply').waitFor();
  await question(page).getByText('id: reply').waitFor();
  await question(page).getByRole('button', { name: 'Cancel' }).click();
  await question(page).waitFor({ state: 'hidden' });
  expect(await storedNodes('saved')).toEqual(['trigger', 'one']);
  await publish(page);
  expect(await storedNodes('saved')).toEqual(['trigger', 'one', 'reply']);
});

test('a version with problems lists them and says that it does not go live', async () => {
  const page = await opened('incomplete', { active: true });
  await addAfter(page, 'one', 'Set');
  await publishing(page);
  await question(page).getByRole('list', { name: 'Problems' }).getByText('Values is required.').waitFor();
  await question(page).getByText('This version will not go live yet').waitFor();
  await question(page).getByRole('button', { name: 'Publish anyway' }).click();
  await expect.poll(() => storedNodes('incomplete')).toEqual(['trigger', 'one', 'set']);
});

test('what the API server refuses cannot be published, and its problem leads to the node', async () => {
  await system.apply(PROJECT, manifestOf([workflowOf('refused', true)]));
  const { metadata, spec } = await system.harness.client.get(workflows, {
    namespace: PROJECT,
    name: 'refused',
  });
  const { active: _active, ...base } = spec;
  const nodes = base.nodes.map((node) =>
    node.id === 'one' ? { ...node, repeat: { until: '', limit: 3 } } : node,
  );
  const bodyOf = (content: object): string => JSON.stringify({ spec: content, positions: {} });
  await system.harness.client.create(drafts, {
    metadata: { namespace: PROJECT, name: 'refused' },
    spec: { base: { uid: metadata.uid ?? '', body: bodyOf(base) }, body: bodyOf({ ...base, nodes }) },
  });
  const page = await opened('refused', { active: true });
  await publishing(page);
  const problems = question(page).getByRole('list', { name: 'Problems' });
  await problems.getByText('Repeat › Until: Enter a value').waitFor();
  await question(page).getByText('These changes cannot be published yet').waitFor();
  expect(await question(page).getByRole('button', { name: 'Publish', exact: true }).isDisabled()).toBe(true);
  await problems.getByRole('button', { name: 'one' }).click();
  await question(page).waitFor({ state: 'hidden' });
  await page.getByRole('complementary', { name: 'Node one' }).waitFor();
});

test('a test run executes the draft of an active workflow and publishes nothing', async () => {
  const page = await opened('tested', { active: true });
  await addAfter(page, 'one', 'Response');
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  await dialog.getByText('Events still run the published version').waitFor();
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  expect(await runEnded(page)).toMatch(/^Succeeded/);
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

/** Keeps back what the API server tells of drafts. `letThrough` passes on what it told of their changes. */
const KEEP_BACK = `(() => {
  const { fetch } = window;
  const kept = [];
  // Those of a stream that was reopened meanwhile come again.
  window.letThrough = () => kept.splice(0).forEach(({ line, out }) => {
    try { if (!line.includes('"DELETED"')) out.enqueue(line); } catch {}
  });
  window.keptBack = () => kept.length;
  window.fetch = async (...asked) => {
    const response = await fetch(...asked);
    if (!String(asked[0]).endsWith('/console/live') || response.body === null) return response;
    let rest = '';
    const late = new TransformStream({
      transform(text, out) {
        const lines = (rest + text).split('\\n');
        rest = lines.pop();
        for (const line of lines)
          if (line.includes('"kind":"WorkflowDraft"')) kept.push({ line: line + '\\n', out });
          else out.enqueue(line + '\\n');
      },
    });
    const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(late);
    return new Response(body.pipeThrough(new TextEncoderStream()), response);
  };
})()`;

test('late news of a draft that was undone and removed do not bring it back after publishing', async () => {
  await system.apply(PROJECT, manifestOf([workflowOf('late', false)]));
  const page = await visitor.context.newPage();
  await page.addInitScript(KEEP_BACK);
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/late`, system.consoleURL).href);
  await canvasOpened(page, 'one');
  await renamed(page, 'Undone');
  await draftSaved(page);
  await expect.poll(() => page.evaluate('keptBack()')).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await renamed(page, 'Kept');
  await publish(page);
  const list = () => system.harness.client.listAll(drafts, { namespace: PROJECT });
  await expect
    .poll(async () => (await list()).items.map(({ metadata }) => metadata.name))
    .not.toContain('late');
  await page.evaluate('letThrough(); new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  expect(await page.getByLabel('Workflow name').inputValue()).toBe('Kept');
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  await page.close();
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

test('a draft with a problem does not start, and the dialog says why and leads there', async () => {
  const page = await opened('wrong', { active: true });
  await addAfter(page, 'one', 'Set');
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  const problems = dialog.getByRole('list', { name: 'Problems of the draft' });
  await problems.getByText('Values is required.').waitFor();
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog
    .getByRole('alert')
    .getByText(/The draft is not valid: .*node set/)
    .waitFor();
  expect(await storedNodes('wrong')).toEqual(['trigger', 'one']);
  await problems.getByRole('button', { name: 'set' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('complementary', { name: 'Node set' }).first().waitFor();
});

test('versions say who published what; two are compared, and one is restored into the draft', async () => {
  const page = await opened('versions', { active: true });
  await addAfter(page, 'one', 'Response');
  await publishing(page);
  await question(page).getByLabel('Message').fill('Answer callers');
  await question(page).getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  await system.harness.waitFor(PROJECT, 'versions', { type: 'Ready', status: 'True' }, 30_000);
  await page.getByRole('button', { name: 'Versions' }).click();
  const drawer = page.getByRole('dialog', { name: 'Versions' });
  const rows = drawer.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  await rows.first().getByText('Answer callers').waitFor();
  await rows.first().getByText(`editor (service account of ${PROJECT})`).waitFor();
  await rows.last().getByText('Changed outside the console').waitFor();
  for (const box of await drawer.getByRole('checkbox').all()) await box.check();
  await drawer.getByLabel('Newer version').getByText('reply').first().waitFor();
  await rows
    .last()
    .getByRole('button', { name: /^Restore/ })
    .click();
  await nodeOf(page, 'reply').waitFor({ state: 'detached' });
  await draftSaved(page);
  expect(await draftedNodes('versions')).toEqual(['trigger', 'one']);
  expect(await storedNodes('versions')).toEqual(['trigger', 'one', 'reply']);
});

test('the first version of a workflow that was made in the console names who made it', async () => {
  const { page } = visitor;
  await page.goto(new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
  await createWorkflow(page, 'Made here', /^Manual/);
  await expect.poll(() => page.evaluate("document.activeElement.closest('#main') !== null")).toBe(true);
  await system.harness.waitFor(PROJECT, 'made-here', { type: 'Valid', status: 'True' }, 30_000);
  await page.getByRole('button', { name: 'Versions' }).click();
  const drawer = page.getByRole('dialog', { name: 'Versions' });
  await drawer.getByText(`editor (service account of ${PROJECT})`).waitFor();
  expect(await drawer.getByText('Changed outside the console').count()).toBe(0);
  await drawer.getByRole('button', { name: 'Close' }).click();
});

test('publishing says that a name does not affect runs, and that an inactive workflow does not run', async () => {
  let page = await opened('renamed', { active: true });
  await renamed(page, 'Orders');
  await publishing(page);
  await question(page).getByText('These changes do not affect runs.').waitFor();
  await question(page).getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  page = await opened('inactive', { active: false });
  await addAfter(page, 'one', 'Response');
  await publishing(page);
  await question(page).getByText('inactive is inactive: no event runs this version').waitFor();
  await question(page).getByRole('button', { name: 'Publish' }).click();
  await expect.poll(() => storedNodes('inactive')).toEqual(['trigger', 'one', 'reply']);
});

test('a workflow that is activated right after publishing keeps who published it, and why', async () => {
  const page = await opened('activated', { active: false });
  await addAfter(page, 'one', 'Response');
  await publishing(page);
  await question(page).getByLabel('Message').fill('Answer callers');
  await question(page).getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  await page.getByRole('switch', { name: 'Active' }).click();
  await system.harness.waitFor(PROJECT, 'activated', { type: 'Ready', status: 'True' }, 30_000);
  const { metadata } = await system.harness.client.get(workflows, { namespace: PROJECT, name: 'activated' });
  const by = `system:serviceaccount:${PROJECT}:editor`;
  expect(publicationOf(metadata)).toEqual({ by, message: 'Answer callers' });
  await page.keyboard.press('Escape');
  await openNode(page, 'trigger');
  await page.getByRole('button', { name: 'Copy webhook URL' }).waitFor();
  await page.getByText(`/webhook/${PROJECT}.activated/orders`).first().waitFor();
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

async function storedDraft(name: string): Promise<DraftSpec | undefined> {
  return (await system.harness.client.find(drafts, { namespace: PROJECT, name }))?.spec;
}

const draftedNodes = async (name: string): Promise<string[] | undefined> => {
  const draft = await storedDraft(name);
  const read = draft && (JSON.parse(draft.body) as { spec: WorkflowSpec });
  return read?.spec.nodes.map(({ id }) => id);
};

test('an incomplete draft is stored by itself, survives a reload, and is gone once it is published', async () => {
  const page = await opened('kept', { active: true });
  await addAfter(page, 'one', 'Set');
  await draftSaved(page);
  expect(await draftedNodes('kept')).toEqual(['trigger', 'one', 'set']);
  expect(await storedNodes('kept')).toEqual(['trigger', 'one']);
  await page.reload();
  await canvasOpened(page, 'set');
  await publishing(page);
  await question(page).getByRole('button', { name: 'Publish anyway' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  await expect.poll(() => storedDraft('kept')).toBeUndefined();
  expect(await storedNodes('kept')).toEqual(['trigger', 'one', 'set']);
});

test('discarded changes leave no draft, and can be undone', async () => {
  const page = await opened('discarded', { active: false });
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await nodeOf(page, 'reply').waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Undo');
  await page.keyboard.press('Control+s');
  await expect.poll(() => storedDraft('discarded')).toBeUndefined();
  await page.getByRole('button', { name: 'Undo', exact: true }).first().click();
  await nodeOf(page, 'reply').waitFor();
  await draftSaved(page);
});

test('YAML that cannot be read yet is stored, and comes back', async () => {
  const page = await opened('typed', { active: false });
  await view(page, 'YAML');
  await writeYaml(page, 'spec: [');
  await draftSaved(page);
  expect(await storedDraft('typed')).toMatchObject({ text: 'spec: [' });
  await page.reload();
  await page.getByRole('button', { name: 'Go to YAML' }).click();
  expect(await yamlOn(page)).toBe('spec: [');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.keyboard.press('Control+s');
  await expect.poll(() => storedDraft('typed')).toBeUndefined();
});

test('two people who edit one draft see each other, and both keep what they changed', async () => {
  const page = await opened('shared', { active: false });
  const other = await visit(browser);
  await startSession(other.context, system.consoleURL, await system.tokenWith(PROJECT, 'other', EDITOR));
  await other.page.goto(page.url());
  await canvasOpened(other.page, 'one');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await nodeOf(other.page, 'reply').waitFor();
  await renamed(other.page, 'Ours');
  await draftSaved(other.page);
  await page.getByTitle('Ours (shared)').waitFor();
  // Both change the same part before either has read the other's: neither is stored over the other.
  const released = Promise.withResolvers<void>();
  await page.route(/\/workflowdrafts\//, async (route) => {
    await released.promise;
    await route.continue();
  });
  await renamed(page, 'Mine');
  await renamed(other.page, 'Theirs');
  await other.page.keyboard.press('Control+s');
  await draftSaved(other.page);
  released.resolve();
  await page.getByText('Somebody else changed the same part of this draft.').waitFor();
  expect((await storedDraft('shared'))?.body).toContain('"Theirs"');
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await draftSaved(page);
  await other.page.getByTitle('Mine (shared)').waitFor();
  await page.unroute(/\/workflowdrafts\//);
  await other.close();
});

test('who may not change a workflow can draft what others publish', async () => {
  await opened('proposed', { active: true });
  const drafts = { apiGroups: ['windlass.dev'], resources: ['workflowdrafts'], verbs: ['*'] };
  const rights = { ...READER, rules: [...(READER.rules ?? []), drafts] };
  const drafter = await visit(browser);
  await startSession(drafter.context, system.consoleURL, await system.tokenWith(PROJECT, 'drafter', rights));
  await drafter.page.goto(visitor.page.url());
  await canvasOpened(drafter.page, 'one');
  await addAfter(drafter.page, 'one', 'Response');
  await draftSaved(drafter.page);
  expect(await drafter.page.getByRole('button', { name: /^Publish/ }).count()).toBe(0);
  await nodeOf(visitor.page, 'reply').waitFor();
  await publish(visitor.page);
  expect(await storedNodes('proposed')).toEqual(['trigger', 'one', 'reply']);
  await drafter.close();
});

test('changes that are tried on a workflow of Argo CD are kept as a draft, to be copied', async () => {
  const labels = { 'app.kubernetes.io/instance': 'shop' };
  const annotations = { 'argocd.argoproj.io/tracking-id': `shop:windlass.dev/Workflow:${PROJECT}/managed` };
  const workflow = workflowOf('managed', false);
  await system.apply(
    PROJECT,
    manifestOf([{ ...workflow, metadata: { name: 'managed', labels, annotations } }]),
  );
  const { page } = visitor;
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/managed`, system.consoleURL).href);
  await page.getByRole('button', { name: 'Try changes' }).click();
  await renamed(page, 'Tried');
  await draftSaved(page);
  await page.reload();
  await page.getByRole('button', { name: 'Copy as patch' }).waitFor();
  expect(await page.getByLabel('Workflow name').inputValue()).toBe('Tried');
  expect(await page.getByRole('button', { name: /^Publish/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await expect.poll(() => storedDraft('managed')).toBeUndefined();
  expect(await focused(page)).toBe('Try changes');
  await page.getByRole('button', { name: 'Undo', exact: true }).last().click();
  await expect.poll(() => page.getByLabel('Workflow name').inputValue()).toBe('Tried');
});

test('the draft of a deleted workflow is never put into another one of its name', async () => {
  let page = await opened('again', { active: false });
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await page.goto('about:blank');
  const at = { namespace: PROJECT, name: 'again' };
  await system.harness.client.delete(workflows, at);
  await expect.poll(() => system.harness.client.find(workflows, at)).toBeUndefined();
  page = await opened('again', { active: false });
  expect(await nodeOf(page, 'reply').count()).toBe(0);
  await renamed(page, 'Again');
  await page.keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Remove that draft' }).click();
  await draftSaved(page);
  expect(await draftedNodes('again')).toEqual(['trigger', 'one']);
});

test('a draft with what looks like a key is not stored', async () => {
  const page = await opened('secretive', { active: false });
  await renamed(page, 'Before');
  await draftSaved(page);
  await view(page, 'YAML');
  const text = await yamlOn(page);
  await writeYaml(page, text.replace(/"1"|'1'/, `'"sk-${'a1B2'.repeat(6)}"'`));
  await page.getByText(/one contains what looks like a key/).waitFor();
  expect((await storedDraft('secretive'))?.body).not.toContain('sk-');
});

test('a step is disabled by key, crossed out, skipped by a test run, and enabled again by undo', async () => {
  const page = await opened('switched', { active: false });
  const card = nodeOf(page, 'one');
  await addAfter(page, 'one', 'Response');
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await card.click();
  await page.keyboard.press('Escape');
  await card.focus();
  await page.keyboard.press('d');
  await page.getByRole('button', { name: 'Enable the selection (D)' }).waitFor();
  expect(await card.getAttribute('data-disabled')).toBe('true');
  const reply = nodeOf(page, 'reply');
  await reply.getByText(/problem: node 'one' is disabled and has no output: enable it/).waitFor();
  await view(page, 'YAML');
  const text = await yamlOn(page);
  await writeYaml(page, text.replace("$('one')", '$previous'));
  await view(page, 'Canvas');
  await reply.getByText(/problem:/).waitFor({ state: 'detached' });
  await draftSaved(page);
  const { spec } = JSON.parse((await storedDraft('switched'))?.body ?? '{}') as { spec: WorkflowSpec };
  expect(spec.nodes.map(({ id, disabled = false }) => [id, disabled])).toEqual([
    ['trigger', false],
    ['one', true],
    ['reply', false],
  ]);
  await testRun(page);
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  await card.getByText('skipped', { exact: true }).waitFor();
  await card.click();
  await openOutput(page);
  await page.getByText('The run went on with the nodes after it.').waitFor();
  await publishing(page);
  await question(page).getByText('Disabled: one').waitFor();
  await question(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Enable the node' }).click();
  await expect.poll(() => card.getAttribute('data-disabled')).toBeNull();
  await card.focus();
  await page.keyboard.press('Control+z');
  await expect.poll(() => card.getAttribute('data-disabled')).toBe('true');
});

test('a pasted curl command becomes a step behind the selected node, without its login', async () => {
  const page = await opened('pasting', { active: false });
  await nodeOf(page, 'one').click();
  await page.keyboard.press('Escape');
  await nodeOf(page, 'one').focus();
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'curl -u ada:secret1 https://api.example.com/orders');
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  })()`);
  await nodeOf(page, 'request').waitFor();
  await page.getByText('Left out: the option --user. Create a credential of kind HTTP API').waitFor();
  expect(await colorFlawsOf(page, '[role="alert"]')).toEqual([]);
  await draftSaved(page);
  const { spec } = JSON.parse((await storedDraft('pasting'))?.body ?? '{}') as { spec: WorkflowSpec };
  expect(spec.nodes.at(-1)).toEqual({
    id: 'request',
    skill: { name: 'http_request', parameters: { url: 'https://api.example.com/orders' } },
  });
  // A chain.
  expect(spec.edges).toBeUndefined();
});
