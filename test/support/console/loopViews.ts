/**
 * Runs of loops, waits and child runs, with a failed run whose effect is in doubt, and what the console shows
 * of them.
 */
import type { Page } from 'playwright-core';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { pollUntil } from '../time/poll.ts';
import type { ConsoleSystem } from './consoleSystem.ts';
import type { View } from './dialogs.ts';
import { manifestOf, object } from './filledProject.ts';
import { addRecord } from './records.ts';
import { openNode, openOutput, panelOf } from './steps.ts';

const ORDERS = [
  { article: 'pen', price: 3 },
  { article: 'ink', price: 0 },
  { article: 'pad', price: 5 },
];
const items = "{{ $('trigger').data_content.orders }}";
const set = (id: string, values: object | string, within?: string) => ({
  id,
  skill: { name: 'set', parameters: { values } },
  ...(within !== undefined && { within }),
});

const LOOPS = [
  object('Workflow', 'receipt', {
    displayName: 'Receipt',
    nodes: [{ id: 'trigger', manual: {} }, set('line', { of: 'nodes.trigger.data_content.article' })],
  }),
  object('Workflow', 'invoices', {
    displayName: 'Invoices',
    nodes: [
      { id: 'trigger', manual: { testData: { orders: ORDERS } } },
      { id: 'each', group: {}, forEach: { items }, onError: 'Continue' },
      set('double', { price: 'item.price * 2.0' }, 'each'),
      {
        id: 'check',
        within: 'each',
        fail: { reason: 'NoPrice', message: '{{ $item.article }} has no price' },
      },
      { id: 'receipts', workflow: { name: 'receipt', input: '{{ $item }}' }, forEach: { items } },
    ],
    edges: [
      { from: 'trigger', to: 'each' },
      { from: 'each', to: 'receipts' },
      { from: 'double', to: 'check', when: 'nodes.double.data_content.price == 0.0' },
    ],
  }),
  object('Workflow', 'reminder', {
    displayName: 'Reminder',
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'pause', wait: { duration: '1h' } },
      set('late', { done: 'true' }),
    ],
  }),
];

export const RUNS_OF_LOOPS = {
  invoices: 'invoices-shown',
  reminder: 'reminder-shown',
  doubt: 'receipt-in-doubt',
};

/** Adds the workflows and their runs, and waits until the runs have ended or wait. */
export async function addLoops(system: ConsoleSystem, project: string): Promise<void> {
  const { client } = system.harness;
  await system.apply(project, manifestOf(LOOPS));
  for (const name of ['receipt', 'invoices', 'reminder'])
    await system.harness.waitFor(project, name, { type: 'Ready', status: 'True' }, 90_000);
  for (const workflow of ['invoices', 'reminder'] as const)
    await client.create(workflowRuns, {
      metadata: { name: RUNS_OF_LOOPS[workflow], namespace: project },
      spec: { workflow, test: true },
    });
  await addDoubt(system, project);
  const phaseOf = async (name: string) =>
    (await client.get(workflowRuns, { namespace: project, name })).status?.phase;
  await pollUntil(
    'the runs',
    async () =>
      (await phaseOf(RUNS_OF_LOOPS.invoices)) === 'Succeeded' &&
      (await phaseOf(RUNS_OF_LOOPS.reminder)) === 'Waiting',
    { timeoutMs: 60_000, everyMs: 100 },
  );
}

const EVENT = { text_content: '', data_content: { article: 'pen' } };

/** A record as a runner leaves it when another one found the start mark of its effect. */
async function addDoubt(system: ConsoleSystem, namespace: string): Promise<void> {
  const time = new Date().toISOString();
  const why = { reason: 'EffectUnknown', message: 'node line: a runner stopped during its effect' };
  await addRecord(system, {
    namespace,
    name: RUNS_OF_LOOPS.doubt,
    workflow: 'receipt',
    input: EVENT,
    status: {
      phase: 'Failed',
      ...why,
      startTime: time,
      completionTime: time,
      nodes: [
        { id: 'trigger', phase: 'Succeeded', startTime: time, completionTime: time, output: EVENT },
        { id: 'line', phase: 'Unknown', attempts: 1, startTime: time, completionTime: time, ...why },
      ],
    },
  });
}

const nodeShown = (page: Page, id: string) =>
  page
    .getByRole('region', { name: 'Selected node' })
    .getByRole('heading', { name: id, exact: true })
    .waitFor();

/** Chooses a node in the timeline of a run. */
export async function chooseNode(page: Page, id: string): Promise<void> {
  await page
    .getByRole('region', { name: 'Timeline' })
    .getByRole('button', { name: new RegExp(`^${id}\\b`) })
    .click();
  await nodeShown(page, id);
}

/** Shows one item of the chosen loop, and then the next one. */
export async function nextItem(page: Page): Promise<void> {
  await page.getByText('One item', { exact: true }).click();
  await page.getByRole('button', { name: 'Next item' }).click();
}

/** What the console shows of them, by the name of a picture. */
export function loopViewsOf(project: string): (View & { name: string })[] {
  const base = `/console/p/${project}`;
  const canvas = `${base}/workflows/invoices?run=${RUNS_OF_LOOPS.invoices}`;
  const cardShown = (page: Page) => page.locator('[data-id="each"]').first().waitFor();
  return [
    { name: 'group', what: 'a group on the canvas', path: canvas, open: cardShown },
    {
      name: 'group-collapsed',
      what: 'a collapsed group',
      path: canvas,
      open: async (page) => {
        // The button for a new node, which comes with the right to edit, moves the one that collapses.
        await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
        await page.getByRole('button', { name: 'Collapse each' }).click();
        await page.getByRole('button', { name: 'Expand each' }).waitFor();
      },
    },
    {
      name: 'group-items',
      what: 'the items of a group',
      path: canvas,
      open: async (page) => {
        await openNode(page, 'each');
        await openOutput(page);
        await panelOf(page).getByText('One item').click();
        await panelOf(page).getByRole('button', { name: 'Next item' }).click();
        await panelOf(page).getByText('ink has no price').first().waitFor();
      },
    },
    {
      name: 'run-items',
      what: 'the child run of an item',
      path: `${base}/runs/${RUNS_OF_LOOPS.invoices}?workflow=invoices`,
      open: async (page) => {
        await chooseNode(page, 'receipts');
        await nextItem(page);
        await page.getByText('Started the run').waitFor();
      },
    },
    {
      name: 'run-waiting',
      what: 'a waiting run',
      path: `${base}/runs/${RUNS_OF_LOOPS.reminder}?workflow=reminder`,
      open: async (page) => {
        await page
          .getByText(/^Waits until/)
          .first()
          .waitFor();
      },
    },
    {
      name: 'run-in-doubt',
      what: 'the decision about an effect in doubt',
      path: `${base}/runs/${RUNS_OF_LOOPS.doubt}?workflow=receipt`,
      open: async (page) => {
        await page.getByRole('button', { name: /^Retry/ }).click();
        await page.getByRole('menuitem', { name: 'From the failed node' }).click();
        await page.getByLabel('It happened: continue after the node').check();
        await page.getByLabel('Output of line (JSON)').waitFor();
      },
    },
  ];
}
