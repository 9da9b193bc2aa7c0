/**
 * What runs and what waits to run in the console: the list of runs, one run and why it failed, running again,
 * cancelling, runs of which little is left, and a mailbox that is watched.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nodeOf, openNode, openOutput, panelOf } from '../support/console/steps.ts';
import { waitForReady } from '../support/installation/install.ts';
import { pollUntil } from '../support/time/poll.ts';
import { member, signedIn } from './console.ts';
import {
  apply,
  cluster,
  condition,
  createProject,
  exampleObjects,
  kube,
  postWebhook,
  recordedRuns,
  removeProject,
  runInPhase,
  workflowOf,
} from './environment.ts';

const HOUR_MS = 3_600_000;

let project: string;
let token: string;

const trigger = { id: 'trigger', webhook: { path: 'in' } };
const sum = (value: string) => ({
  id: 'count',
  skill: { name: 'set', parameters: { values: { sum: value } } },
});
const asks = {
  id: 'ask',
  skill: { name: 'http_request', parameters: { method: 'GET', url: 'http://nobody.invalid/' } },
};
const writes = {
  id: 'write',
  agent: { credential: 'order-model', model: 'demo-paused', prompt: 'Confirm this order to Ada.' },
};

beforeAll(async () => {
  project = await createProject();
  token = await member(project, 'edith', 'edit');
  await apply(
    project,
    ...(await exampleObjects('order-confirmation', 'accounts.yaml')),
    workflowOf('count', [trigger, sum('nodes.trigger.data_content.n + 1')]),
    workflowOf('fail', [trigger, asks]),
    workflowOf('slow', [trigger, writes]),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'mailbox' },
      stringData: { password: 'demo-password' },
    },
    {
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Credential',
      metadata: { name: 'mailbox' },
      spec: {
        imap: {
          host: 'imap.windlass-demo.svc',
          port: 1143,
          tls: 'None',
          username: project,
          passwordRef: { name: 'mailbox', key: 'password' },
        },
      },
    },
    workflowOf('mails', [{ id: 'trigger', mail: { credential: 'mailbox', pollIntervalSeconds: 10 } }]),
    workflowOf('brief', [trigger, sum('1 + 1')], { history: { succeeded: 1 } }),
  );
  await Promise.all(['count', 'fail', 'slow', 'brief'].map((name) => waitForReady(cluster, name, project)));
});
afterAll(() => removeProject(project));

/** Has the workflow run by its webhook, and gives the name of the run. */
async function started(workflow: string, body: object = { n: 1 }): Promise<string> {
  const known = new Set((await recordedRuns(project)).map(({ metadata }) => metadata.name));
  await postWebhook(project, workflow, 'in', body);
  return pollUntil(
    `the record of a run of ${workflow}`,
    async () => {
      const runs = await recordedRuns(project);
      const run = runs.find(({ metadata, spec }) => spec.workflow === workflow && !known.has(metadata.name));
      if (run === undefined) throw new Error('there is none');
      return run.metadata.name;
    },
    { timeoutMs: 100_000 },
  );
}

const linkOf = (page: Page, run: string) => page.getByRole('link', { name: run, exact: true });
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

async function choose(page: Page, filter: string, value: string): Promise<void> {
  await page
    .getByRole('combobox', { name: filter })
    .or(page.getByRole('textbox', { name: filter }))
    .click();
  await page.getByRole('option', { name: value, exact: true }).click();
}

