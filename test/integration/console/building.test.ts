/** What people stumble over who build a workflow for the first time. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflows } from '../../../operator/shared/resources.ts';
import { colorFlawsOf } from '../../support/console/axe.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { manifestOf } from '../../support/console/filledProject.ts';
import { edgeOf } from '../../support/console/canvasSteps.ts';
import { focused } from '../../support/console/keyboard.ts';
import { descriptionOf } from '../../support/console/description.ts';
import {
  addAfter,
  askToPublish,
  canvasOpened,
  chooseCondition,
  draftSaved,
  nodeOf,
  openNode,
  openOutput,
  panelOf,
  publishDialog,
  renameWorkflow,
  writeExpression,
} from '../../support/console/steps.ts';
import { webhookWorkflow } from '../../support/console/webhookWorkflow.ts';

const PROJECT = 'shop';
const LONG_NAME = 'Confirm orders from a spreadsheet of the shop';
/** Below the first rows of the gallery, with a form that is higher than the dialog. */
const TEMPLATE = /Confirm orders from a spreadsheet/;

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  visitor = await visit(browser, { viewport: { width: 1_440, height: 900 } });
  visitor.page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

/** An order with many members, so that its tree is higher than the room below a field. */
const order = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`member_${at}`, { value: at }]));

/** `to`: the recipient of its mail. The operator reads no further if there is none. `when`: the condition. */
async function opened(name: string, to = '', when?: string): Promise<Page> {
  const { page } = visitor;
  const mail = { name: 'send_email', credential: 'mail', parameters: { to, subject: 'a', body: 'b' } };
  await system.apply(
    PROJECT,
    manifestOf([
      {
        apiVersion: 'windlass.dev/v1alpha1',
        kind: 'Workflow',
        metadata: { name },
        spec: {
          active: false,
          displayName: LONG_NAME,
          nodes: [
            { id: 'trigger', manual: { testData: { text_of_the_whole_order: 'long '.repeat(20), order } } },
            { id: 'mail', skill: mail },
          ],
          ...(when !== undefined && { edges: [{ from: 'trigger', to: 'mail', when }] }),
        },
      },
    ]),
  );
  await show(page, new URL(`/console/p/${PROJECT}/workflows/${name}`, system.consoleURL).href);
  await canvasOpened(page, 'mail');
  return page;
}

const titleOf = (page: Page) => panelOf(page).getAttribute('aria-label');

async function changeId(page: Page, id: string): Promise<void> {
  await panelOf(page).getByRole('button', { name: 'Change ID' }).click();
  await panelOf(page).getByRole('textbox', { name: 'ID', exact: true }).fill(id);
  await page.keyboard.press('Enter');
  await nodeOf(page, id).waitFor();
}

