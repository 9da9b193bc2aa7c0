/** CronJobs of schedules while the operator or the run store is away. */
import { expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { webhookRoutes, workflows } from '../../../operator/shared/resources.ts';
import { pollUntilPasses } from '../../support/time/poll.ts';
import { operatorOfFile } from '../../support/operator/runningOperator.ts';
import { BROKEN, READY, SOON, STEP, openScheduleProject } from '../../support/operator/scheduleProject.ts';

const harness = operatorOfFile();
const openProject = () => openScheduleProject(harness());

test('of a workflow that is deleted the CronJob goes, also where its route is gone', async () => {
  const { namespace, apply, waitFor, names } = await openProject();
  await apply({});
  await waitFor(READY);
  await harness().stopOperator();
  await harness().client.delete(webhookRoutes, { namespace, name: 'report' });
  await harness().client.delete(workflows, { namespace, name: 'report' });
  harness().startOperator();
  await pollUntilPasses('no CronJob', async () => expect(await names()).toEqual([]), SOON);
});

test('a broken spec without a route leaves no CronJob', async () => {
  const { namespace, apply, waitFor, names } = await openProject();
  await apply({});
  await waitFor(READY);
  await harness().stopOperator();
  await apply({}, { nodes: [BROKEN] });
  await harness().client.delete(webhookRoutes, { namespace, name: 'report' });
  harness().startOperator();
  await pollUntilPasses('no CronJob', async () => expect(await names()).toEqual([]), SOON);
});

test('switched off while the run store is away, and interrupted half-way, it leaves no CronJob', async () => {
  const { namespace, apply, waitFor, names } = await openProject();
  await apply({});
  await waitFor(READY);
  // What an operator leaves behind that is killed right after it has closed the route.
  await harness().stopOperator();
  await apply({}, { active: false });
  const route = await harness().client.get(webhookRoutes, { namespace, name: 'report' });
  const patch = { spec: { ...route.spec, active: false } };
  await harness().client.patch(webhookRoutes, { namespace, name: 'report' }, patch, { type: 'merge' });
  harness().redis.freeze();
  try {
    harness().startOperator();
    await pollUntilPasses('no CronJob', async () => expect(await names()).toEqual([]), SOON);
  } finally {
    harness().redis.thaw();
  }
});

test('while the run store is away the status says of the schedule what it said before', async () => {
  const { apply, waitFor } = await openProject();
  await apply({});
  const { status: before } = await waitFor(READY);
  harness().redis.freeze();
  try {
    await apply({}, { nodes: [STEP] });
    const expected = { type: 'Ready', status: 'False', reason: 'StoreUnavailable' };
    const { status } = await waitFor(expected);
    expect(status?.schedule).toEqual(before?.schedule);
    expect(findCondition(status?.conditions, 'Scheduled')?.status).toBe('True');
  } finally {
    harness().redis.thaw();
  }
});
