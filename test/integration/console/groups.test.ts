/**
 * Groups in the editor: a loop with a branch and an error path is built, run and understood; nodes move into
 * and out of groups; a group is removed with or without its body. Notes explain the nodes.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import { colorFlawsOf, flawsOf, LAYERS } from '../../support/console/axe.ts';
import { dragNode, edgeOf, edgesOn } from '../../support/console/canvasSteps.ts';
import { startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import {
  EDITOR,
  READER,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';
import {
  addAfter,
  canvasOpened,
  choose,
  chooseCondition,
  nodeOf,
  openNode,
  openOutput,
  panelOf,
  publish,
  runEnded,
  testRun,
  writeExpression,
} from '../../support/console/steps.ts';

const PROJECT = 'shop';
const PANEL = 'aside';

let system: ConsoleSystem;
let browser: Browser;
let token: string;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

beforeEach(async () => {
  visitor = await visit(browser, { viewport: { width: 1_700, height: 950 } });
  ({ page } = visitor);
  page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, token);
});
afterEach(() => visitor?.close());

/** What the browser complained of, without refused dry runs. */
const complaints = () => visitor.complaints.filter((each) => !/Failed to load resource/.test(each));

const set = (id: string, within?: string): WorkflowNode => ({
  id,
  skill: { name: 'set', parameters: { values: { n: '1' } } },
  ...(within !== undefined && { within }),
});
const group = (id: string, within?: string): WorkflowNode => ({
  id,
  group: {},
  ...(within !== undefined && { within }),
});

async function open(name: string, nodes: WorkflowNode[]): Promise<void> {
  const manifest = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name } };
  await system.apply(PROJECT, stringify({ ...manifest, spec: { nodes } }));
  await page.goto(new URL(`/console/p/${PROJECT}/workflows/${name}`, system.consoleURL).href);
  await canvasOpened(page, 'trigger');
  await page.getByRole('button', { name: 'Fit the workflow (1)' }).click();
}

const savedSpec = async (name: string) =>
  (await system.harness.client.get(workflows, { namespace: PROJECT, name })).spec;

test('a click on a short connection opens it; removing one says so, and can be undone', async () => {
  await open('short', [{ id: 'trigger', manual: {} }, set('one'), set('two')]);
  const whole = ['one>two', 'trigger>one'];
  const from = await nodeOf(page, 'one').boundingBox();
  const to = await nodeOf(page, 'two').boundingBox();
  if (from === null || to === null) throw new Error('a node is not shown');
  const [left, y] = [from.x + from.width, from.y + from.height / 2];
  for (const share of [0.2, 0.5, 0.8]) {
    await page.mouse.move(left + (to.x - left) * share, y);
    await page.getByRole('button', { name: 'Insert a node between one and two' }).waitFor();
    await page.mouse.down();
    await page.mouse.up();
    const panel = page.getByRole('complementary', { name: 'Connection' });
    await panel.getByRole('group', { name: 'Only if' }).waitFor();
    expect(await edgesOn(page)).toEqual(whole);
    await panel.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Fit the workflow (1)' }).click();
    await page.keyboard.press('Escape');
  }
  await edgeOf(page, 'one', 'two').click({ force: true });
  await page.getByRole('button', { name: 'Remove the connection from one to two' }).click();
  await expect.poll(() => edgesOn(page)).toEqual(['trigger>one']);
  await page.getByRole('alert').getByText('Connection from one to two removed.').waitFor();
  await page.getByRole('alert').getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => edgesOn(page)).toEqual(whole);
});

