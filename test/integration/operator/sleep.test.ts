/**
 * Runners that sleep: from the settings to the Deployment, and back by whatever gives them work. The moves of
 * runners are made by the tests.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { deployments } from '../../../kube/resource.ts';
import { projectSettings, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { advance } from '../../../runs/advance.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { keysOf } from '../../../store/keys.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { submit } from '../../../runs/submit.ts';
import { claimPollerLease } from '../../../store/polling/pollerLease.ts';
import { CHECKS } from '../../../store/requests/checks.ts';
import { openScheduleProject, READY } from '../../support/operator/scheduleProject.ts';
import { openPollProject } from '../../support/operator/pollProject.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { claimed, refOf, stateOf } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 30_000, everyMs: 50 };
/** A sleeping project whose message was lost is read after 30 seconds. */
const SWEPT = { timeoutMs: 60_000, everyMs: 100 };
const HOUR_MS = 3_600_000;
const POOL = 'windlass-runner';

let harness: OperatorHarness;

beforeAll(async () => {
  harness = await startOperatorHarness({ env: { RUNNER_SLEEP_AFTER: '1s', RUNNER_REPLICAS: '2' } });
  harness.startOperator();
}, 600_000);
afterAll(() => harness?.stop());

async function openProject() {
  const project = await openScheduleProject(harness);
  await project.apply({});
  await project.waitFor(READY);
  const { namespace, uid } = project;
  const { conn } = harness;
  const replicas = async () =>
    (await harness.client.get(deployments, { namespace, name: POOL })).spec?.replicas;
  const untilReplicas = (count: number, options = SOON) =>
    pollUntil(`${count} runners`, async () => (await replicas()) === count, options);
  const endAll = async (): Promise<void> => {
    for (const claim of await claimed(conn, uid)) {
      await advance(conn, refOf(claim), { end: { phase: 'Succeeded' } });
      await recorded(conn, await stateOf(conn, uid, claim.state.run), 'written');
    }
  };
  const send = async (): Promise<string> => {
    const { metadata, status } = await harness.client.get(workflows, { namespace, name: 'report' });
    const submitted = await submit(conn, {
      project: uid,
      workflow: 'report',
      workflowUid: metadata.uid ?? '',
      revision: status?.revision ?? '',
      trigger: 'schedule',
      input: '{"text_content":"","data_content":{}}',
      bodyHash: '',
      test: false,
    });
    expect(submitted).toMatchObject({ outcome: 'accepted' });
    return submitted.outcome === 'accepted' ? submitted.run : '';
  };
  return {
    ...project,
    replicas,
    untilReplicas,
    endAll,
    untilAsleep: () => untilReplicas(0),
    untilAwake: (options = SOON) => untilReplicas(2, options),
    park: async (): Promise<string> => {
      const run = await send();
      const [claim] = await claimed(conn, uid);
      if (!claim) throw new Error('The run is ready.');
      const checkpoints = [{ id: 'pause', phase: 'Waiting', attempts: 1 } as const];
      const waits = [{ id: 'pause', delayMs: HOUR_MS }];
      await advance(conn, refOf(claim), { checkpoints, waits, parkMs: HOUR_MS });
      await recorded(conn, await stateOf(conn, uid, run), 'written');
      return run;
    },
    send,
  };
}

