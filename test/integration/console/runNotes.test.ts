/**
 * What the console says about runs of other revisions, nodes that never ran, items of loops, refused calls,
 * memories and Secrets.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunStatus } from '../../../api/run.ts';
import { flawsOf } from '../../support/console/axe.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { accountsOf, manifestOf, object } from '../../support/console/filledProject.ts';
import { chooseNode } from '../../support/console/loopViews.ts';
import { addRecord } from '../../support/console/records.ts';
import {
  addAfter,
  canvasOpened,
  createWorkflow,
  nodeOf,
  panelOf,
  runEnded,
  view,
  yamlOn,
} from '../../support/console/steps.ts';

const PROJECT = 'shop';
const EVENT = { text_content: 'It came broken.', data_content: { orders: [1, 2] } };
const REFUSED = {
  text_content: 'Urgent.',
  data_content: { finish_reason: 'stop', tool_calls: [{ name: 'forward', arguments: '{}', error: true }] },
};
const SENT = { model: 'demo', prompt: '<b>It came</b> broken. Key: [secret]' };
const FOUND = {
  reference: "$('trigger').data_content.amount",
  at: "$('trigger').data_content",
  type: 'object' as const,
  size: 1,
  keys: ['orders'],
};
const at = (second: number) => new Date(Date.now() - 3_600_000 + second * 1_000).toISOString();
const TIMES = { startTime: at(0), completionTime: at(9) };
const set = (id: string, within?: string) => ({
  id,
  skill: { name: 'set', parameters: { values: { n: '1' } } },
  ...(within !== undefined && { within }),
});

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  await system.apply(PROJECT, manifestOf(accountsOf(system)));
  await addRuns();
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

const open = (path: string) => show(page, new URL(`/console/p/${PROJECT}/${path}`, system.consoleURL).href);

async function addRuns(): Promise<void> {
  const agent = { credential: 'model', model: 'demo', prompt: "{{ $('trigger').text_content }}" };
  const tools = [{ name: 'find', skill: 'http_request', parameters: { url: 'http://127.0.0.1:9/' } }];
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'each', group: {}, forEach: { items: "{{ $('trigger').data_content.orders }}" } },
    set('price', 'each'),
    { id: 'triage', agent },
    { id: 'support', agent: { ...agent, tools } },
    set('late'),
  ];
  const edges = [
    { from: 'trigger', to: 'each' },
    { from: 'each', to: 'triage' },
    { from: 'triage', to: 'support' },
    { from: 'support', to: 'late' },
  ];
  await system.apply(PROJECT, manifestOf([object('Workflow', 'orders', { nodes, edges })]));
  await system.harness.waitFor(PROJECT, 'orders', { type: 'Ready', status: 'True' }, 90_000);
  const items = { total: 2, succeeded: 2, failed: 0, running: 0 };
  const transcript = {
    entries: [
      { role: 'User' as const, text: EVENT.text_content, memoryTurns: 2 },
      { role: 'Assistant' as const, text: 'Sorry.', ...TIMES },
    ],
  };
  const status: RunStatus = {
    phase: 'Cancelled',
    reason: 'Cancelled',
    ...TIMES,
    nodes: [
      { id: 'trigger', phase: 'Succeeded', ...TIMES, output: EVENT },
      { id: 'each', phase: 'Succeeded', ...TIMES, items },
      { id: 'price', phase: 'Skipped', item: 1 },
      { id: 'triage', phase: 'Succeeded', ...TIMES, output: REFUSED, sent: { parameters: SENT } },
      { id: 'support', phase: 'Cancelled', attempts: 1, ...TIMES, transcript },
    ],
  };
  const run = { namespace: PROJECT, workflow: 'orders', input: EVENT };
  await addRecord(system, { ...run, name: 'orders-current', status });
  const failed = {
    phase: 'Failed' as const,
    reason: 'MissingValue',
    message: 'has no member',
    missing: FOUND,
  };
  const others = (status.nodes ?? []).map((node) => (node.id === 'support' ? { ...node, ...failed } : node));
  await addRecord(system, {
    ...run,
    name: 'orders-old',
    status: { ...status, revision: 'orders-old', nodes: others },
  });
  const partly = { total: 2, succeeded: 1, failed: 1, running: 0 };
  await addRecord(system, {
    ...run,
    name: 'orders-partly',
    status: {
      phase: 'Succeeded',
      ...TIMES,
      nodes: [
        { id: 'trigger', phase: 'Succeeded', ...TIMES, output: EVENT },
        { id: 'each', phase: 'Succeeded', ...TIMES, items: partly },
      ],
    },
  });
}

test('a node that a cancelled run never started is not waited for', async () => {
  await open('runs/orders-current?workflow=orders');
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('button', { name: /^late/ }).getByText('Not run').waitFor();
  await chooseNode(page, 'late');
  await page.getByRole('region', { name: 'Selected node' }).getByText('Not run').waitFor();
  expect(await page.getByText('Pending').count()).toBe(0);
  expect(await flawsOf(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test('the page of a run that succeeded with failed items says so, as the editor does', async () => {
  await open('runs/orders-partly?workflow=orders');
  await page.getByRole('status').getByText('Succeeded, with failed items').waitFor();
  await open('workflows/orders?run=orders-partly');
  expect(await runEnded(page)).toMatch(/^Succeeded in .*, with failed items$/);
  await open('runs');
  const marked = page.getByRole('row').filter({ hasText: 'Some items failed' });
  await marked.getByText('Succeeded').waitFor();
  expect(await marked.getByRole('link').first().getAttribute('title')).toBe('orders-partly');
  expect(await marked.count()).toBe(1);
});

test('a tool call of an agent without tools is shown as refused', async () => {
  await open('runs/orders-current?workflow=orders');
  await chooseNode(page, 'triage');
  const calls = page.getByRole('list', { name: 'Tool calls' });
  await calls.getByText('refused: the agent has no tools').waitFor();
  expect(await flawsOf(page)).toEqual([]);
});

test('a conversation says how many turns of the memory the model was sent', async () => {
  await open('runs/orders-current?workflow=orders');
  await chooseNode(page, 'support');
  const conversation = page.getByRole('region', { name: 'Conversation', exact: true });
  await conversation.getByText('The model was also sent 2 earlier turns from memory.').waitFor();
  expect(await flawsOf(page)).toEqual([]);
});

test('a run shows what a step sent, and the keys that a failed reference found', async () => {
  await open('runs/orders-old?workflow=orders');
  await chooseNode(page, 'triage');
  const sent = page.getByRole('region', { name: 'Sent', exact: true });
  await sent.getByLabel('Sent: Prompt').getByText(SENT.prompt).waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await chooseNode(page, 'support');
  const keys = page.getByText("$('trigger').data_content has: orders.");
  await keys.waitFor();
  await open('workflows/orders?run=orders-old');
  await nodeOf(page, 'triage').click();
  await panelOf(page).getByRole('tab', { name: 'Sent' }).click();
  await panelOf(page).getByLabel('Sent: Prompt').getByText(SENT.prompt).waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await nodeOf(page, 'support').click();
  await panelOf(page).getByText('Nothing to show.').waitFor();
  await panelOf(page).getByRole('tab', { name: 'Output' }).click();
  await keys.waitFor();
});

test('the canvas says that the run is of another revision, and which item of a loop it shows', async () => {
  const hint = page.getByText('Other version');
  await open('workflows/orders?run=orders-current');
  await nodeOf(page, 'price').getByText('skipped · item [1]').waitFor();
  expect(await hint.count()).toBe(0);
  await open('workflows/orders?run=orders-old');
  await hint.waitFor();
  expect(await flawsOf(page)).toEqual([]);
});

test('a new chat workflow says which Secret and memory are missing, and asks for nothing refused', async () => {
  // Those of the tests before it are theirs.
  visitor.complaints.splice(0);
  await open('workflows');
  await createWorkflow(page, 'Help desk', /^Chat/);
  await canvasOpened(page, 'trigger');
  await nodeOf(page, 'trigger').click();
  await panelOf(page).getByText('There is no Secret chat-token in shop').waitFor();
  await panelOf(page).getByText('kubectl create secret generic chat-token --namespace shop').waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await addAfter(page, 'trigger', 'Agent');
  await panelOf(page).getByRole('button', { name: 'Add a memory' }).click();
  await panelOf(page).getByRole('button', { name: 'Add a memory' }).waitFor({ state: 'hidden' });
  await view(page, 'YAML');
  await expect.poll(() => yamlOn(page)).toContain("$('trigger').data_content.session");
  // The agent has no model yet, which the dry run of the draft says.
  const ofDryRun = /status of 422 .*dryRun=All/;
  expect(visitor.complaints.filter((complaint) => !ofDryRun.test(complaint))).toEqual([]);
});