test('a loop with a branch and an error path is built and run, and its items are shown', {
  timeout: 120_000,
}, async () => {
  const lines = [
    { article: 'pen', price: 3 },
    { article: 'ink', price: 12 },
    { article: 'pad', price: 0 },
  ];
  await open('invoice', [{ id: 'trigger', manual: { testData: { lines } } }]);
  await addAfter(page, 'trigger', 'Loop over items');
  await writeExpression(page, 'Items', "{{ $('trigger').data_content.lines }}");
  await panelOf(page).getByText('list of 3').waitFor();
  await page.getByRole('button', { name: 'Add the first node' }).click();
  await choose(page, 'Set');
  await panelOf(page).getByRole('button', { name: 'Add value' }).click();
  await panelOf(page).getByLabel('Name 1').waitFor();
  // The new row has the focus.
  await page.keyboard.type('total');
  await writeExpression(page, 'Expression for total', 'item.price * 2.0');
  await panelOf(page).getByText('6', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await addAfter(page, 'set', 'Fail');
  await writeExpression(page, 'Message', '{{ $item.article }} has no price');
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await page.getByRole('button', { name: 'Fit the workflow (1)' }).click();
  await edgeOf(page, 'set', 'fail').click({ force: true });
  await chooseCondition(page, { field: 'total', operator: 'equals', value: '0' });
  const isNothing = 'has(nodes.set.?data_content.total) && nodes.set.data_content.total == 0';
  await page.getByText(isNothing, { exact: true }).waitFor();
  await openNode(page, 'for_each');
  await panelOf(page).getByRole('tab', { name: 'Options' }).click();
  await panelOf(page)
    .getByRole('combobox', { name: 'On error' })
    .or(panelOf(page).getByRole('textbox', { name: 'On error' }))
    .click();
  await page.getByRole('option', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await publish(page);
  const { nodes, edges } = await savedSpec('invoice');
  expect(nodes.map(({ id, within }) => [id, within])).toEqual([
    ['trigger', undefined],
    ['for_each', undefined],
    ['set', 'for_each'],
    ['fail', 'for_each'],
  ]);
  expect(nodes[1]).toMatchObject({
    group: {},
    forEach: { items: "{{ $('trigger').data_content.lines }}" },
    onError: 'Continue',
  });
  expect(edges).toEqual([{ from: 'set', to: 'fail', when: isNothing }]);

  await testRun(page);
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  await openNode(page, 'for_each');
  await openOutput(page);
  await panelOf(page).getByText('One item').click();
  await panelOf(page).getByRole('button', { name: 'Next item' }).click();
  await panelOf(page).getByText('24').waitFor();
  await panelOf(page).getByRole('button', { name: 'Next item' }).click();
  await panelOf(page).getByText('pad has no price').first().waitFor();
  await openNode(page, 'set');
  await panelOf(page).getByRole('tab', { name: 'Input' }).click();
  const pager = panelOf(page).getByRole('group', { name: 'Item', exact: true });
  await pager.getByText('of 3, counted from 0').waitFor();
  expect(await pager.getByLabel('Index of the item').inputValue()).toBe('2');
  await panelOf(page).getByRole('button', { name: 'Previous item' }).click();
  await panelOf(page).getByText('ink').first().waitFor();
  await testRun(page);
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  await page.reload();
  await panelOf(page).getByRole('tab', { name: 'Parameters' }).waitFor();
  expect(complaints()).toEqual([]);
});

test('nodes are dragged into and out of groups, and each move is one step of undo', async () => {
  await open('moved', [
    { id: 'trigger', manual: {} },
    set('a'),
    group('g'),
    set('b', 'g'),
    set('c', 'g'),
    set('d'),
  ]);
  const before = ['a>g', 'b>c', 'g:b', 'g>d', 'trigger>a'];
  await expect.poll(() => edgesOn(page)).toEqual(before);
  await dragNode(page, 'a', { node: 'b', x: -6, y: 10 });
  await page.getByText('a moved into g. 2 connections across its border removed.').waitFor();
  await expect.poll(() => edgesOn(page)).toEqual(['a>b', 'b>c', 'g:a', 'g>d', 'trigger>g']);
  await page.getByRole('button', { name: 'Undo', exact: true }).last().click();
  await expect.poll(() => edgesOn(page)).toEqual(before);
  await dragNode(page, 'c', { node: 'b', x: 0, y: 340 });
  await page.getByText('c moved out of g.').waitFor();
  await expect.poll(() => edgesOn(page)).toEqual(['a>g', 'g:b', 'g>d', 'trigger>a']);
  await publish(page);
  const { nodes } = await savedSpec('moved');
  expect(nodes.filter(({ within }) => within === 'g').map(({ id }) => id)).toEqual(['b']);
  await dragNode(page, 'trigger', { node: 'b', x: 0, y: 0 });
  await page.getByText('The trigger starts the workflow, so it cannot be in a group.').waitFor();
  expect(complaints()).toEqual([]);
});

test('a group moves with its body, collapses, and is copied, removed and unwrapped', async () => {
  await open('grouped', [{ id: 'trigger', manual: {} }, group('g'), set('b', 'g'), set('c', 'g'), set('d')]);
  const gap = async () => {
    const [frame, card] = [await nodeOf(page, 'g').boundingBox(), await nodeOf(page, 'b').boundingBox()];
    return Math.round((card?.y ?? 0) - (frame?.y ?? 0));
  };
  const distance = await gap();
  await dragNode(page, 'g', { node: 'g', x: 0, y: 120 });
  expect(await gap()).toBe(distance);
  await page.getByRole('button', { name: 'Collapse g' }).click();
  await nodeOf(page, 'b').waitFor({ state: 'detached' });
  await expect.poll(() => edgesOn(page)).toEqual(['g>d', 'trigger>g']);
  await page.getByRole('button', { name: 'Expand g' }).click();
  await nodeOf(page, 'b').waitFor();

  // Dragging has selected the group.
  await page.keyboard.press('Control+d');
  await nodeOf(page, 'b_2').waitFor();
  await expect.poll(() => edgesOn(page)).toContain('b_2>c_2');
  // The copies are selected, so there is nothing to ask.
  await page.keyboard.press('Delete');
  await nodeOf(page, 'b_2').waitFor({ state: 'detached' });
  await nodeOf(page, 'g').click({ modifiers: ['Shift'] });
  await page.keyboard.press('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Keep the nodes' }).click();
  await expect.poll(() => edgesOn(page)).toEqual(['b>c', 'c>d', 'trigger>b']);
  await page.keyboard.press('Control+z');
  await nodeOf(page, 'g').click({ modifiers: ['Shift'] });
  await page.keyboard.press('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove with its 2 nodes' }).click();
  await expect.poll(() => edgesOn(page)).toEqual(['trigger>d']);
  expect(complaints()).toEqual([]);
});

