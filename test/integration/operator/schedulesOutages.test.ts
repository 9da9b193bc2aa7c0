/** CronJobs of schedules while the operator or the run store is away. */
import { expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { webhookRoutes, workflows } from '../../../operator/shared/resources.ts';
import { pollUntilPasses } from '../../support/time/poll.ts';
import { operatorOfFile } from '../../support/operator/runningOperator.ts';
import { BROKEN, READY, SOON, STEP, openScheduleProject } from '../../support/operator/scheduleProject.ts';

const stage = operatorOfFile();
const openProject = () => openScheduleProject(stage());

test('of a workflow that is deleted the CronJob goes, also where its route is gone', async () => {
  const { namespace, apply, waitFor, names } = await openProject();
  await apply({});
  await waitFor(READY);
  await stage().stopOperator();
  await stage().client.delete(webhookRoutes, { namespace, name: 'report' });
  await stage().client.delete(workflows, { namespace, name: 'report' });
  stage().startOperator();
  await pollUntilPasses('no CronJob', async () => expect(await names()).toEqual([]), SOON);
});

test('a broken spec without a route leaves no CronJob', async () => {
  const { namespace, apply, waitFor, names } = await openProject();
  await apply({});
  await waitFor(READY);
  await stage().stopOperator();
  await apply({}, { nodes: [BROKEN] });
  await stage().client.delete(webhookRoutes, { namespace, name: 'report' });
  stage().startOperator();
  await pollUntilPasses('no CronJob', async () => expect(await names()).toEqual([]), SOON);
});

test('switched off while the run store is away, and interrupted half-way, it leaves no CronJob', async () => {
  const { namespace, apply, waitFor, names } = await openProject();
  await apply({});
  await waitFor(READY);
  // What an operator leaves behind that is killed right after it has closed the route.
  await stage().stopOperator();
  await apply({}, { active: false });
  const route = await stage().client.get(webhookRoutes, { namespace, name: 'report' });
  const patch = { spec: { ...route.spec, active: false } };
  await stage().client.patch(webhookRoutes, { namespace, name: 'report' }, patch, { type: 'merge' });
  stage().redis.freeze();
  try {
    stage().startOperator();
    await pollUntilPasses('no CronJob', async () => expect(await names()).toEqual([]), SOON);
  } finally {
    stage().redis.thaw();
  }
});

test('while the run store is away the status says of the schedule what it said before', async () => {
  const { apply, waitFor } = await openProject();
  await apply({});
  const { status: before } = await waitFor(READY);
  stage().redis.freeze();
  try {
    await apply({}, { nodes: [STEP] });
    const wish = { type: 'Ready', status: 'False', reason: 'StoreUnavailable' };
    const { status } = await waitFor(wish);
    expect(status?.schedule).toEqual(before?.schedule);
    expect(findCondition(status?.conditions, 'Scheduled')?.status).toBe('True');
  } finally {
    stage().redis.thaw();
  }
});
