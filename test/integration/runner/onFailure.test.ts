/** Runners start the workflow in `onFailure` of a workflow whose run has failed. */
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Runner } from '../../../runner/runner.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { keysOf } from '../../../store/keys.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';

const harness = await startRunnerHarness();
const { conn, project, credentials, mailbox } = harness;
let runner: Runner;

const consoleUrl = 'https://windlass.example.com';
beforeEach(() => {
  harness.reset();
  runner = startTestRunner(conn, project.uid, { credentials, consoleUrl });
});
afterEach(() => runner.stop(0));
afterAll(harness.close);

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const stop = {
  id: 'sold_out',
  fail: { reason: 'OutOfStock', message: "{{ $('trigger').data_content.sku }} is sold out" },
};

const text = "nodes.trigger.data_content.node + ': ' + nodes.trigger.data_content.message";
const ALARM = [
  { id: 'trigger', manual: {} },
  { id: 'text', skill: { name: 'set', parameters: { values: { text } } } },
];

/** A run that fails at the node, and the run of the error workflow that it starts. */
async function failedRun(node: object, alarmNodes: object[] = ALARM) {
  const alarm = await project.deploy(alarmNodes);
  const onFailure = { workflow: alarm, uid: alarm, revision: alarm };
  const orders = await project.deploy([webhook, node], undefined, {}, { onFailure });
  const run = await project.send(orders, { sku: 'desk' });
  const { onFailure: started } = await project.until(run, (state) => state.onFailure !== undefined);
  if (!started || !('run' in started)) throw new Error(`not started: ${JSON.stringify(started)}`);
  return { run, alarm: await project.ended(started.run) };
}

test('the workflow of the failure runs, and its steps read what failed', async () => {
  const { run, alarm } = await failedRun(stop);
  expect(alarm).toMatchObject({ phase: 'Succeeded', trigger: 'onFailure' });
  expect(alarm.nodes.find(({ id }) => id === 'text')?.output?.data_content).toEqual({
    text: 'sold_out: desk is sold out',
  });
  expect(JSON.parse(alarm.input)).toMatchObject({
    data_content: { run, reason: 'OutOfStock', url: `${consoleUrl}/console/p/shop/runs/${run}` },
  });
});

test('the message of a sensitive node stays withheld', async () => {
  const { alarm } = await failedRun({ ...stop, sensitive: true });
  expect(alarm.input).not.toContain('desk');
  expect(JSON.parse(alarm.input)).toMatchObject({
    data_content: { node: 'sold_out', message: 'node sold_out: OutOfStock' },
  });
});

test('the error workflow of the nightly report mails which run failed, where and why', async () => {
  const file = new URL('../../../examples/nightly-report/report-failed.yaml', import.meta.url);
  const text = (await readFile(file, 'utf8')).replaceAll('nightly-report-smtp', 'smtp');
  const { spec } = parse(text) as { spec: { nodes: object[] } };
  const { run, alarm } = await failedRun(stop, spec.nodes);
  expect(alarm).toMatchObject({ phase: 'Succeeded' });
  const [sent] = mailbox.messages;
  expect(sent?.text).toContain(`Run ${run} failed at node sold_out.`);
  expect(sent?.text).toContain('OutOfStock: desk is sold out');
});

test('a child run that an error workflow started starts no further one', async () => {
  const orders = await project.deploy([webhook, stop]);
  const again = { id: 'again', workflow: { name: orders, wait: false, input: { sku: 'desk' } } };
  const alarm = await project.deploy([{ id: 'trigger', manual: {} }, again]);
  const onFailure = { workflow: alarm, uid: alarm, revision: alarm };
  const limits = { workflowUid: orders, policy: 'Queue', deadlineMs: 60_000, onFailure } as const;
  await setWorkflowLimits(conn, project.uid, limits);
  const first = await project.until(await project.send(orders, { sku: 'desk' }), (state) => {
    return state.onFailure !== undefined;
  });
  if (!first.onFailure || !('run' in first.onFailure)) throw new Error('not started');
  const started = await project.ended(first.onFailure.run);
  const child = started.nodes.find(({ id }) => id === 'again')?.output?.data_content as { run: string };
  expect(await project.ended(child.run)).toMatchObject({ phase: 'Failed' });
  const { failures, runs } = keysOf(project.uid);
  await expect.poll(() => conn.command('hlen', failures), { timeout: 20_000 }).toBe(0);
  expect(await conn.command('zcard', runs(alarm))).toBe(1);
});