test('after a node is duplicated or pasted the panel shows the copy', async () => {
  const page = await opened('copies');
  // The panel has the focus after a click on the node.
  await openNode(page, 'mail');
  await page.keyboard.press('Control+c');
  await page.getByText('1 node copied').waitFor();
  await page.keyboard.press('Control+d');
  await expect.poll(() => titleOf(page)).toBe('Node mail_2');
  await nodeOf(page, 'mail_2').focus();
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'nodes: [{ id: pasted, wait: { duration: 1s } }]');
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  })()`);
  await expect.poll(() => titleOf(page)).toBe('Node pasted');
});

test('a right click on a node shows what can be done with it', async () => {
  const page = await opened('menus');
  const choose = async (node: string, action: string): Promise<void> => {
    await nodeOf(page, node).click({ button: 'right' });
    await page.getByRole('menu', { name: `Actions for ${node}` }).waitFor();
    await page.getByRole('menuitem', { name: action }).click();
  };
  await nodeOf(page, 'mail').click({ button: 'right' });
  await page.getByRole('menu', { name: 'Actions for mail' }).waitFor();
  expect(await colorFlawsOf(page, '[role="menu"]')).toEqual([]);
  await page.keyboard.press('Escape');
  await choose('mail', 'Disable');
  await choose('mail', 'Enable');
  await choose('mail', 'Duplicate');
  await choose('mail_2', 'Remove');
  await expect.poll(() => nodeOf(page, 'mail_2').count()).toBe(0);
  await nodeOf(page, 'mail').focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menu', { name: 'Actions for mail' }).waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => titleOf(page)).toBe('Node mail');
});

/** Opens the panel of a connection. */
async function openEdge(page: Page, from: string, to: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Fit the workflow (1)' }).click();
  await edgeOf(page, from, to).click({ force: true });
  const panel = page.getByRole('complementary', { name: 'Connection' });
  await panel.getByRole('group', { name: 'Only if' }).waitFor();
  return panel;
}

test('labels of connections are whole as soon as they are set', async () => {
  const page = await opened('labels');
  await addAfter(page, 'trigger', 'Response');
  const fields = (await openEdge(page, 'trigger', 'mail')).getByRole('combobox', { name: 'Field' });
  await fields.click();
  await fields.press('ArrowDown');
  await page.locator('[role="listbox"] [data-combobox-selected]').waitFor();
  expect(await colorFlawsOf(page, '[role="listbox"]')).toEqual([]);
  await chooseCondition(page, { field: 'order.member_3.value', operator: 'equals', value: '3' });
  const panel = await openEdge(page, 'trigger', 'reply');
  await panel.getByText('Otherwise', { exact: true }).click();
  const labels = page.locator('.react-flow__edgelabel-renderer span[title]');
  const shown = () =>
    labels.evaluateAll((all) =>
      all.map(({ textContent, scrollWidth, clientWidth }) => [textContent, scrollWidth <= clientWidth]),
    );
  await expect.poll(shown).toEqual([
    ['if order.member_3.value == 3', true],
    ['otherwise', true],
  ]);
});

test('the panel of a connection says when it is taken without a condition', async () => {
  const page = await opened('always');
  await addAfter(page, 'mail', 'Response');
  const panel = await openEdge(page, 'mail', 'reply');
  await panel.getByText('Without a condition the connection is taken whenever mail succeeds.').waitFor();
  await panel.getByText('When it fails').click();
  await panel.getByText('Without a condition the connection is taken whenever mail fails.').waitFor();
  const ofTrigger = await openEdge(page, 'trigger', 'mail');
  expect(await ofTrigger.getByRole('radio', { name: 'When it fails' }).isDisabled()).toBe(true);
});

test('the panel of a connection has its place while its condition is loaded', async () => {
  const page = await opened('loading', '', 'nodes.trigger.data_content.order.member_3.value == 3.0');
  const [asked, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(/\/read-/, async (route) => {
    asked.resolve();
    await loaded.promise;
    return route.continue();
  });
  await page.reload();
  await canvasOpened(page, 'mail');
  await edgeOf(page, 'trigger', 'mail').click({ force: true });
  const panel = page.getByRole('complementary', { name: 'Connection' });
  await asked.promise;
  await panel.getByText('Conditions', { exact: true }).waitFor();
  const topOfRemove = async () =>
    (await panel.getByRole('button', { name: 'Remove connection' }).boundingBox())?.y ?? 0;
  const before = await topOfRemove();
  loaded.resolve();
  const field = panel.getByRole('combobox', { name: 'Field' });
  await field.waitFor();
  expect(Math.abs((await topOfRemove()) - before)).toBeLessThanOrEqual(40);
  await page.unroute(/\/read-/);

  await field.click();
  const options = page.getByRole('option');
  await options.first().waitFor();
  const list = await page.getByRole('listbox').boundingBox();
  expect(list?.height).toBeGreaterThan(340);
  expect((list?.y ?? 0) + (list?.height ?? 0)).toBeLessThanOrEqual(900);
  const marked = () =>
    options.evaluateAll((all) =>
      all
        .filter((option) => option.matches('[aria-selected="true"], [data-combobox-selected]'))
        .map((option) => option.textContent),
    );
  await expect.poll(marked).toEqual([expect.stringContaining('order.member_3.value')]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');

  await field.fill('order.member_5.value');
  await field.press('Enter');
  await expect.poll(() => field.inputValue()).toBe('trigger: order.member_5.value');
});

test('the value of a condition stays in one line where its label needs two', async () => {
  const page = await opened('narrow', '', 'nodes.trigger.data_content.order.member_3.value == 4.0');
  await page.setViewportSize({ width: 1_024, height: 768 });
  await edgeOf(page, 'trigger', 'mail').click({ force: true });
  const value = page
    .getByRole('complementary', { name: 'Connection' })
    .locator('[aria-live]')
    .getByText('false', { exact: true });
  const lines = await value.evaluate((shown) => {
    const text = shown.ownerDocument.createRange();
    text.selectNodeContents(shown);
    return text.getClientRects().length;
  });
  expect(lines).toBe(1);
  await page.setViewportSize({ width: 1_440, height: 900 });
});

test('a template that is chosen begins at its top, with the focus, and so does the gallery after it', async () => {
  const page = await opened('gallery');
  await page.setViewportSize({ width: 1_024, height: 768 });
  await show(page, new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
  await page.getByRole('button', { name: 'New workflow' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('tab', { name: 'Template' }).click();
  const scrolled = () => dialog.evaluate((box) => box.scrollTop);
  await dialog.getByRole('button', { name: TEMPLATE }).click();
  await dialog.getByRole('heading', { name: new RegExp(`^${TEMPLATE.source}`) }).waitFor();
  expect(await dialog.evaluate((box) => box.scrollHeight > box.clientHeight)).toBe(true);
  expect([await focused(page), await scrolled()]).toEqual(['All templates', 0]);
  await dialog.getByLabel('ID', { exact: true }).scrollIntoViewIfNeeded();
  await dialog.getByRole('button', { name: 'All templates' }).click();
  await expect.poll(() => focused(page)).toBe('Search templates');
  expect(await scrolled()).toBe(0);
  await page.setViewportSize({ width: 1_440, height: 900 });
});

test('the dialog for a new workflow keeps its name and trigger in other tabs, and at a click beside it', async () => {
  const { page } = visitor;
  await page.goto(new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
  await page.getByRole('button', { name: 'New workflow' }).click();
  const dialog = page.getByRole('dialog');
  const name = dialog.getByLabel('Name', { exact: true });
  await name.fill('Sort the mail');
  await dialog.getByRole('radio', { name: /^Schedule/ }).click();
  const show = async (tab: string): Promise<void> => {
    await dialog.getByRole('tab', { name: tab }).click();
    await dialog.getByRole('tabpanel', { name: tab }).waitFor();
  };
  await show('Template');
  await show('Describe');
  expect(await name.inputValue()).toBe('Sort the mail');
  await name.fill('Sort all mail');
  await show('New');
  expect(await name.inputValue()).toBe('Sort all mail');
  expect(await dialog.getByLabel('ID', { exact: true }).inputValue()).toBe('sort-all-mail');
  expect(await dialog.getByRole('radio', { name: /^Schedule/ }).isChecked()).toBe(true);
  await page.mouse.click(10, 450);
  expect(await name.inputValue()).toBe('Sort all mail');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('a new credential at a node has the name that the node uses, and a click beside its form keeps it', async () => {
  const { page } = visitor;
  const skill = {
    name: 'send_email',
    credential: 'support',
    parameters: { to: '', subject: 'a', body: 'b' },
  };
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'mail', skill },
  ];
  await system.apply(
    PROJECT,
    manifestOf([
      {
        apiVersion: 'windlass.dev/v1alpha1',
        kind: 'Workflow',
        metadata: { name: 'support' },
        spec: { active: false, nodes },
      },
    ]),
  );
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/support`, system.consoleURL).href);
  await canvasOpened(page, 'mail');
  await openNode(page, 'mail');
  await panelOf(page).getByRole('button', { name: 'New credential…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New credential' });
  const name = dialog.getByRole('textbox', { name: 'Name', exact: true });
  await expect.poll(() => name.inputValue()).toBe('support');
  await dialog.getByLabel(/^Host/).fill('mail.example.com');
  await page.mouse.click(10, 450);
  expect(await dialog.getByLabel(/^Host/).inputValue()).toBe('mail.example.com');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('Enter in the message publishes', async () => {
  const page = await opened('entered', 'ada@example.com');
  await renameWorkflow(page, 'Confirm orders');
  await askToPublish(page);
  const message = publishDialog(page).getByRole('textbox', { name: 'Message' });
  await message.fill('A shorter name');
  await message.press('Enter');
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  const at = { namespace: PROJECT, name: 'entered' };
  expect((await system.harness.client.get(workflows, at)).spec.displayName).toBe('Confirm orders');
});

