/** Runs of workflows that are inactive, suspended, missing or invalid. */
import { expect, test } from 'vitest';
import type { RunSpec } from '../../../api/run.ts';
import { webhookRoutes, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { HELLO, helloRuns, READY, WITHIN } from '../../support/operator/helloRuns.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { claimed, claimedOne } from '../../support/runStore/runStore.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';

let harness: OperatorHarness;
let namespace: string;
let uid: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));
const { applyWorkflow, create, submitted, ended } = helloRuns(() => ({ harness, namespace, uid }));

test('of an inactive workflow a test run takes its test data, and another run fails and says why', async () => {
  await applyWorkflow({ active: false });
  await create('real');
  expect(await ended('real')).toMatchObject({
    phase: 'Failed',
    reason: 'WorkflowInactive',
    message: expect.stringContaining('set spec.active to true'),
  });
  await create('test', { test: true });
  const run = await submitted('test');
  expect(run.test).toBe(true);
  expect(JSON.parse(run.input)).toEqual({ text_content: '', data_content: { from: 'test data' } });
});

test('a run that was accepted before its workflow was switched off runs, and one that comes later fails', async () => {
  const workflow = await applyWorkflow();
  await create('before');
  await submitted('before');
  await applyWorkflow({ active: false });
  await create('after');
  expect(await ended('after')).toMatchObject({ phase: 'Failed', reason: 'WorkflowInactive' });
  expect(await unfinishedRuns(harness.conn, uid, workflow)).toEqual(['before']);
  const { status } = await harness.client.get(workflowRuns, { namespace, name: 'before' });
  expect(status?.completionTime).toBeUndefined();
});

test('of a suspended workflow every run fails, and one that was accepted before waits until it is resumed', async () => {
  await applyWorkflow();
  const revision = (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  await create('before');
  await submitted('before');
  await applyWorkflow({ suspend: true, timeout: '5m' });
  const { status } = await harness.waitFor(namespace, 'hello', { ...READY, reason: 'Suspended' });
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Active', status: 'False', reason: 'Suspended' }),
  );
  const shown = async () => (await harness.client.get(workflows, { namespace, name: 'hello' })).status;
  await expect.poll(shown, { timeout: 20_000, interval: 25 }).toMatchObject({
    runs: { active: 1, running: 0, waiting: 1 },
    conditions: expect.arrayContaining([
      expect.objectContaining({
        type: 'Ready',
        message: expect.stringContaining('1 run is paused: it starts or continues'),
      }),
    ]) as unknown,
  });
  const columns = await kubectl(harness.server, [
    '-n',
    namespace,
    'get',
    'workflows.windlass.dev',
    '-o',
    'wide',
  ]);
  expect(columns).toMatch(/^NAME +ACTIVE +SUSPENDED .* RUNNING +WAITING .*\nhello +true +true .* 0 +1 /);
  const runs: Partial<RunSpec>[] = [{}, { test: true }, { retryOf: 'before' }, { revision }];
  for (const [index, spec] of runs.entries()) {
    await create(`run-${index}`, spec);
    expect(await ended(`run-${index}`)).toMatchObject({
      phase: 'Failed',
      reason: 'Suspended',
      message: expect.stringContaining('set spec.suspend to false'),
    });
  }
  // The status is written before the line of the audit trail.
  const denied = () =>
    auditTrail(harness.trail)
      .filter(({ object, run }) => object?.namespace === namespace && /^run-\d$/.test(String(run)))
      .map(({ event, result, reason }) => `${event} ${result} ${String(reason)}`);
  await expect
    .poll(denied, WITHIN)
    .toEqual([
      'run.execute denied Suspended',
      'run.test denied Suspended',
      'run.retry denied Suspended',
      'run.execute denied Suspended',
    ]);
  await harness.stopOperator();
  expect(await claimed(harness.conn, uid)).toEqual([]);
  harness.startOperator();
  await applyWorkflow({ timeout: '5m' });
  expect((await claimedOne(harness.conn, uid)).run).toBe('before');
});

test('a workflow is suspended also by a spec that is invalid', async () => {
  await applyWorkflow();
  await create('before');
  await submitted('before');
  const spec = {
    suspend: true,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'fax', skill: { name: 'fax' } },
    ],
  };
  const changes = { type: 'merge', fieldManager: 'test' } as const;
  await harness.client.patch(workflows, { namespace, name: 'hello' }, { spec }, changes);
  await harness.waitFor(namespace, 'hello', { type: 'Active', status: 'False', reason: 'Suspended' });
  expect(await claimed(harness.conn, uid)).toEqual([]);
  expect((await harness.client.get(webhookRoutes, { namespace, name: 'hello' })).spec).toMatchObject({
    active: false,
    suspended: true,
  });
});

test('a run that is applied before its workflow waits for it', async () => {
  await create('early');
  const status = async () => (await harness.client.get(workflowRuns, { namespace, name: 'early' })).status;
  await expect.poll(status, { timeout: 20_000, interval: 25 }).toMatchObject({
    phase: 'Pending',
    reason: 'WorkflowMissing',
    message: expect.stringContaining('Workflow hello does not exist'),
  });
  await applyWorkflow();
  expect((await submitted('early')).workflow).toBe('hello');
  expect(await status()).toEqual({ phase: 'Pending' });
});

test('a run of a workflow that was never valid is pending with the reason at once, and then fails', async () => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'a', skill: { name: 'fax' } },
  ];
  await harness.client.create(workflows, {
    ...HELLO,
    metadata: { ...HELLO.metadata, namespace },
    spec: { active: true, nodes },
  });
  await harness.waitFor(namespace, 'hello', { type: 'Valid', status: 'False' });
  await create('never');
  const status = async () => (await harness.client.get(workflowRuns, { namespace, name: 'never' })).status;
  await expect
    .poll(status, { timeout: 30_000, interval: 25 })
    .toMatchObject({ phase: 'Pending', reason: 'WorkflowInvalid' });
  expect(await ended('never')).toMatchObject({
    phase: 'Failed',
    reason: 'WorkflowInvalid',
    message: expect.stringContaining('kubectl describe'),
  });
});
