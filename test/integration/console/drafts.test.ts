/**
 * Drafts and versions: what is stored of a draft, what publishing it shows and changes, and who published
 * what.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DraftSpec } from '../../../api/draft.ts';
import { publicationOf } from '../../../api/version.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { drafts, workflows } from '../../../operator/shared/resources.ts';
import { colorFlawsOf, flawsOf } from '../../support/console/axe.ts';
import { startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { openRowDialog } from '../../support/console/dialogs.ts';
import { manifestOf } from '../../support/console/filledProject.ts';
import { focused } from '../../support/console/keyboard.ts';
import {
  addAfter,
  askToPublish,
  canvasOpened,
  createWorkflow,
  draftSaved,
  nodeOf,
  openNode,
  openOutput,
  publish,
  publishDialog,
  renameWorkflow,
  runEnded,
  testRun,
  view,
  writeYaml,
  yamlOn,
} from '../../support/console/steps.ts';
import {
  openWebhookWorkflow,
  publishedNodes,
  webhookWorkflow,
} from '../../support/console/webhookWorkflow.ts';
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

const EDITOR_NAME = `system:serviceaccount:${PROJECT}:editor`;
const stored = (name: string) => system.harness.client.get(workflows, { namespace: PROJECT, name });
const storedNodes = (name: string) => publishedNodes({ system, project: PROJECT }, name);

/** Stores a small workflow and opens it. */
async function opened(name: string, { active }: { active: boolean }): Promise<Page> {
  const { page } = visitor;
  // Without the notices of the test before it, which offer to undo something, too.
  await page.goto('about:blank');
  await openWebhookWorkflow(page, { system, project: PROJECT }, { name, active });
  return page;
}

/** Stores a draft, which changes what is published. */
async function storeDraft(
  name: string,
  change: (spec: Omit<WorkflowSpec, 'active'>) => object,
): Promise<void> {
  const { metadata, spec } = await stored(name);
  const { active: _active, ...base } = spec;
  const bodyOf = (content: object): string => JSON.stringify({ spec: content, positions: {} });
  await system.harness.client.create(drafts, {
    metadata: { namespace: PROJECT, name },
    spec: { base: { uid: metadata.uid ?? '', body: bodyOf(base) }, body: bodyOf(change(base)) },
  });
}

test('publishing lists the changes of an active workflow and does nothing before confirmation', async () => {
  const page = await opened('saved', { active: true });
  await addAfter(page, 'one', 'Response');
  await askToPublish(page);
  await publishDialog(page).getByRole('list', { name: 'Changes' }).getByText('Added: reply').waitFor();
  await publishDialog(page).getByText('id: reply').waitFor();
  await publishDialog(page).getByRole('button', { name: 'Cancel' }).click();
  await publishDialog(page).waitFor({ state: 'hidden' });
  expect(await storedNodes('saved')).toEqual(['trigger', 'one']);
  await publish(page);
  expect(await storedNodes('saved')).toEqual(['trigger', 'one', 'reply']);
});

test('a version with problems lists them and says that it does not go live', async () => {
  const page = await opened('incomplete', { active: true });
  await addAfter(page, 'one', 'Set');
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await page.locator('[data-card="set"][data-problem]').waitFor();
  const panel = await openNode(page, 'set');
  await panel.getByText('Values are required.').waitFor();
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await askToPublish(page);
  await publishDialog(page)
    .getByRole('list', { name: 'Problems' })
    .getByText('Values are required.')
    .waitFor();
  await publishDialog(page).getByText('This version will not be used yet').waitFor();
  await publishDialog(page).getByRole('button', { name: 'Publish anyway' }).click();
  await expect.poll(() => storedNodes('incomplete')).toEqual(['trigger', 'one', 'set']);
});