test('the + of a node and the buttons of its connection keep their distance', async () => {
  const page = await opened('apart');
  await openNode(page, 'trigger');
  await page.getByRole('button', { name: 'Fit the workflow (1)' }).click();
  await edgeOf(page, 'trigger', 'mail').hover({ force: true });
  const boxOf = async (name: string) => {
    const box = await page.getByRole('button', { name, exact: true }).boundingBox();
    if (box === null) throw new Error(`${name} is not there`);
    return box;
  };
  const own = await boxOf('Add a node after trigger');
  const other = await boxOf('Insert a node between trigger and mail');
  const apart = Math.hypot(
    Math.max(0, other.x - own.x - own.width, own.x - other.x - other.width),
    Math.max(0, other.y - own.y - own.height, own.y - other.y - other.height),
  );
  // The canvas is scaled, and the button of a node has 22 pixels.
  expect((apart * 22) / own.width).toBeGreaterThanOrEqual(8);
});

test('the buttons above an output are in one row', async () => {
  const page = await opened('outputs');
  const panel = await openNode(page, 'mail');
  await openOutput(page);
  const tops = ['Run to here', 'Run this node', 'Pin output'].map(async (name) => {
    const button = panel.getByRole('button', { name });
    await button.waitFor();
    return Math.round((await button.boundingBox())?.y ?? 0);
  });
  expect(new Set(await Promise.all(tops)).size).toBe(1);
});

