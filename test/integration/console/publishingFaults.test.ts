/**
 * What the editor does when answers are lost, refused or late while a draft is stored and published, and when
 * others change the draft or the workflow in the same moment.
 */
import type { Browser, Page, Request, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Workflow } from '../../../api/kinds.ts';
import { publicationOf } from '../../../api/version.ts';
import { drafts, workflows } from '../../../operator/shared/resources.ts';
import { startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { manifestOf } from '../../support/console/filledProject.ts';
import {
  EDITOR,
  READER,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';
import {
  addAfter,
  askToPublish,
  canvasOpened,
  draftSaved,
  nodeOf,
  openNode,
  panelOf,
  publish,
  publishDialog,
  renameWorkflow,
  runEnded,
  view,
} from '../../support/console/steps.ts';

const PROJECT = 'shop';
const EDITOR_NAME = `system:serviceaccount:${PROJECT}:editor`;

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let token: string;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  visitor = await visit(browser);
  visitor.page.setDefaultTimeout(40_000);
  await visitor.page.addInitScript(KEEP_BACK);
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
  await startSession(visitor.context, system.consoleURL, token);
  // A project whose last workflow is deleted loses its runner pool, and here its runner does not come back.
  await apply('lasting');
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

const set = { id: 'one', skill: { name: 'set', parameters: { values: { n: '1' } } } };

const apply = (name: string, spec: object = {}): Promise<void> =>
  system.apply(
    PROJECT,
    manifestOf([
      {
        apiVersion: 'windlass.dev/v1alpha1',
        kind: 'Workflow',
        metadata: { name },
        spec: { active: false, nodes: [{ id: 'trigger', manual: {} }, set], ...spec },
      },
    ]),
  );

async function opened(name: string, spec: object = {}): Promise<Page> {
  const { page } = visitor;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await apply(name, spec);
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/${name}`, system.consoleURL).href);
  await canvasOpened(page, 'one');
  await page.evaluate('letThrough()');
  return page;
}

/**
 * Keeps back what the API server tells of one kind of object, from `keepBack(kind)` to `letThrough()`.
 * `letChangesThrough` passes on what it told of changes so far, and nothing of deletions. `keptBack` counts.
 */
const KEEP_BACK = `(() => {
  const { fetch } = window;
  let keptKind;
  const kept = [];
  window.keepBack = (kind) => (keptKind = kind);
  const pass = (isWanted) => {
    for (const { line, out } of kept.splice(0)) {
      // The stream may have been reopened: then it comes again.
      try { if (isWanted(line)) out.enqueue(line); } catch {}
    }
  };
  window.letThrough = () => {
    keptKind = undefined;
    pass(() => true);
  };
  window.letChangesThrough = () => pass((line) => !line.includes('"DELETED"'));
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
          if (keptKind && line.includes('"kind":"' + keptKind + '"')) kept.push({ line: line + '\\n', out });
          else out.enqueue(line + '\\n');
      },
    });
    const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(late);
    return new Response(body.pipeThrough(new TextEncoderStream()), response);
  };
})()`;

const published = (name: string): Promise<Workflow> =>
  system.harness.client.get(workflows, { namespace: PROJECT, name });

async function nodesOf(name: string): Promise<string[]> {
  return (await published(name)).spec.nodes.map(({ id }) => id);
}

/** Without waiting until it is done. */
async function sendPublication(page: Page): Promise<void> {
  await askToPublish(page);
  await publishDialog(page)
    .getByRole('button', { name: /^Publish/ })
    .click();
}

const isPublished = (page: Page) => page.getByRole('button', { name: 'Published', exact: true }).waitFor();

/** The API server takes the next write of this method, and its answer does not come back. */
async function loseAnswer(page: Page, path: RegExp, method: string): Promise<void> {
  let isLost = false;
  await page.route(path, async (route: Route) => {
    if (isLost || route.request().method() !== method || route.request().url().includes('dryRun'))
      return route.continue();
    isLost = true;
    await route.fetch();
    return route.abort('connectionreset');
  });
}

test('changes are not published into another workflow of the same name before somebody decides', async () => {
  const page = await opened('replaced');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  const at = { namespace: PROJECT, name: 'replaced' };
  const { uid } = (await published('replaced')).metadata;
  await system.harness.client.delete(workflows, at);
  await apply('replaced', { description: 'another' });
  await page.getByText(/This workflow was deleted, and .* created another one of its name/).waitFor();
  await askToPublish(page);
  const comparison = page.getByRole('dialog', { name: /changed this workflow while you were editing it/ });
  await comparison.waitFor();
  expect((await published('replaced')).metadata.uid).not.toBe(uid);
  expect(await nodesOf('replaced')).toEqual(['trigger', 'one']);
  await comparison.getByRole('button', { name: 'Use theirs, discard mine' }).click();
  await nodeOf(page, 'reply').waitFor({ state: 'detached' });
  await expect.poll(() => system.harness.client.find(drafts, at)).toBeUndefined();
});

test('what is published into a workflow that is being deleted goes with it, which is said', async () => {
  const at = { namespace: PROJECT, name: 'leaving' };
  const page = await opened('leaving');
  const finalizedBy = (finalizers: string[]) =>
    system.harness.client.patch(workflows, at, { metadata: { finalizers } }, { type: 'merge' });
  await finalizedBy(['example.com/hold']);
  await system.harness.client.delete(workflows, at);
  await page.getByText('Being deleted').waitFor();
  await addAfter(page, 'one', 'Response');
  await sendPublication(page);
  await page.getByText('What was published goes with it.').waitFor();
  expect(await nodesOf('leaving')).toEqual(['trigger', 'one', 'reply']);
  await finalizedBy([]);
});

test('a draft that was stored without an answer is not taken for that of somebody else', async () => {
  const page = await opened('unanswered');
  await page.evaluate(`keepBack('WorkflowDraft')`);
  for (const method of ['POST', 'PATCH']) {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await loseAnswer(page, /\/workflowdrafts/, method);
    await renameWorkflow(page, `First ${method}`);
    await page.getByText('The draft is not saved. Windlass cannot be reached.').waitFor();
    await renameWorkflow(page, `Second ${method}`);
    await draftSaved(page);
    const draft = await system.harness.client.get(drafts, { namespace: PROJECT, name: 'unanswered' });
    expect(draft.spec.body).toContain(`"Second ${method}"`);
    expect(await page.getByText('Somebody else changed').count()).toBe(0);
  }
});

test('late news of a draft that was undone and removed do not bring it back after publishing', async () => {
  const page = await opened('undone');
  await page.evaluate(`keepBack('WorkflowDraft')`);
  await renameWorkflow(page, 'Undone');
  await draftSaved(page);
  await expect.poll(() => page.evaluate('keptBack()')).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await renameWorkflow(page, 'Kept');
  await publish(page);
  const at = { namespace: PROJECT, name: 'undone' };
  await expect.poll(() => system.harness.client.find(drafts, at)).toBeUndefined();
  await page.evaluate(
    'letChangesThrough(); new Promise((done) => requestAnimationFrame(() => setTimeout(done)))',
  );
  expect(await page.getByLabel('Workflow name').inputValue()).toBe('Kept');
  await isPublished(page);
});

test('once a draft is saved after Try again, whoever pressed it is in the content of the page', async () => {
  const page = await opened('retried');
  await page.route(/\/workflowdrafts/, (route) =>
    route.request().method() === 'GET' ? route.continue() : route.abort('connectionreset'),
  );
  await renameWorkflow(page, 'Not saved at first');
  await page.getByText('The draft is not saved. Windlass cannot be reached.').waitFor();
  await page.getByRole('button', { name: 'Try again' }).focus();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.keyboard.press('Enter');
  await draftSaved(page);
  await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
});

test('a publication without an answer says that it is unknown, and then that it is published', async () => {
  const page = await opened('unconfirmed');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await page.evaluate(`keepBack('Workflow')`);
  await loseAnswer(page, /\/workflows\/unconfirmed/, 'PATCH');
  await sendPublication(page);
  await page.getByText('Publishing was not confirmed').waitFor();
  await page.evaluate('letThrough()');
  await isPublished(page);
  expect(await nodesOf('unconfirmed')).toEqual(['trigger', 'one', 'reply']);
  expect(await page.getByText('changed this workflow').count()).toBe(0);
  const at = { namespace: PROJECT, name: 'unconfirmed' };
  await expect.poll(() => system.harness.client.find(drafts, at)).toBeUndefined();
});

test('after a repeated publication, a version equal to the lost one is a change of somebody else', async () => {
  const page = await opened('repeated');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await page.route(/\/workflows\/repeated/, (route) =>
    route.request().method() === 'PATCH' && !route.request().url().includes('dryRun')
      ? route.abort('connectionreset')
      : route.continue(),
  );
  await sendPublication(page);
  await page.getByText('Publishing was not confirmed').waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await renameWorkflow(page, 'Second');
  await draftSaved(page);
  await sendPublication(page);
  await isPublished(page);
  const at = { namespace: PROJECT, name: 'repeated' };
  await system.harness.client.patch(workflows, at, { spec: { displayName: null } }, { type: 'merge' });
  await page.getByText('The page shows the new version.').waitFor();
  await isPublished(page);
  expect(await nodesOf('repeated')).toEqual(['trigger', 'one', 'reply']);
});

test('a publication that always comes too late ends, and says so', async () => {
  const page = await opened('late');
  await addAfter(page, 'one', 'Response');
  let sent = 0;
  const conflict = { kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409, message: 'changed' };
  await page.route(/\/workflows\/late/, async (route) => {
    if (route.request().method() !== 'PATCH' || route.request().url().includes('dryRun'))
      return route.continue();
    sent += 1;
    return route.fulfill({ status: 409, json: conflict });
  });
  await sendPublication(page);
  await page.getByText('Others changed the workflow at the same time. Publish again.').waitFor();
  expect(sent).toBe(5);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await sendPublication(page);
  await isPublished(page);
});

test('changes that others store while somebody reads them are not published before they are read', async () => {
  const page = await opened('read');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await askToPublish(page);
  await publishDialog(page).getByText('id: reply').waitFor();
  const at = { namespace: PROJECT, name: 'read' };
  const draft = await system.harness.client.get(drafts, at);
  const body = draft.spec.body.replace('"nodes"', '"displayName":"Not read","nodes"');
  await system.harness.client.patch(drafts, at, { spec: { body } }, { type: 'merge' });
  await publishDialog(page).getByText('displayName: Not read').waitFor();
  await publishDialog(page)
    .getByRole('button', { name: /^Publish/ })
    .click();
  await publishDialog(page).getByText('The draft changed while this dialog was open').waitFor();
  expect(await nodesOf('read')).toEqual(['trigger', 'one']);
  await publishDialog(page)
    .getByRole('button', { name: /^Publish/ })
    .click();
  await isPublished(page);
  expect((await published('read')).spec.displayName).toBe('Not read');
});

test('changes that others store while somebody reads them are not tested before they are read', async () => {
  const page = await opened('untested');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run', exact: true });
  await dialog.getByText('Compared with the published version').waitFor();
  const at = { namespace: PROJECT, name: 'untested' };
  const draft = await system.harness.client.get(drafts, at);
  const body = draft.spec.body.replace('"n":"1"', '"n":"2"');
  await system.harness.client.patch(drafts, at, { spec: { body } }, { type: 'merge' });
  await dialog.getByText(/"one" changed/).waitFor();
  const run = dialog.getByRole('button', { name: 'Run', exact: true });
  await run.click();
  await dialog
    .getByText('The draft changed while this dialog was open, and nothing is started yet.')
    .waitFor();
  await system.harness.client.delete(drafts, at);
  await page.getByText('Somebody else published or discarded it.').waitFor();
  await run.click();
  await dialog.getByText('The test run executes its published version.').waitFor();
  expect(new URL(page.url()).searchParams.get('run')).toBeNull();
  await run.click();
  await runEnded(page);
});

test('null in a value stays when it is published', async () => {
  const page = await opened('null');
  await openNode(page, 'trigger');
  await panelOf(page).getByRole('tab', { name: 'Test data' }).click();
  await panelOf(page).locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"order": null, "rows": [{"previous": null}]}');
  await draftSaved(page);
  await sendPublication(page);
  await isPublished(page);
  const [trigger] = (await published('null')).spec.nodes;
  expect(trigger?.manual?.testData).toEqual({ order: null, rows: [{ previous: null }] });
});

test('who publishes a draft that somebody discarded is told that there is nothing to publish', async () => {
  const page = await opened('gone');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await askToPublish(page);
  await publishDialog(page).getByText('id: reply').waitFor();
  await system.harness.client.delete(drafts, { namespace: PROJECT, name: 'gone' });
  await page.getByText('Somebody else published or discarded it.').waitFor();
  const confirm = publishDialog(page).getByRole('button', { name: /^Publish/ });
  await confirm.click();
  await publishDialog(page).getByText('The draft changed while this dialog was open').waitFor();
  await confirm.click();
  await page.getByText('Nothing to publish').waitFor();
  expect(await nodesOf('gone')).toEqual(['trigger', 'one']);
});

test('a draft of a new workflow that is read before that workflow is shown once both are read', async () => {
  const page = await opened('early');
  const at = { namespace: PROJECT, name: 'early' };
  await page.evaluate(`keepBack('Workflow')`);
  await system.harness.client.delete(workflows, at);
  await apply('early');
  const { metadata, spec } = await published('early');
  const bodyOf = (content: object): string => JSON.stringify({ spec: content, positions: {} });
  const { active: _active, ...base } = spec;
  await system.harness.client.create(drafts, {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowDraft',
    metadata: at,
    spec: {
      base: { uid: metadata.uid ?? '', body: bodyOf(base) },
      body: bodyOf({ ...base, displayName: 'Of the new one' }),
    },
  });
  await page.getByText('A draft is stored that this page cannot use').waitFor();
  await page.evaluate('letThrough()');
  await page.getByTitle('Of the new one (early)').waitFor();
  expect(await page.getByText('A draft is stored that this page cannot use').count()).toBe(0);
});

test('changes are shown before they are published and activated, and the version names who did it', async () => {
  const page = await opened('activated');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await page.getByRole('switch', { name: 'Active' }).click();
  await page.getByRole('button', { name: 'Publish and activate' }).click();
  await publishDialog(page).getByText('id: reply').waitFor();
  await publishDialog(page)
    .getByRole('button', { name: /^Publish/ })
    .click();
  await expect.poll(async () => (await published('activated')).spec.active).toBe(true);
  expect(publicationOf((await published('activated')).metadata)).toEqual({ by: EDITOR_NAME });
});

test('a workflow that somebody else published can be activated, deactivated, suspended and resumed', async () => {
  const page = await opened('switched');
  await addAfter(page, 'one', 'Response');
  await sendPublication(page);
  await isPublished(page);
  expect(publicationOf((await published('switched')).metadata)).toEqual({ by: EDITOR_NAME });
  const colleague = await visit(browser);
  const { page: theirs } = colleague;
  await startSession(
    colleague.context,
    system.consoleURL,
    await system.tokenWith(PROJECT, 'colleague', EDITOR),
  );
  await theirs.goto(page.url());
  await canvasOpened(theirs, 'one');
  const spec = async () => (await published('switched')).spec;
  const toggle = theirs.getByRole('switch', { name: 'Active' });
  await toggle.click();
  await expect.poll(spec).toMatchObject({ active: true });
  await theirs.getByRole('button', { name: 'Suspend', exact: true }).click();
  const suspending = theirs.getByRole('dialog', { name: 'Suspend "switched"?' });
  await suspending.getByRole('button', { name: 'Suspend', exact: true }).click();
  await expect.poll(spec).toMatchObject({ suspend: true });
  await suspending.waitFor({ state: 'detached' });
  await theirs.goto(new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
  await theirs.getByRole('switch', { name: 'switched is active' }).click();
  await expect.poll(spec).toMatchObject({ active: false });
  expect(colleague.complaints).toEqual([]);
  await colleague.close();
});

test.each([
  ['draft', (asked: Request) => asked.url().includes('/workflowdrafts')],
  [
    'rights',
    (asked: Request) =>
      asked.url().includes('selfsubjectaccessreviews') &&
      asked.postData()?.includes('"workflowdrafts"') === true,
  ],
])('an editor that was opened without the %s keeps changes when that is read again', async (what, isLost) => {
  const page = await opened(`without-${what}`);
  let isDown = true;
  await page.route(/\/kube\//, (route) =>
    isDown && isLost(route.request()) ? route.fulfill({ status: 503, body: '' }) : route.continue(),
  );
  await page.reload();
  await canvasOpened(page, 'one');
  await renameWorkflow(page, 'Kept');
  await page.waitForRequest((asked) => isLost(asked) && (what === 'rights' || asked.method() === 'GET'));
  isDown = false;
  await draftSaved(page);
  expect(await page.getByLabel('Workflow name').inputValue()).toBe('Kept');
});

test('a draft that could not be saved before its changes were undone leaves no warning', async () => {
  const page = await opened('undone');
  await page.route(/\/workflowdrafts/, (route) =>
    route.request().method() === 'GET' ? route.continue() : route.abort('connectionreset'),
  );
  await renameWorkflow(page, 'Not saved');
  const warning = page.getByText('The draft is not saved. Windlass cannot be reached.');
  await warning.waitFor();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect.poll(() => warning.count()).toBe(0);
});

test('what is pinned, or undone, right before the page is left is stored', async () => {
  const page = await opened('left');
  const at = { namespace: PROJECT, name: 'left' };
  const leave = async () => {
    await page.getByRole('link', { name: 'Go to workflows' }).click();
    await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
  };
  const panel = await openNode(page, 'trigger');
  await panel.getByRole('tab', { name: 'Output' }).click();
  await panel.getByRole('button', { name: 'Pin output' }).click();
  await leave();
  expect((await system.harness.client.get(drafts, at)).spec.body).toContain('"pins"');
  await page.goBack();
  await canvasOpened(page, 'one');
  const again = await openNode(page, 'trigger');
  await again.getByRole('tab', { name: 'Output' }).click();
  await again.getByRole('button', { name: 'Unpin' }).click();
  await leave();
  expect(await system.harness.client.find(drafts, at)).toBeUndefined();
});

test('a panel shows the test data that a colleague has changed, and not what was there before', async () => {
  const page = await opened('example');
  await renameWorkflow(page, 'Draft');
  await draftSaved(page);
  const panel = await openNode(page, 'trigger');
  await panel.getByRole('tab', { name: 'Test data' }).click();
  const shown = panel.getByRole('textbox', { name: 'Test data' });
  await shown.waitFor();
  const at = { namespace: PROJECT, name: 'example' };
  const { body } = (await system.harness.client.get(drafts, at)).spec;
  const changed = body.replace('"manual":{}', '"manual":{"testData":{"theirs":1}}');
  await system.harness.client.patch(drafts, at, { spec: { body: changed } }, { type: 'merge' });
  await expect.poll(() => shown.textContent()).toContain('"theirs"');
});

test('a conflict is not resolved without what a colleague has changed in the draft meanwhile', async () => {
  const page = await opened('compared');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  const at = { namespace: PROJECT, name: 'compared' };
  const nodes = [
    { id: 'trigger', manual: {} },
    { ...set, displayName: 'Theirs' },
  ];
  await system.harness.client.patch(workflows, at, { spec: { nodes } }, { type: 'merge' });
  await page.getByRole('button', { name: 'Compare' }).click();
  const comparison = page.getByRole('dialog', { name: /changed this workflow while you were editing it/ });
  const mine = comparison.getByRole('textbox', { name: 'Your version' });
  await mine.waitFor();
  const { body } = (await system.harness.client.get(drafts, at)).spec;
  const changed = body.replace('"nodes"', '"displayName":"Of a colleague","nodes"');
  await system.harness.client.patch(drafts, at, { spec: { body: changed } }, { type: 'merge' });
  await comparison.getByText('The draft changed while this dialog was open.').waitFor();
  const go = comparison.getByRole('button', { name: 'Continue with the edited version' });
  expect(await go.isDisabled()).toBe(true);
  await comparison.getByRole('button', { name: 'Begin again with the draft' }).click();
  await go.click();
  await page.getByTitle('Of a colleague (compared)').waitFor();
});

test('YAML that was invalid while somebody stopped the workflow does not activate it again', async () => {
  const page = await opened('typed', { active: true });
  await view(page, 'YAML');
  const yaml = page.getByRole('textbox', { name: 'Workflow YAML' });
  await yaml.getByText('manual: {}').click();
  expect(await yaml.textContent()).not.toContain('active');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('  active: true\nx: [');
  await page.getByText('This YAML is invalid.').waitFor();
  const at = { namespace: PROJECT, name: 'typed' };
  await system.harness.client.patch(workflows, at, { spec: { active: false } }, { type: 'merge' });
  await expect.poll(() => page.getByRole('switch', { name: 'Active' }).isChecked()).toBe(false);
  for (let key = 0; key < 4; key += 1) await page.keyboard.press('Backspace');
  await isPublished(page);
  expect((await published('typed')).spec.active).toBe(false);
  await yaml.locator('.cm-lintRange-warning').hover();
  await page.getByText('A draft does not keep this field: use the toggle Active.').waitFor();
});

test('a test run says what of the draft it executes', async () => {
  const page = await opened('tested');
  await addAfter(page, 'one', 'Response');
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const difference = page
    .getByRole('dialog', { name: 'Test run' })
    .getByText('Compared with the published version');
  await expect
    .poll(() => difference.textContent())
    .toBe('Compared with the published version: "reply" added.');
});

test.each(['Test run', 'Help me build'])(
  '%s is not open in the editor of the next workflow',
  async (what) => {
    await apply('second');
    const page = await opened('first');
    const list = () => page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Go to workflows' }).click();
    await list();
    await page.goBack();
    await canvasOpened(page, 'one');
    await page.getByRole('button', { name: what, exact: true }).click();
    await page.getByRole('dialog', { name: what }).waitFor();
    // Back would close the dialog.
    await page.goForward();
    await list();
    await page.getByRole('link', { name: 'second', exact: true }).click();
    await canvasOpened(page, 'one');
    await page.getByRole('button', { name: what, exact: true }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  },
);

test('who signs in on the page of somebody else does not see the draft without the right to it', async () => {
  await opened('expired');
  const { context, page } = await visit(browser);
  await startSession(context, system.consoleURL, token);
  await page.goto(visitor.page.url());
  await canvasOpened(page, 'one');
  await renameWorkflow(page, 'Draft of the editor');
  await draftSaved(page);
  await context.clearCookies();
  await renameWorkflow(page, 'Another draft of the editor');
  const dialog = page.getByRole('dialog', { name: 'Session expired' });
  const reader = await system.tokenWith(PROJECT, 'reader', READER);
  await dialog.getByLabel('Token', { exact: true }).fill(reader);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Undo', exact: true }).waitFor({ state: 'detached' });
  await nodeOf(page, 'one').waitFor();
  expect(await page.getByLabel('Workflow name').inputValue()).toBe('');
  await context.close();
});

test('the sign-in after an expired session is above a drawer whose content it is for, and keeps it open', async () => {
  await opened('renewed');
  const { context, page } = await visit(browser);
  await startSession(context, system.consoleURL, token);
  await page.goto(visitor.page.url());
  await canvasOpened(page, 'one');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Versions' }).click();
  const dialog = page.getByRole('dialog', { name: 'Session expired' });
  await dialog.getByLabel('Token', { exact: true }).fill(token);
  // Nothing but the sign-in closes it, and the drawer stays.
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  const versions = page.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  await expect.poll(() => versions.count()).toBe(1);
  await context.close();
});

const storedBody = async (name: string): Promise<string> =>
  (await system.harness.client.get(drafts, { namespace: PROJECT, name })).spec.body;

/** A colleague gives the draft another name. */
const renameDraft = async (name: string, displayName: string): Promise<void> => {
  const { spec, ...content } = JSON.parse(await storedBody(name)) as { spec: object };
  const body = JSON.stringify({ ...content, spec: { ...spec, displayName } });
  const at = { namespace: PROJECT, name };
  await system.harness.client.patch(drafts, at, { spec: { body } }, { type: 'merge' });
};

test('a conflict with a colleague is shown before a key, which is found once it is resolved', async () => {
  const page = await opened('both');
  await renameWorkflow(page, 'First');
  await draftSaved(page);
  await page.evaluate(`keepBack('WorkflowDraft')`);
  await renameDraft('both', 'Theirs');
  await renameWorkflow(page, `sk-${'a1B2'.repeat(6)}`);
  await page.getByText(/the workflow contains what looks like a key/).waitFor();
  await page.evaluate('letThrough()');
  await page.getByText('Somebody else changed the same part of this draft.').waitFor();
  await page.keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByText(/the workflow contains what looks like a key/).waitFor();
  expect(await storedBody('both')).toContain('"Theirs"');
});

test('a pin that is half typed stays when a colleague saves something else', async () => {
  const page = await opened('pinned');
  const panel = await openNode(page, 'trigger');
  await panel.getByRole('tab', { name: 'Output' }).click();
  await panel.getByRole('button', { name: 'Pin output' }).click();
  const field = panel.getByRole('textbox', { name: 'Pinned output of trigger' });
  await field.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"data_content": {"half":');
  await renameWorkflow(page, 'Draft');
  await draftSaved(page);
  await renameDraft('pinned', 'Of a colleague');
  await page.getByTitle('Of a colleague (pinned)').waitFor();
  expect(await field.textContent()).toContain('"half":');
});

test('a draft that a colleague changed, and that cannot be read then, is stored later by itself', async () => {
  const page = await opened('unread');
  await addAfter(page, 'one', 'Response');
  await draftSaved(page);
  await page.evaluate(`keepBack('WorkflowDraft')`);
  await renameDraft('unread', 'Of a colleague');
  await page.route(/\/workflowdrafts\/unread/, (route) =>
    route.request().method() === 'GET' ? route.abort('connectionreset') : route.continue(),
  );
  await addAfter(page, 'one', 'Set');
  await page.getByText('The draft is not saved. Windlass cannot be reached.').waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await draftSaved(page);
  const body = await storedBody('unread');
  expect(body).toContain('"Of a colleague"');
  expect(body).toContain('"id":"set"');
});

test('what is published is followed until it is live, or until it is known why not', async () => {
  const page = await opened('followed', { active: true });
  await system.harness.waitFor(PROJECT, 'followed', { type: 'Ready', status: 'True' }, 30_000);
  await page.evaluate(`keepBack('Workflow')`);
  await addAfter(page, 'one', 'Response');
  await sendPublication(page);
  const notice = page.getByRole('alert').filter({ hasText: 'Published' });
  await notice.getByText('Published, taking effect').waitFor();
  await notice.getByText('The operator has not processed it yet.').waitFor();
  await notice.getByRole('listitem').filter({ hasText: 'Waiting: URL responds' }).waitFor();
  await page.evaluate('letThrough()');
  await notice.getByText('Published and live').waitFor();
  await notice.getByRole('listitem').filter({ hasText: 'Done: URL responds' }).waitFor();
  await addAfter(page, 'one', 'Set');
  await sendPublication(page);
  const problem = page.getByRole('alert').filter({ hasText: 'Published version not live' });
  await problem.getByRole('listitem').filter({ hasText: 'Failed: Valid' }).waitFor();
  await problem.getByText(/Events start runs of the earlier version followed-/).waitFor();
  await problem.getByRole('button', { name: 'Show' }).click();
  const failed = page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'Failed: ' });
  await expect.poll(() => failed.allTextContents()).toEqual(['Failed: Valid']);
});