test('what the API server refuses cannot be published, and its problem leads to the node', async () => {
  await system.apply(PROJECT, manifestOf([webhookWorkflow('refused', true)]));
  await storeDraft('refused', (spec) => ({
    ...spec,
    nodes: spec.nodes.map((node) =>
      node.id === 'one' ? { ...node, repeat: { until: '', limit: 3 } } : node,
    ),
  }));
  const page = await opened('refused', { active: true });
  await askToPublish(page);
  const problems = publishDialog(page).getByRole('list', { name: 'Problems' });
  await problems.getByText('Repeat › Until: Enter a value').waitFor();
  await publishDialog(page).getByText('These changes cannot be published yet').waitFor();
  expect(await publishDialog(page).getByRole('button', { name: 'Publish', exact: true }).isDisabled()).toBe(
    true,
  );
  await problems.getByRole('button', { name: 'one' }).click();
  await publishDialog(page).waitFor({ state: 'hidden' });
  await page.getByRole('complementary', { name: 'Node one' }).waitFor();
});

test('a problem of what no form has is listed without a link', async () => {
  await system.apply(PROJECT, manifestOf([webhookWorkflow('long', false)]));
  await storeDraft('long', (spec) => ({ ...spec, displayName: 'x'.repeat(257) }));
  const page = await opened('long', { active: false });
  await askToPublish(page);
  const problem = publishDialog(page)
    .getByRole('list', { name: 'Problems' })
    .getByRole('listitem')
    .filter({ hasText: /^Name: / });
  await problem.waitFor();
  expect(await problem.getByRole('button').count()).toBe(0);
  await publishDialog(page).getByRole('button', { name: 'Cancel' }).click();
  expect(await page.getByRole('button', { name: 'Go to setting' }).count()).toBe(0);
});

/** How large the canvas is shown. */
const zoomOf = (page: Page): Promise<number> =>
  page
    .locator('.react-flow__viewport')
    .evaluate((element) => Number(/scale\((.*?)\)/.exec(element.style.transform)?.[1]));

test('a version that is published and not valid is listed with the reason, and can be left', async () => {
  const page = await opened('unused', { active: true });
  await system.harness.waitFor(PROJECT, 'unused', { type: 'Ready', status: 'True' }, 30_000);
  const { spec } = webhookWorkflow('unused', true);
  const reply = { id: 'reply', response: { body: "{{ $('nobody').text_content }}" } };
  const invalid = { ...webhookWorkflow('unused', true), spec: { ...spec, nodes: [...spec.nodes, reply] } };
  await system.apply(PROJECT, manifestOf([invalid]));
  await nodeOf(page, 'reply').waitFor();
  await system.harness.waitFor(PROJECT, 'unused', { type: 'Valid', status: 'False' }, 30_000);
  await page.getByRole('button', { name: 'Versions' }).click();
  const rows = page.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  await rows.first().getByText('Published, not valid').waitFor();
  await rows
    .first()
    .getByText(/^Not used: reply: .*nobody/)
    .waitFor();
  await rows.last().getByText('In effect', { exact: true }).waitFor();
  expect(await rows.count()).toBe(2);
  await rows
    .last()
    .getByRole('button', { name: /^Restore/ })
    .click();
  await nodeOf(page, 'reply').waitFor({ state: 'detached' });
});