test('a search without a hit offers what can do anything else, which is not chosen by accident', async () => {
  const page = await opened('nothing');
  await page.getByRole('button', { name: 'Add a node after mail', exact: true }).click();
  await page.getByLabel('Search nodes').fill('no such thing');
  await page.getByText('No node matches "no such thing".').waitFor();
  await page.keyboard.press('Enter');
  expect(await page.locator('[data-card]').count()).toBe(2);
  await page.getByRole('option', { name: /^HTTP request/ }).click();
  await expect.poll(() => page.locator('[data-card]').count()).toBe(3);
});

test('the icon of the selected node in the gallery stands out', async () => {
  const page = await opened('icons');
  await page.getByRole('button', { name: 'Add a node after mail', exact: true }).click();
  await page.getByLabel('Search nodes').fill('email');
  const background = (found: Locator) =>
    found.evaluate((at) => at.ownerDocument.defaultView.getComputedStyle(at).backgroundColor);
  const option = page.locator('[data-combobox-selected]').filter({ hasText: 'Send email' });
  await option.waitFor();
  const icon = option.locator('[aria-hidden]').first();
  expect(await background(icon)).not.toBe(await background(option));
});

test('an ID is replaced by what is typed', async () => {
  const page = await opened('names');
  await openNode(page, 'mail');
  await page.getByRole('button', { name: 'Change ID' }).click();
  const field = panelOf(page).getByRole('textbox', { name: 'ID', exact: true });
  await expect.poll(() => field.evaluate((input) => input.matches(':focus'))).toBe(true);
  expect(await descriptionOf(field)).toBe('References to this node are updated.');
  await page.keyboard.type('1');
  await expect.poll(() => descriptionOf(field)).toMatch(/^Start with a letter\..*updated\.$/);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('letter');
  await page.keyboard.press('Enter');
  await nodeOf(page, 'letter').waitFor();
  // Undo and redo stay at the node.
  for (const [keys, id] of Object.entries({ 'Control+z': 'mail', 'Control+Shift+z': 'letter' })) {
    await page.keyboard.press(keys);
    await expect.poll(() => titleOf(page)).toBe(`Node ${id}`);
  }
});