test('the list shows runs live, filtered by status, trigger, text and time', async () => {
  const { page } = await signedIn(token, project, 'runs');
  const counted = await started('count');
  const failed = await started('fail');
  await page.getByRole('row', { name: `Succeeded ${counted}` }).waitFor();
  await page.getByRole('row', { name: `Failed ${failed}` }).waitFor();
  await choose(page, 'Status', 'Failed');
  await linkOf(page, counted).waitFor({ state: 'detached' });
  expect(await linkOf(page, failed).count()).toBe(1);
  await choose(page, 'Trigger', 'Webhook');
  await page.getByLabel('Search runs').fill('nobody.invalid');
  await page.waitForURL(/text=nobody/);
  expect(await linkOf(page, failed).count()).toBe(1);
  await page.getByLabel('Search runs').fill('somebody.invalid');
  await page.getByText('No runs match the filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await linkOf(page, counted).waitFor();
  await page.clock.setFixedTime(Date.now() + 2 * HOUR_MS);
  await choose(page, 'Received', 'Last hour');
  await page.getByText('No runs match the filters').waitFor();
  await choose(page, 'Received', 'Last day');
  await linkOf(page, counted).waitFor();
});

test('a failed run shows its cause and advice, is compared with the current version, and is retried', async () => {
  const failed = await started('fail', { n: 7 });
  await runInPhase(project, failed, 'Failed');
  await apply(project, workflowOf('fail', [trigger, sum('40 + 2')]));
  await waitForReady(cluster, 'fail', project);
  const { page } = await signedIn(token, project, `runs/${failed}`);
  await page.getByText('Failed', { exact: true }).first().waitFor();
  await page.getByText(/^Unreachable: .*Check host and port/).waitFor();
  await part(page, 'Input: output of trigger').getByText('7', { exact: true }).waitFor();
  const nodes = page.getByRole('list', { name: 'Nodes of the run with their durations' });
  expect(await nodes.getByRole('button').count()).toBe(2);
  await page.getByRole('button', { name: 'Compare with current' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('This run').getByText('nobody.invalid').waitFor();
  await dialog.getByLabel('Current version').getByText('40 + 2').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByRole('menuitem', { name: 'with the current version' }).click();
  await linkOf(page, failed).waitFor();
  await page.getByRole('status').filter({ hasText: 'Succeeded' }).waitFor();
  await nodes.getByRole('button', { name: /^count/ }).click();
  await part(page, 'Output').getByText('42').first().waitFor();
});

test('a run opens in the editor, node by node', async () => {
  const run = await started('count', { n: 4 });
  await runInPhase(project, run, 'Succeeded');
  const { page } = await signedIn(token, project, `runs/${run}`);
  await page.getByRole('link', { name: 'Open in editor' }).click();
  await nodeOf(page, 'count').waitFor();
  await openNode(page, 'count');
  await openOutput(page);
  await panelOf(page).getByText('5', { exact: true }).first().waitFor();
  await panelOf(page).getByRole('tab', { name: 'Input' }).click();
  await panelOf(page).getByText('4', { exact: true }).first().waitFor();
  expect(new URL(page.url()).searchParams.get('run')).toBe(run);
});

test('a long run is cancelled from its page', async () => {
  const { page } = await signedIn(token, project, 'runs');
  const run = await started('slow');
  await linkOf(page, run).click();
  await page.getByRole('button', { name: 'Cancel run', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
  await page.getByRole('status').filter({ hasText: 'Cancelled' }).waitFor();
  const { status } = await runInPhase(project, run, 'Cancelled');
  expect(status?.nodes?.find(({ id }) => id === 'write')?.phase).toBe('Cancelled');
});

test('pruned runs are listed with their workflow as summaries', async () => {
  const first = await started('brief');
  await runInPhase(project, first, 'Succeeded');
  await runInPhase(project, await started('brief'), 'Succeeded');
  await kube(['wait', '--for=delete', `workflowrun/${first}`, '-n', project, '--timeout=150s']);
  const { page } = await signedIn(token, project, 'workflows/brief');
  await page.getByRole('button', { name: 'Runs of this workflow' }).click();
  const rows = page.getByRole('row').filter({ has: linkOf(page, first) });
  await rows.getByText('Summary').waitFor();
  expect(await rows.getByText('Succeeded').count()).toBe(1);
});

test('a mail trigger shows its last poll, next poll and cursor', async () => {
  await condition(project, 'workflows.windlass.dev/mails', 'TriggerHealthy', { status: 'True' });
  const { page } = await signedIn(token, project, 'workflows/mails');
  await page.getByRole('button', { name: 'New email: Active' }).click();
  const panel = page.getByRole('dialog');
  await panel.getByText(/^Pollsevery 10 s$/).waitFor();
  await panel.getByText(/^Next poll(in |now)/).waitFor();
  await panel.getByText(/^Cursor.*\d/).waitFor();
  expect(await panel.getByText(/^Last poll.*\(/).count()).toBe(1);
});