test('versions say who published what; two are compared, and one is restored into the draft', async () => {
  const page = await opened('versions', { active: true });
  await system.harness.waitFor(PROJECT, 'versions', { type: 'Ready', status: 'True' }, 30_000);
  const drawer = page.getByRole('dialog', { name: 'Versions' });
  const rows = drawer.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  await page.getByRole('button', { name: 'Versions' }).click();
  await rows.first().getByText('Published', { exact: true }).waitFor();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await addAfter(page, 'one', 'Response');
  await askToPublish(page);
  await publishDialog(page).getByLabel('Message').fill('Answer callers');
  await publishDialog(page).getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  await system.harness.waitFor(PROJECT, 'versions', { type: 'Ready', status: 'True' }, 30_000);
  // What is restored is shown whole, wherever the user was.
  await page.getByRole('button', { name: /^Zoom in/ }).click();
  await page.getByRole('button', { name: /^Zoom in/ }).click();
  await expect.poll(() => zoomOf(page)).toBeGreaterThan(1);
  await page.getByRole('button', { name: 'Versions' }).click();
  await rows.first().getByText('Answer callers').waitFor();
  await rows.first().getByText(`editor (service account of ${PROJECT})`).waitFor();
  await rows.last().getByText('Changed outside the console').waitFor();
  for (const box of await drawer.getByRole('checkbox').all()) await box.check();
  await drawer
    .getByLabel(/^Published · /)
    .getByText('reply')
    .first()
    .waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await rows
    .last()
    .getByRole('button', { name: /^Restore/ })
    .click();
  await nodeOf(page, 'reply').waitFor({ state: 'detached' });
  await expect.poll(() => zoomOf(page)).toBeLessThanOrEqual(1);
  await draftSaved(page);
  expect(await draftedNodes('versions')).toEqual(['trigger', 'one']);
  expect(await storedNodes('versions')).toEqual(['trigger', 'one', 'reply']);
  // The list is read again, also shortly after another one of the same version.
  await publish(page);
  await page.getByRole('button', { name: 'Versions' }).click();
  await rows.last().getByText('Answer callers').waitFor();
  await rows.first().getByText('Published', { exact: true }).waitFor();
  await rows.first().getByText(`editor (service account of ${PROJECT})`).waitFor();
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
  await renameWorkflow(page, 'Orders');
  await askToPublish(page);
  await publishDialog(page).getByText('These changes do not affect runs.').waitFor();
  await publishDialog(page).getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  page = await opened('inactive', { active: false });
  await addAfter(page, 'one', 'Response');
  await askToPublish(page);
  await publishDialog(page).getByText('inactive is inactive: no event runs this version').waitFor();
  await publishDialog(page).getByRole('button', { name: 'Publish' }).click();
  await expect.poll(() => storedNodes('inactive')).toEqual(['trigger', 'one', 'reply']);
});

test('a workflow that is activated right after publishing keeps who published it, and why', async () => {
  const page = await opened('activated', { active: false });
  await addAfter(page, 'one', 'Response');
  await askToPublish(page);
  await publishDialog(page).getByLabel('Message').fill('Answer callers');
  await publishDialog(page).getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  await page.getByRole('switch', { name: 'Active' }).click();
  await system.harness.waitFor(PROJECT, 'activated', { type: 'Ready', status: 'True' }, 30_000);
  const { metadata } = await stored('activated');
  expect(publicationOf(metadata)).toEqual({ by: EDITOR_NAME, message: 'Answer callers' });
  await page.keyboard.press('Escape');
  await openNode(page, 'trigger');
  await page.getByRole('button', { name: 'Copy webhook URL' }).waitFor();
  await page.getByText(`/webhook/${PROJECT}.activated/orders`).first().waitFor();
});

test('a workflow that is renamed in the list keeps who published it, and why', async () => {
  const page = await opened('titled', { active: false });
  await addAfter(page, 'one', 'Response');
  await askToPublish(page);
  await publishDialog(page).getByLabel('Message').fill('Answer callers');
  await publishDialog(page).getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Go to workflows' }).click();
  await openRowDialog(page, 'titled', 'Rename');
  const dialog = page.getByRole('dialog', { name: 'Rename "titled"' });
  await dialog.getByLabel('Name').fill('Orders of today');
  await dialog.getByRole('button', { name: 'Rename', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const { metadata, spec } = await stored('titled');
  expect(spec.displayName).toBe('Orders of today');
  expect(publicationOf(metadata)).toEqual({ by: EDITOR_NAME, message: 'Answer callers' });
});

test('the list marks drafts, and a dialog of it that is cancelled returns the focus to the menu', async () => {
  const page = await opened('focused', { active: false });
  await storeDraft('focused', (spec) => ({ ...spec, description: 'Orders of today' }));
  await page.getByRole('link', { name: 'Go to workflows' }).click();
  await page.getByRole('row').filter({ hasText: 'focused' }).getByText('Draft', { exact: true }).waitFor();
  for (const choice of ['Duplicate', 'Rename', 'Delete']) {
    await openRowDialog(page, 'focused', choice);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page), { message: choice }).toBe('Actions for focused');
  }
});