test('the choice of a reference stays in the window, and tells nothing about the field', async () => {
  const page = await opened('choices');
  await openNode(page, 'mail');
  await page.getByRole('button', { name: 'Insert reference into To' }).click();
  const choice = page.getByRole('dialog', { name: 'Insert reference' });
  for (const open of await choice.getByRole('button', { name: /^Open / }).all()) await open.click();
  const box = await choice.boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(0);
  const field = await panelOf(page).getByRole('textbox', { name: 'To', exact: true }).boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual((field?.y ?? 0) + (field?.height ?? 0));
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(900);
  const name = choice.locator('code', { hasText: 'text_of_the_whole_order' });
  expect(await name.evaluate((code) => code.scrollWidth <= code.clientWidth)).toBe(true);
  expect(await panelOf(page).getByText('To is required.').count()).toBe(0);
});

test('the choice of a reference opens above its button where there is no room below the field', async () => {
  const page = await opened('choices-above');
  const panel = await openNode(page, 'mail');
  const body = await panel.getByRole('textbox', { name: 'Body', exact: true }).boundingBox();
  await page.setViewportSize({ width: 1_440, height: Math.ceil((body?.y ?? 0) + (body?.height ?? 0)) + 60 });
  const button = panel.getByRole('button', { name: 'Insert reference into Body' });
  await button.click();
  const choice = page.getByRole('dialog', { name: 'Insert reference' });
  for (const open of await choice.getByRole('button', { name: /^Open / }).all()) await open.click();
  const [box, below] = await Promise.all([choice.boundingBox(), button.boundingBox()]);
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
  await page.setViewportSize({ width: 1_440, height: 900 });
});

test('while a reference is being typed the fields below move by one line at most', async () => {
  const page = await opened('typing');
  const panel = await openNode(page, 'mail');
  const topOf = async (field: string): Promise<number> =>
    (await panel.locator(`[data-field="skill.parameters.${field}"]`).boundingBox())?.y ?? 0;
  const room = async (): Promise<number> => (await topOf('subject')) - (await topOf('to'));
  await panel.getByRole('textbox', { name: 'To', exact: true }).click();
  const before = await room();
  await page.keyboard.type('{{ $it');
  await panel.getByText('{{ is not followed by a reference').waitFor();
  expect(Math.abs((await room()) - before)).toBeLessThanOrEqual(24);
});

test('the field of a credential says once what is wrong with it', async () => {
  const page = await opened('unready', 'ada@example.com');
  await system.apply(
    PROJECT,
    manifestOf([
      {
        apiVersion: 'windlass.dev/v1alpha1',
        kind: 'Credential',
        metadata: { name: 'mail' },
        spec: {
          smtp: {
            host: 'mail.example.com',
            from: 'shop@example.com',
            username: 'shop',
            passwordRef: { name: 'no-such-secret', key: 'password' },
          },
        },
      },
    ]),
  );
  await page.reload();
  await canvasOpened(page, 'mail');
  const panel = await openNode(page, 'mail');
  await panel.getByText('Secret missing').waitFor();
  const mark = nodeOf(page, 'mail').getByText(/problem: Credential mail is not ready/);
  await mark.waitFor({ state: 'attached' });
  expect(await panel.getByText('no-such-secret').count()).toBe(1);
  expect(await panel.getByRole('alert').count()).toBe(0);
  await panel.getByRole('button', { name: 'Edit the credential mail' }).waitFor();
});

test('in the list of workflows, what is said of a trigger keeps its distance', async () => {
  const { page } = visitor;
  await page.setViewportSize({ width: 1_440, height: 900 });
  await system.apply(PROJECT, manifestOf([webhookWorkflow('open-hook', true)]));
  await show(page, new URL(`/console/p/${PROJECT}/workflows`, system.consoleURL).href);
  const row = page.getByRole('row', { name: /open-hook/ });
  const mark = await row.getByText('Public', { exact: true }).boundingBox();
  const next = await row.getByText('Never', { exact: true }).boundingBox();
  expect((next?.x ?? 0) - (mark?.x ?? 0) - (mark?.width ?? 0)).toBeGreaterThanOrEqual(16);
});