test.concurrent('a project without work has no runners, stays ready, and has all of them again with the next event', async () => {
  const project = await openProject();
  await project.untilAsleep();
  const asleep = await project.waitFor({ type: 'PoolReady', status: 'True', reason: 'PoolAsleep' });
  expect(findCondition(asleep.status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
  const [, count] =
    /windlass_operator_runner_pools\{state="asleep"\} (\d+)/.exec(await harness.metrics()) ?? [];
  expect(Number(count)).toBeGreaterThan(0);
  await project.send();
  await project.untilAwake();
  await project.waitFor({ type: 'PoolReady', status: 'True', reason: 'PoolReady' });
  await project.endAll();
  await project.untilAsleep();
});

test.concurrent('a ready run whose message was lost wakes its runners with the next reading', async () => {
  const project = await openProject();
  const { conn } = harness;
  const { ready, prefix } = keysOf(project.uid);
  const run = await project.send();
  // Put back later, where nobody announces it.
  await conn.command('rename', ready, `${prefix}aside`);
  await project.untilAsleep();
  await conn.command('rename', `${prefix}aside`, ready);
  await project.untilAwake(SWEPT);
  await project.endAll();
  expect(await stateOf(conn, project.uid, run)).toMatchObject({ phase: 'Succeeded' });
}, 120_000);

test.concurrent('a parked run wakes its runners before it is due', async () => {
  const project = await openProject();
  const run = await project.park();
  await project.untilAsleep();
  // Nothing announces that the time has come.
  const { parked } = keysOf(project.uid);
  const [entry = ''] = (await harness.conn.command('zrange', parked, 0, 0)) as string[];
  await harness.conn.command('zadd', parked, Date.now() + 60_000, entry);
  await project.untilAwake({ timeoutMs: 90_000, everyMs: 100 });
  expect(await stateOf(harness.conn, project.uid, run)).toMatchObject({ phase: 'Waiting' });
}, 120_000);

test.concurrent('a cancelled run and a question of the operator wake the runners', async () => {
  const project = await openProject();
  const run = await project.park();
  await project.untilAsleep();
  // Its end must be recorded.
  await cancelRun(harness.conn, project.uid, run);
  await project.untilAwake();
  await recorded(harness.conn, await stateOf(harness.conn, project.uid, run), 'written');
  await project.untilAsleep();
  const spec = { smtp: { host: 'mail.example', port: 25, tls: 'None', from: 'a@example.com' } } as const;
  await CHECKS.ask(harness.conn, project.uid, 'uid', { key: 'k', name: 'mail', spec, failures: 0 });
  await project.untilAwake();
  expect(await project.replicas()).toBe(2);
});

test.concurrent('runners fall asleep beside memories that have expired, which the operator removes then', async () => {
  const project = await openProject();
  const { memoryExpiry } = keysOf(project.uid);
  await harness.conn.command('zadd', memoryExpiry, 1, 'group/space');
  await project.untilAsleep();
  const isRemoved = async () => (await harness.conn.command('zcard', memoryExpiry)) === 0;
  expect(await pollUntil('no memory', isRemoved, SWEPT)).toBe(true);
  expect(await project.replicas()).toBe(0);
});

test.concurrent('runners sleep beside a trigger that is polled every five minutes, wake when it is changed, and stay awake for a shorter interval', async () => {
  const project = await openPollProject(harness);
  const { namespace, uid } = project;
  const trigger = (pollIntervalSeconds: number) => ({ mail: { credential: 'inbox', pollIntervalSeconds } });
  const replicas = async () =>
    (await harness.client.get(deployments, { namespace, name: POOL })).spec?.replicas;
  // Of runners, the test makes this alone: they read the triggers when they start.
  const asRunner = () => claimPollerLease(harness.conn, uid, 'runner-1');
  const untilAwake = () => pollUntil('runners', async () => (await replicas()) === 2, SOON);
  const untilAsleep = async () => {
    await asRunner();
    return (await replicas()) === 0;
  };
  await project.apply({ trigger: trigger(300) });
  await project.waitFor({ type: 'PoolReady', status: 'True' });
  await pollUntil(
    'a runner that knows the trigger',
    async () => (await asRunner()).outcome === 'claimed',
    SOON,
  );
  await pollUntil('sleep', untilAsleep, SOON);
  await project.apply({ trigger: trigger(600) });
  await untilAwake();
  await pollUntil('sleep', untilAsleep, SOON);
  await project.apply({ trigger: trigger(299) });
  await untilAwake();
  await asRunner();
  await project.waitFor({ type: 'PoolReady', status: 'True', reason: 'PoolReady' });
  expect(await replicas()).toBe(2);
});

test.concurrent('a project may have its runners never sleep, whatever the installation says', async () => {
  const project = await openProject();
  await project.untilAsleep();
  const settings = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'ProjectSettings',
    metadata: { name: 'default' },
    spec: { runners: { sleepAfter: '0s' } },
  };
  await harness.apply(project.namespace, JSON.stringify(settings));
  await project.untilAwake();
  const ref = { namespace: project.namespace, name: 'default' };
  const ofSettings = async () => (await harness.client.get(projectSettings, ref)).status?.replicas;
  expect(await pollUntil('replicas in the settings', async () => (await ofSettings()) || false, SOON)).toBe(
    2,
  );
});

test.concurrent('runners that follow the backlog wake as few as may be, whatever a backlog before the sleep needed', async () => {
  const project = await openProject();
  const { namespace } = project;
  // Awake, until the engine has taken over the two runners that there are.
  await project.send();
  const spec = { runners: { autoscaling: { engine: 'Builtin' as const, max: 4 } } };
  await harness.client.create(projectSettings, { metadata: { namespace, name: 'default' }, spec });
  const isApplied = async () => {
    const { status } = await harness.client.get(projectSettings, { namespace, name: 'default' });
    return findCondition(status?.conditions, 'Ready')?.reason === 'SettingsApplied' && status?.replicas === 2;
  };
  await pollUntil('the engine', isApplied, SOON);
  await project.endAll();
  await project.untilAsleep();
  const ready = async () => {
    const { status } = await harness.client.get(projectSettings, { namespace, name: 'default' });
    return findCondition(status?.conditions, 'Ready')?.message ?? '';
  };
  await pollUntil('settings that say so', async () => (await ready()).includes('runners sleep'), SOON);
  await project.send();
  await project.untilReplicas(1);
  await pollUntil('settings that say so no more', async () => !(await ready()).includes('sleep'), SOON);
  expect((await claimed(harness.conn, project.uid)).length).toBe(1);
});

test.concurrent('the last workflow is deleted while runners sleep: they wake, record how its runs ended, and go', async () => {
  const project = await openProject();
  const { namespace, uid } = project;
  const { client, conn } = harness;
  const ref = { namespace, name: 'by-hand' };
  await client.create(workflowRuns, { metadata: ref, spec: { workflow: 'report' } });
  const submitted = async () => (await conn.command('exists', keysOf(uid).run(ref.name))) === 1;
  await pollUntil('the run in the run store', submitted, SOON);
  const [claim] = await claimed(conn, uid);
  if (!claim) throw new Error('The run is ready.');
  const checkpoints = [{ id: 'pause', phase: 'Waiting', attempts: 1 } as const];
  const waits = [{ id: 'pause', delayMs: HOUR_MS }];
  await advance(conn, refOf(claim), { checkpoints, waits, parkMs: HOUR_MS });
  const record = async (phase: 'Waiting' | 'Cancelled') => {
    const { epoch, sequence } = await stateOf(conn, uid, ref.name);
    const status = { phase, epoch, sequence };
    await client.patch(workflowRuns, ref, { status }, { type: 'merge', subresource: 'status' });
    await recorded(conn, await stateOf(conn, uid, ref.name), 'written');
  };
  await record('Waiting');
  await project.untilAsleep();
  // Nothing collects what the workflow owns, as with `--cascade=orphan`.
  await client.delete(workflows, { namespace, name: 'report' });
  await project.untilAwake();
  expect(await stateOf(conn, uid, ref.name)).toMatchObject({ phase: 'Cancelled' });
  await record('Cancelled');
  const isGone = async () => (await client.find(deployments, { namespace, name: POOL })) === undefined;
  await pollUntil('no pool', isGone, SOON);
});

test('a restarted operator leaves sleeping projects asleep, and wakes one whose event it has missed', async () => {
  const [asleep, missed] = [await openProject(), await openProject()];
  await Promise.all([asleep.untilAsleep(), missed.untilAsleep()]);
  await harness.stopOperator();
  await missed.send();
  harness.startOperator();
  await missed.untilAwake(SWEPT);
  expect(await asleep.replicas()).toBe(0);
});

test('a parked run that became due while the operator was away wakes its runners when that is back', async () => {
  const project = await openProject();
  const run = await project.park();
  await project.untilAsleep();
  await harness.stopOperator();
  const { parked } = keysOf(project.uid);
  const [entry = ''] = (await harness.conn.command('zrange', parked, 0, 0)) as string[];
  await harness.conn.command('zadd', parked, Date.now() - 60_000, entry);
  harness.startOperator();
  await project.untilAwake(SWEPT);
  expect(await stateOf(harness.conn, project.uid, run)).toMatchObject({ phase: 'Waiting' });
}, 120_000);