test('the list has its filters in its address, which keeps them over a reload', async () => {
  const page = await opened('filtered', { active: false });
  await opened('unfiltered', { active: false });
  const at = { namespace: PROJECT, name: 'filtered' };
  await system.harness.client.patch(
    workflows,
    at,
    { metadata: { labels: { team: 'billing' } } },
    {
      type: 'merge',
    },
  );
  await page.getByRole('link', { name: 'Go to workflows' }).click();
  const names = page.locator('[data-row-link]');
  await page.getByRole('combobox', { name: 'Label' }).click();
  await page.getByRole('option', { name: 'team=billing' }).click();
  await expect.poll(() => names.allTextContents()).toEqual(['filtered']);
  await page.getByTitle('Labels: team=billing').waitFor();
  await page.getByLabel('Search workflows').fill('filt');
  await page.waitForURL(/text=filt/);
  await page.reload();
  await expect.poll(() => names.allTextContents()).toEqual(['filtered']);
  const label = page.getByRole('combobox', { name: 'Label' });
  expect(await label.inputValue()).toBe('team=billing');
  expect(await page.getByLabel('Search workflows').inputValue()).toBe('filt');
  await page.getByLabel('Search workflows').fill('filter of nothing');
  await page
    .getByRole('status')
    .filter({ hasText: /^0 of \d+ workflows$/ })
    .waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.waitForURL((url) => url.search === '');
  await names.filter({ hasText: 'unfiltered' }).waitFor();
});