test('values by heading have one button for an expression', async () => {
  const page = await opened('headings');
  await addAfter(page, 'mail', 'Append row');
  const toggles = panelOf(page).getByRole('button', { name: 'Use an expression for Values' });
  await toggles.first().waitFor();
  expect(await toggles.count()).toBe(1);
  await toggles.click();
  await panelOf(page).getByRole('textbox', { name: 'Values', exact: true }).click();
  await page.keyboard.insertText("{{ $('trigger').data_content.order }}");
  await panelOf(page).getByRole('button', { name: 'Use a fixed value for Values' }).click();
  await panelOf(page).getByRole('button', { name: 'Use an expression for Values' }).waitFor();
  const shapes = panelOf(page).getByRole('radiogroup', { name: 'Values as' });
  await shapes.getByText('As a list', { exact: true }).click();
  await panelOf(page).getByPlaceholder('Type a value and press Enter').fill('lamp');
  await page.keyboard.press('Enter');
  await shapes.getByText('By name', { exact: true }).click();
  await shapes.getByText('As a list', { exact: true }).click();
  await panelOf(page).getByText('lamp', { exact: true }).waitFor();
});

test('JSON that is invalid is kept, marked at its node and named before it would be published', async () => {
  const page = await opened('json', 'ada@example.com');
  await addAfter(page, 'mail', 'Response');
  const body = panelOf(page).getByRole('textbox', { name: 'Body', exact: true });
  const written = "{{ $('mail').data_content }}";
  await expect.poll(() => body.innerText()).toBe(written);
  // What was text stays in both shapes.
  const shapes = panelOf(page).getByRole('radiogroup', { name: 'Body as' });
  await shapes.getByText('JSON', { exact: true }).click();
  await expect.poll(() => body.innerText()).toBe(`"${written}"`);
  await shapes.getByText('Text', { exact: true }).click();
  await expect.poll(() => body.innerText()).toBe(written);

  await shapes.getByText('JSON', { exact: true }).click();
  const text = `{"ok": true, "order": {{ $('trigger').data_content }}}`;
  await writeExpression(page, 'Body', text);
  const told = 'put references in quotes, as in "{{ … }}".';
  await panelOf(page).getByText(told).waitFor();
  // Also while the panel of the new node is open.
  await page.locator('[data-card="reply"][data-problem]').waitFor();
  await openNode(page, 'mail');
  await page.locator('[data-card="reply"][data-problem]').waitFor();
  await openNode(page, 'reply');
  await expect.poll(() => body.innerText()).toBe(text);
  // It is the text of the node under another ID, too, and after a reload.
  await changeId(page, 'answer');
  await page.locator('[data-card="answer"][data-problem]').waitFor();
  await expect.poll(() => body.innerText()).toBe(text);
  await draftSaved(page);
  await page.reload();
  await canvasOpened(page, 'answer');
  await openNode(page, 'answer');
  await expect.poll(() => body.innerText()).toBe(text);
  await askToPublish(page);
  await publishDialog(page).getByRole('list', { name: 'Problems' }).getByText(told).waitFor();
  await publishDialog(page).getByRole('button', { name: 'Cancel' }).click();

  await shapes.getByText('Text', { exact: true }).click();
  await expect.poll(() => body.innerText()).toBe(text);
  await page.locator('[data-card="answer"]:not([data-problem])').waitFor();
});

test('values come back with the shape in which they were written', async () => {
  const page = await opened('shapes', 'ada@example.com');
  await addAfter(page, 'mail', 'Set');
  const shapes = panelOf(page).getByRole('radiogroup', { name: 'Values as' });
  await shapes.getByText('One value', { exact: true }).click();
  await writeExpression(page, 'Values', 'nodes.trigger.data_content');
  await shapes.getByText('By name', { exact: true }).click();
  await panelOf(page).getByRole('button', { name: 'Add value' }).waitFor();
  await shapes.getByText('One value', { exact: true }).click();
  const values = panelOf(page).getByRole('textbox', { name: 'Values', exact: true });
  await expect.poll(() => values.innerText()).toBe('nodes.trigger.data_content');
  // Also after another node was open, under another ID, and with an empty value beside it.
  await shapes.getByText('By name', { exact: true }).click();
  await panelOf(page).getByRole('button', { name: 'Add value' }).click();
  await panelOf(page).getByRole('textbox', { name: 'Name 1' }).fill('total');
  await writeExpression(page, 'Expression for total', '1');
  await shapes.getByText('One value', { exact: true }).click();
  await openNode(page, 'mail');
  await openNode(page, 'set');
  await expect.poll(() => values.innerText()).toBe('nodes.trigger.data_content');
  await changeId(page, 'sum');
  await values.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await openNode(page, 'mail');
  await openNode(page, 'sum');
  await shapes.getByText('JSON', { exact: true }).click();
  await expect.poll(async () => JSON.parse(await values.innerText())).toEqual({ total: '1' });
  await shapes.getByText('By name', { exact: true }).click();
  await panelOf(page).getByRole('textbox', { name: 'Name 1' }).waitFor();

  await addAfter(page, 'sum', 'Wait');
  const kinds = panelOf(page).getByRole('radiogroup', { name: 'Wait' });
  await panelOf(page).getByRole('textbox', { name: 'Duration' }).fill('5m');
  await kinds.getByText('Until', { exact: true }).click();
  await kinds.getByText('Duration', { exact: true }).click();
  const duration = panelOf(page).getByRole('textbox', { name: 'Duration' });
  await expect.poll(() => duration.inputValue()).toBe('5m');
});

