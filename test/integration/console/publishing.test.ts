/**
 * What the editor does when answers are lost, refused or late while a draft is stored and published, and when
 * others change the draft or the workflow in the same moment.
 */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Workflow } from '../../../api/kinds.ts';
import { drafts, workflows } from '../../../operator/shared/resources.ts';
import { startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { manifestOf } from '../../support/console/filledProject.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import {
  addAfter,
  canvasOpened,
  draftSaved,
  nodeOf,
  openNode,
  panelOf,
} from '../../support/console/steps.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  visitor = await visit(browser);
  visitor.page.setDefaultTimeout(40_000);
  await visitor.page.addInitScript(KEEP_BACK);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
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

async function opened(name: string): Promise<Page> {
  const { page } = visitor;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await apply(name);
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/${name}`, system.consoleURL).href);
  await canvasOpened(page, 'one');
  await page.evaluate('letThrough()');
  return page;
}

/** Keeps back what the API server tells of workflows, from \`keepBack()\` to \`letThrough()\`. */
const KEEP_BACK = `(() => {
  const { fetch } = window;
  let keptKind;
  const kept = [];
  window.keepBack = (kind) => (keptKind = kind);
  window.letThrough = () => {
    keptKind = undefined;
    for (const { line, out } of kept.splice(0)) {
      // The stream may have been reopened: then it comes again.
      try { out.enqueue(line); } catch {}
    }
  };
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

async function renamed(page: Page, name: string): Promise<void> {
  const field = page.getByLabel('Workflow name');
  await field.fill(name);
  await field.press('Enter');
}

/** Without waiting until it is done. */
async function sendPublication(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await question(page)
    .getByRole('button', { name: /^Publish/ })
    .click();
}

const question = (page: Page) => page.getByRole('dialog', { name: 'Publish these changes?' });
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
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
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
    await renamed(page, `First ${method}`);
    await page.getByText('The draft is not saved. The gateway cannot be reached.').waitFor();
    await renamed(page, `Second ${method}`);
    await draftSaved(page);
    const draft = await system.harness.client.get(drafts, { namespace: PROJECT, name: 'unanswered' });
    expect(draft.spec.body).toContain(`"Second ${method}"`);
    expect(await page.getByText('Somebody else changed').count()).toBe(0);
  }
});

test('once a draft is saved after Try again, whoever pressed it is in the content of the page', async () => {
  const page = await opened('retried');
  await page.route(/\/workflowdrafts/, (route) =>
    route.request().method() === 'GET' ? route.continue() : route.abort('connectionreset'),
  );
  await renamed(page, 'Not saved at first');
  await page.getByText('The draft is not saved. The gateway cannot be reached.').waitFor();
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
  await renamed(page, 'Second');
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
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await question(page).getByText('id: reply').waitFor();
  const at = { namespace: PROJECT, name: 'read' };
  const draft = await system.harness.client.get(drafts, at);
  const body = draft.spec.body.replace('"nodes"', '"displayName":"Not read","nodes"');
  await system.harness.client.patch(drafts, at, { spec: { body } }, { type: 'merge' });
  await question(page).getByText('displayName: Not read').waitFor();
  await question(page)
    .getByRole('button', { name: /^Publish/ })
    .click();
  await question(page).getByText('The draft changed while this dialog was open').waitFor();
  expect(await nodesOf('read')).toEqual(['trigger', 'one']);
  await question(page)
    .getByRole('button', { name: /^Publish/ })
    .click();
  await isPublished(page);
  expect((await published('read')).spec.displayName).toBe('Not read');
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
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await question(page).getByText('id: reply').waitFor();
  await system.harness.client.delete(drafts, { namespace: PROJECT, name: 'gone' });
  await page.getByText('Somebody else published or discarded it.').waitFor();
  const publish = question(page).getByRole('button', { name: /^Publish/ });
  await publish.click();
  await question(page).getByText('The draft changed while this dialog was open').waitFor();
  await publish.click();
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