test('the version of a workflow that was recreated names who did it', async () => {
  const page = await opened('recreated', { active: true });
  await system.harness.client.delete(workflows, { namespace: PROJECT, name: 'recreated' });
  await page.getByRole('button', { name: 'Recreate as inactive' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  expect(publicationOf((await stored('recreated')).metadata)).toEqual({ by: EDITOR_NAME });
});

async function storedDraft(name: string): Promise<DraftSpec | undefined> {
  return (await system.harness.client.find(drafts, { namespace: PROJECT, name }))?.spec;
}

const draftedSpec = async (name: string): Promise<WorkflowSpec | undefined> => {
  const draft = await storedDraft(name);
  return draft && (JSON.parse(draft.body) as { spec: WorkflowSpec }).spec;
};
const draftedNodes = async (name: string): Promise<string[] | undefined> =>
  (await draftedSpec(name))?.nodes.map(({ id }) => id);

test('an incomplete draft is stored by itself, survives a reload, and is gone once it is published', async () => {
  const page = await opened('kept', { active: true });
  await addAfter(page, 'one', 'Set');
  await draftSaved(page);
  expect(await draftedNodes('kept')).toEqual(['trigger', 'one', 'set']);
  expect(await storedNodes('kept')).toEqual(['trigger', 'one']);
  await page.reload();
  await canvasOpened(page, 'set');
  await askToPublish(page);
  await publishDialog(page).getByRole('button', { name: 'Publish anyway' }).click();
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

test('a node that is not published yet is found by the command palette', async () => {
  const page = await opened('found', { active: false });
  await addAfter(page, 'one', 'Response');
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search everything').fill('reply');
  await page.locator('[data-combobox-selected]').filter({ hasText: 'reply' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Node reply' }).waitFor();
  expect(await storedNodes('found')).toEqual(['trigger', 'one']);
});

/** The actions that the command palette finds for the text. The palette stays open. */
async function actionsFound(page: Page, text: string): Promise<string[]> {
  const field = page.getByLabel('Search everything');
  if ((await field.count()) === 0) {
    // Over a dialog, the key does nothing.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
  }
  await field.fill(text);
  await page.locator('[data-combobox-selected]').waitFor();
  const actions = page.getByRole('group', { name: /^Actions/ }).getByRole('option');
  return (await actions.allInnerTexts()).map((label) => label.trim());
}

test('the palette has the actions of the workflow that its state admits', async () => {
  const page = await opened('palette', { active: true });
  expect(await actionsFound(page, 'publish')).toEqual([]);
  expect(await actionsFound(page, 'activate')).toEqual(['Deactivate']);
  for (const action of ['Test run', 'Versions', 'Suspend', 'Add a node', 'Add a note', 'Show the YAML'])
    expect(await actionsFound(page, action)).toEqual([action]);
  await page.keyboard.press('Escape');
  await renameWorkflow(page, 'Renamed');
  expect(await actionsFound(page, 'discard')).toEqual(['Discard changes']);
  expect(await actionsFound(page, 'publish')).toEqual(['Publish']);
  await page.keyboard.press('Enter');
  await publishDialog(page).waitFor();
  await page.keyboard.press('Escape');
  await publishDialog(page).waitFor({ state: 'hidden' });
  expect(await actionsFound(page, 'suspend')).toEqual(['Suspend']);
  await page.keyboard.press('Enter');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Suspend/ })
    .click();
  await expect.poll(async () => (await stored('palette')).spec.suspend).toBe(true);
  await page.getByRole('button', { name: 'Test run' }).and(page.locator('[aria-disabled]')).waitFor();
  expect(await actionsFound(page, 'test run')).toEqual([]);
  expect(await actionsFound(page, 'resume')).toEqual(['Resume']);
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await stored('palette')).spec.suspend).not.toBe(true);
});

test('a narrow screen has a sign that there are unpublished changes', async () => {
  const page = await opened('narrow', { active: false });
  await page.setViewportSize({ width: 390, height: 844 });
  await renameWorkflow(page, 'A name that leaves little room for it');
  await draftSaved(page);
  const sign = page.getByRole('status', { name: /^Unpublished changes/ });
  const box = await sign.boundingBox();
  expect(box?.width).toBeGreaterThan(10);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
  for (const name of ['Workflow settings', 'Undo', 'Publish']) {
    const button = await page.getByRole('button', { name, exact: true }).boundingBox();
    expect([name, (button?.width ?? 0) > 20]).toEqual([name, true]);
  }
  await page.setViewportSize({ width: 1_360, height: 850 });
});

test('a bar with room for it has the word of the draft, also in a window of a laptop', async () => {
  const page = await opened('worded', { active: false });
  await page.setViewportSize({ width: 1_440, height: 850 });
  await renameWorkflow(page, 'Order desk');
  const sign = page.getByRole('status', { name: /^Unpublished changes/ });
  await sign.waitFor();
  expect(await sign.getByText('Draft', { exact: true }).isVisible()).toBe(true);
  await page.setViewportSize({ width: 1_360, height: 850 });
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
  await renameWorkflow(other.page, 'Ours');
  await draftSaved(other.page);
  await page.getByTitle('Ours (shared)').waitFor();
  // Both change the same part before either has read the other's: neither is stored over the other.
  const released = Promise.withResolvers<void>();
  await page.route(/\/workflowdrafts\//, async (route) => {
    await released.promise;
    await route.continue();
  });
  await renameWorkflow(page, 'Mine');
  await renameWorkflow(other.page, 'Theirs');
  await other.page.keyboard.press('Control+s');
  await draftSaved(other.page);
  released.resolve();
  await page.getByText('Somebody else changed the same part of this draft.').waitFor();
  expect(await flawsOf(page)).toEqual([]);
  expect((await storedDraft('shared'))?.body).toContain('"Theirs"');
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await draftSaved(page);
  await other.page.getByTitle('Mine (shared)').waitFor();
  await page.unroute(/\/workflowdrafts\//);
  await other.close();
});

test('who may not change a workflow can draft and test what others publish', async () => {
  await opened('proposed', { active: true });
  const drafts = { apiGroups: ['windlass.dev'], resources: ['workflowdrafts'], verbs: ['*'] };
  const runs = { apiGroups: ['windlass.dev'], resources: ['workflowruns'], verbs: ['create'] };
  const rights = {
    roles: [...(READER.roles ?? []), 'windlass-execute' as const],
    rules: [...(READER.rules ?? []), drafts, runs],
  };
  const drafter = await visit(browser);
  await startSession(drafter.context, system.consoleURL, await system.tokenWith(PROJECT, 'drafter', rights));
  await drafter.page.goto(visitor.page.url());
  await canvasOpened(drafter.page, 'one');
  await addAfter(drafter.page, 'one', 'Response');
  await draftSaved(drafter.page);
  await testRun(drafter.page);
  await runEnded(drafter.page);
  await nodeOf(drafter.page, 'reply')
    .getByText(/succeeded/)
    .first()
    .waitFor({ state: 'attached' });
  expect(await drafter.page.getByRole('button', { name: /^Publish/ }).count()).toBe(0);
  expect(await storedNodes('proposed')).toEqual(['trigger', 'one']);
  expect(await actionsFound(drafter.page, 'discard')).toEqual(['Discard changes']);
  expect(await actionsFound(drafter.page, 'publish')).toEqual([]);
  await drafter.page.keyboard.press('Escape');
  await nodeOf(visitor.page, 'reply').waitFor();
  await publish(visitor.page);
  expect(await storedNodes('proposed')).toEqual(['trigger', 'one', 'reply']);
  await drafter.close();
});

test('changes that are tried on a workflow of Argo CD are kept as a draft, to be copied', async () => {
  const labels = { 'app.kubernetes.io/instance': 'shop' };
  const annotations = { 'argocd.argoproj.io/tracking-id': `shop:windlass.dev/Workflow:${PROJECT}/managed` };
  const workflow = webhookWorkflow('managed', false);
  await system.apply(
    PROJECT,
    manifestOf([{ ...workflow, metadata: { name: 'managed', labels, annotations } }]),
  );
  const { page } = visitor;
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/managed`, system.consoleURL).href);
  const ofGit = async () => {
    const { metadata, spec } = await stored('managed');
    return { spec, labels: metadata.labels, annotations: metadata.annotations, at: metadata.generation };
  };
  const before = await ofGit();
  await page.getByRole('button', { name: 'Try changes' }).click();
  await renameWorkflow(page, 'Tried');
  await draftSaved(page);
  expect(await ofGit()).toEqual(before);
  // Argo CD and Flux find what they manage by labels, annotations and owners.
  const draft = await system.harness.client.get(drafts, { namespace: PROJECT, name: 'managed' });
  const { labels: ofDraft, annotations: notes, ownerReferences: owners } = draft.metadata;
  expect({ ofDraft, notes, owners }).toEqual({});
  await page.reload();
  await page.getByRole('button', { name: 'Copy as patch' }).waitFor();
  expect(await page.getByLabel('Workflow name').inputValue()).toBe('Tried');
  expect(await page.getByRole('button', { name: /^Publish/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await expect.poll(() => storedDraft('managed')).toBeUndefined();
  expect(await focused(page)).toBe('Try changes');
  await page.getByRole('button', { name: 'Undo', exact: true }).last().click();
  await expect.poll(() => page.getByLabel('Workflow name').inputValue()).toBe('Tried');
  await page.getByRole('button', { name: 'Edit a copy' }).click();
  await page.getByRole('dialog', { name: 'Edit a copy' }).getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => focused(page)).toBe('Edit a copy');
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
  await renameWorkflow(page, 'Again');
  await page.keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Remove that draft' }).click();
  await draftSaved(page);
  expect(await draftedNodes('again')).toEqual(['trigger', 'one']);
});

test('a draft with what looks like a key is not stored', async () => {
  const page = await opened('secretive', { active: false });
  await renameWorkflow(page, 'Before');
  await draftSaved(page);
  await view(page, 'YAML');
  const text = await yamlOn(page);
  await writeYaml(page, text.replace(/"1"|'1'/, `'"sk-${'a1B2'.repeat(6)}"'`));
  await page.getByText(/one contains what looks like a key/).waitFor();
  expect(await flawsOf(page)).toEqual([]);
  expect((await storedDraft('secretive'))?.body).not.toContain('sk-');
  await page.getByRole('button', { name: 'New credential…' }).click();
  await page.getByRole('dialog', { name: 'New credential' }).waitFor();
  await page.keyboard.press('Escape');
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
  await reply.getByText(/problem: Node 'one' is disabled and has no output: enable it/).waitFor();
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
  await card.getByText('Skipped', { exact: true }).waitFor();
  await card.click();
  await openOutput(page);
  await page.getByText('The run went on with the nodes after it.').waitFor();
  await askToPublish(page);
  await publishDialog(page).getByText('Disabled: one').waitFor();
  await publishDialog(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Enable the node' }).click();
  await expect.poll(() => card.getAttribute('data-disabled')).toBeNull();
  await card.focus();
  await page.keyboard.press('Control+z');
  await expect.poll(() => card.getAttribute('data-disabled')).toBe('true');
});

const settingsOf = (page: Page) => page.getByRole('complementary', { name: 'Workflow settings' });
const settingOf = (page: Page, name: string) =>
  settingsOf(page)
    .getByRole('textbox', { name })
    .or(settingsOf(page).getByRole('combobox', { name }))
    .first();

test('an error workflow and a timeout are set in a form, stored with the draft, and published', async () => {
  await system.apply(PROJECT, manifestOf([webhookWorkflow('alarm', false)]));
  const page = await opened('with-settings', { active: false });
  await page.getByRole('button', { name: 'Workflow settings' }).click();
  await settingOf(page, 'Error workflow').click();
  // Nothing else has this name, which would be said twice.
  expect(await settingsOf(page).getByRole('group', { name: 'Workflow settings' }).count()).toBe(0);
  await page.getByRole('option', { name: 'alarm' }).click();
  await settingOf(page, 'Timeout').fill('5m');
  await settingOf(page, 'Labels').fill('team=billing');
  await page.keyboard.press('Enter');
  // Typed while the first one is on its way.
  await page.keyboard.type('tier = 1,no label');
  await page.keyboard.press('Enter');
  const labelsStored = async () => (await stored('with-settings')).metadata.labels;
  // They change at once, and are not part of the draft.
  await expect.poll(labelsStored).toEqual({ team: 'billing', tier: '1' });
  expect(await settingOf(page, 'Labels').inputValue()).toBe('no label');
  await settingOf(page, 'Labels').fill('');
  await page.keyboard.press('Backspace');
  await expect.poll(labelsStored).toEqual({ team: 'billing' });
  await page.getByRole('alert').getByRole('button', { name: 'Undo' }).click();
  await expect.poll(labelsStored).toEqual({ team: 'billing', tier: '1' });
  const settings = { onFailure: { workflow: 'alarm' }, timeout: '5m' };
  await expect.poll(() => draftedSpec('with-settings')).toMatchObject(settings);
  await askToPublish(page);
  const changes = publishDialog(page).getByRole('list', { name: 'Changes' });
  await changes.getByText('Changed: Error workflow').waitFor();
  await changes.getByText('Changed: Timeout').waitFor();
  await publishDialog(page).getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  expect((await stored('with-settings')).spec).toMatchObject(settings);
});

test('a problem of a setting leads to its field, and the palette opens the settings', async () => {
  const page = await opened('wrong-settings', { active: false });
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search everything').fill('workflow settings');
  await page.locator('[data-combobox-selected]').filter({ hasText: 'Workflow settings' }).waitFor();
  await page.keyboard.press('Enter');
  await settingOf(page, 'Timeout').fill('400d');
  await settingsOf(page).getByRole('button', { name: 'Close' }).click();
  await settingsOf(page).waitFor({ state: 'hidden' });
  expect(await focused(page)).toBe('Workflow settings');
  await page.getByRole('button', { name: 'Go to setting' }).waitFor();
  await askToPublish(page);
  const problems = publishDialog(page).getByRole('list', { name: 'Problems' });
  await problems.getByText(/^Settings: Timeout: must be a duration from 1s to 365d/).waitFor();
  await problems.getByRole('button', { name: 'Settings' }).click();
  await publishDialog(page).waitFor({ state: 'hidden' });
  const timeout = settingOf(page, 'Timeout');
  await expect.poll(() => timeout.evaluate((input) => input.matches(':focus'))).toBe(true);
  await settingsOf(page)
    .getByText(/^Must be a duration from 1s to 365d/)
    .waitFor();
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
  const notice = page.getByText('Left out: the option --user. Create a credential for an HTTP API');
  await notice.waitFor();
  // As low as the tools of the canvas, and not over the new node, which may be in front of the map.
  const { y = 0, height = 0 } = (await notice.boundingBox()) ?? {};
  expect(y + height).toBeGreaterThan(850 - 80);
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