test('a form shows the value that undo brings back, and changes that one', async () => {
  const page = await opened('undone', 'ada@example.com');
  /** Otherwise changes of one field in quick succession are one step. */
  const endStep = (name: string) => panelOf(page).getByLabel('Node name').fill(name);
  const undo = () => page.getByRole('button', { name: 'Undo', exact: true }).click();
  await addAfter(page, 'mail', 'Set');
  const shapes = panelOf(page).getByRole('radiogroup', { name: 'Values as' });
  await panelOf(page).getByRole('button', { name: 'Add value' }).click();
  await panelOf(page).getByRole('textbox', { name: 'Name 1' }).fill('total');
  const total = panelOf(page).getByRole('textbox', { name: 'Expression for total' });
  await writeExpression(page, 'Expression for total', '1');
  await endStep('Sum');
  await writeExpression(page, 'Expression for total', '2');
  await undo();
  await expect.poll(() => total.innerText()).toBe('1');
  await shapes.getByText('One value', { exact: true }).click();
  await writeExpression(page, 'Values', 'nodes.trigger.data_content');
  await undo();
  await expect.poll(() => total.innerText()).toBe('1');

  await addAfter(page, 'Sum', 'Wait');
  const kinds = panelOf(page).getByRole('radiogroup', { name: 'Wait' });
  const duration = panelOf(page).getByRole('textbox', { name: 'Duration' });
  await duration.fill('5m');
  await endStep('Pause');
  await kinds.getByText('Until', { exact: true }).click();
  await panelOf(page).getByRole('textbox', { name: 'Until', exact: true }).waitFor();
  await undo();
  await expect.poll(() => duration.inputValue()).toBe('5m');
});

test('a pasted expression chooses its field, and what names none is told', async () => {
  const page = await opened('pasted');
  const panel = await openEdge(page, 'trigger', 'mail');
  const field = panel.getByRole('combobox', { name: 'Field' });
  await field.fill('{{ $json.order.member_3.value }}');
  await field.press('Enter');
  await expect.poll(() => field.inputValue()).toBe('trigger: order.member_3.value');
  await field.fill('{{ 1 + 1 }}');
  await panel.getByRole('heading').click();
  await panel
    .getByText('“{{ 1 + 1 }}” is not a field. Still chosen: trigger: order.member_3.value.')
    .waitFor();
  await expect.poll(() => field.inputValue()).toBe('trigger: order.member_3.value');
});

test.each([1_024, 1_440])('the states beside a long name are whole at a width of %i', async (width) => {
  const page = await opened(`header-${width}`);
  await page.setViewportSize({ width, height: 900 });
  await addAfter(page, 'mail', 'Set');
  const badges = page.locator('header .mantine-Badge-root');
  await badges.filter({ hasText: 'Draft' }).waitFor();
  const cut = badges.evaluateAll(
    (all) =>
      all.filter((badge) => {
        const label = badge.querySelector('.mantine-Badge-label') ?? badge;
        return label.scrollWidth > label.clientWidth;
      }).length,
  );
  expect(await cut).toBe(0);
});