test('groups and loops have no accessibility violation, in light and dark', {
  timeout: 240_000,
}, async () => {
  const items = "{{ $('trigger').data_content.rows }}";
  await open('shown', [
    { id: 'trigger', manual: { testData: { rows: [1, 2] } } },
    { ...group('each'), forEach: { items } },
    set('a', 'each'),
    { ...group('again', 'each'), repeat: { until: 'true', limit: 3 } },
    set('b', 'again'),
    { ...set('rows'), forEach: { items } },
  ]);
  await testRun(page);
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  const checked = async (within?: string) => {
    expect(await flawsOf(page, within)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await expect.poll(() => colorFlawsOf(page, within), { timeout: 30_000 }).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
  };
  await checked();
  for (const id of ['each', 'again', 'rows']) {
    await openNode(page, id);
    await checked(PANEL);
  }
  await panelOf(page).getByRole('tab', { name: 'Options' }).click();
  await checked(PANEL);
  await openOutput(page);
  await panelOf(page).getByText('One item').click();
  await checked(PANEL);
  await openNode(page, 'a');
  await panelOf(page).getByRole('tab', { name: 'Input' }).click();
  await checked(PANEL);
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await page.getByRole('button', { name: 'Collapse again' }).click();
  await checked();
  await nodeOf(page, 'each').click();
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await page.keyboard.press('Delete');
  await page.getByRole('dialog').waitFor();
  await checked(LAYERS);
  expect(complaints()).toEqual([]);
});

test('a connection across a border is refused with the way to do it', async () => {
  await open('border', [{ id: 'trigger', manual: {} }, group('g'), set('b', 'g'), set('d')]);
  const end = (id: string, side: string) =>
    page.locator(`.react-flow__node[data-id="${id}"] .react-flow__handle.${side}`).first();
  await end('b', 'source').dragTo(end('d', 'target'));
  await page.getByText('b is in the group g. Connect g and d.').waitFor();
  await expect.poll(() => edgesOn(page)).toEqual(['g:b', 'g>d', 'trigger>g']);
  expect(complaints()).toEqual([]);
});

const noteOn = (name: string | RegExp) => page.getByRole('note', { name });

/** Runs do not read notes, so that no changes are shown first. */
async function publishNotes(): Promise<void> {
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
}

async function readNotes(name: string): Promise<Record<string, unknown>[]> {
  const { metadata } = await system.harness.client.get(workflows, { namespace: PROJECT, name });
  const text = metadata.annotations?.['windlass.dev/notes'];
  return text === undefined ? [] : Object.values(JSON.parse(text) as Record<string, Record<string, unknown>>);
}

const HOSTILE =
  '<img src=x onerror=alert(1)> [link](javascript:alert(1)) ![pixel](https://example.com/p.png)';

test('a note is added, written, moved, resized, published and shown again, and a reader cannot change it', {
  timeout: 120_000,
}, async () => {
  await open('noted', [{ id: 'trigger', manual: {} }, set('one')]);
  await page.keyboard.press('Shift+N');
  const field = page.getByRole('textbox', { name: 'Text of the note, Markdown' });
  await field.fill(`# Orders\n**Only** paid ones\n- first\n\n${HOSTILE}`);
  await field.press('Escape');
  const note = noteOn('Note: Orders');
  await note.getByText('Only', { exact: true }).and(note.locator('strong')).waitFor();
  await note.getByText('<img src=x onerror=alert(1)> link (javascript:alert(1)) pixel').waitFor();
  expect(await note.locator('img, a').count()).toBe(0);
  await page.getByRole('button', { name: 'Make it green' }).click();

  const before = await note.boundingBox();
  if (before === null) throw new Error('the note is not shown');
  await page.mouse.move(before.x + 100, before.y + 15);
  await page.mouse.down();
  await page.mouse.move(before.x + 130, before.y + 65, { steps: 5 });
  await page.mouse.up();
  const corner = page.locator('.react-flow__node-note .react-flow__resize-control.handle.bottom.right');
  const grip = await corner.boundingBox();
  if (grip === null) throw new Error('the handle is not shown');
  await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
  await page.mouse.down();
  await page.mouse.move(grip.x + 80, grip.y + 60, { steps: 5 });
  await page.mouse.up();
  await expect.poll(async () => (await note.boundingBox())?.width).toBeGreaterThan(before.width + 50);
  const moved = await note.boundingBox();
  expect(moved?.x).toBeGreaterThan(before.x + 15);
  expect(moved?.y).toBeGreaterThan(before.y + 30);

  // A deleted note comes back.
  await note.press('Delete');
  await expect.poll(() => note.count()).toBe(0);
  await page.keyboard.press('Control+z');
  await note.waitFor();
  await publishNotes();
  const [stored] = await readNotes('noted');
  expect(stored).toMatchObject({ color: 'green', text: expect.stringContaining('# Orders') });
  expect(stored?.['width']).toBeGreaterThan(290);

  await page.reload();
  await canvasOpened(page, 'trigger');
  await note.waitFor();
  // By keys alone: move, then edit.
  await note.focus();
  await note.press('ArrowRight');
  await note.press('Enter');
  await field.press('End');
  await field.pressSequentially(' of today');
  await field.press('Escape');
  await note.getByText('of today').waitFor();
  await publishNotes();
  expect(await readNotes('noted')).toMatchObject([
    { x: Number(stored?.['x']) + 20, text: expect.stringMatching(/of today$/) },
  ]);
  expect(complaints()).toEqual([]);
  await note.focus();
  await page.getByRole('toolbar', { name: 'Note' }).waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('.react-flow.dark').waitFor();
  expect(await colorFlawsOf(page, '.react-flow__node-note')).toEqual([]);

  const reader = await visit(browser);
  await startSession(reader.context, system.consoleURL, await system.tokenWith(PROJECT, 'reader', READER));
  await reader.page.goto(page.url());
  await reader.page.getByRole('note', { name: 'Note: Orders' }).focus();
  await reader.page.keyboard.press('Delete');
  await reader.page.keyboard.press('Enter');
  await reader.page.getByRole('note', { name: 'Note: Orders' }).getByText('of today').waitFor();
  expect(await reader.page.getByRole('toolbar', { name: 'Note' }).count()).toBe(0);
  expect(await reader.page.getByRole('button', { name: 'Add a note (Shift+N)' }).count()).toBe(0);
  await reader.close();
});
