/** Runners start the workflow in `onFailure` of a workflow whose run has failed. */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { keysOf } from '../../../store/keys.ts';
import type { Runner } from '../../../runner/runner.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness();
const { conn, project, credentials } = harness;
let runner: Runner;

const consoleUrl = 'https://windlass.example.com';
beforeEach(() => {
  runner = startTestRunner(conn, project.uid, { credentials, consoleUrl });
});
afterEach(() => runner.stop(0));
afterAll(harness.close);

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const stop = {
  id: 'sold_out',
  fail: { reason: 'OutOfStock', message: "{{ $('trigger').data_content.sku }} is sold out" },
};

async function failedRun(node: object) {
  const text = "nodes.trigger.data_content.node + ': ' + nodes.trigger.data_content.message";
  const alarm = await project.deploy([
    { id: 'trigger', manual: {} },
    { id: 'text', skill: { name: 'set', parameters: { values: { text } } } },
  ]);
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
