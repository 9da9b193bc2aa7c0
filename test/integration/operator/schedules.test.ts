/**
 * From a schedule that is applied to its CronJob, and back. Nothing fires here: there is no controller of
 * CronJobs.
 */
import { expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { cronJobs } from '../../../kube/resource.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { operatorOfFile } from '../../support/operator/runningOperator.ts';
import { BROKEN, READY, SOON, STEP, openScheduleProject } from '../../support/operator/scheduleProject.ts';

const harness = operatorOfFile();
const openProject = () => openScheduleProject(harness());

test.concurrent('a schedule is a CronJob of its workflow, and the status says when it fires next', async () => {
  const { uid, apply, waitFor, onlyCronJob } = await openProject();
  await apply({});
  const { metadata, status } = await waitFor(READY);
  const cronJob = await onlyCronJob();
  expect(cronJob.metadata.ownerReferences).toMatchObject([
    { kind: 'Workflow', uid: metadata.uid, controller: true },
  ]);
  expect(cronJob.spec).toMatchObject({
    schedule: '0 9 * * 1-5',
    timeZone: 'Europe/Berlin',
    startingDeadlineSeconds: 300,
    concurrencyPolicy: 'Allow',
    successfulJobsHistoryLimit: 1,
  });
  const [container] = cronJob.spec?.jobTemplate.spec?.template.spec?.containers ?? [];
  expect(container?.env).toContainEqual({ name: 'PROJECT_UID', value: uid });
  expect(container?.env).toContainEqual({ name: 'REVISION', value: status?.revision });
  expect(status?.trigger).toBe('schedule');
  expect(Date.parse(status?.schedule?.next ?? '')).toBeGreaterThan(Date.now());
  expect(findCondition(status?.conditions, 'Ready')?.message).toBe(
    'A run starts at each time of "0 9 * * 1-5" (Europe/Berlin).',
  );
});

test.concurrent('when it has fired the status says so', async () => {
  const { namespace, apply, waitFor, onlyCronJob } = await openProject();
  await apply({ cron: '* * * * *', timeZone: 'UTC' });
  await waitFor(READY);
  const { metadata } = await onlyCronJob();
  const last = `${new Date().toISOString().slice(0, 16)}:00Z`;
  const status = { lastScheduleTime: last };
  await harness().client.patch(
    cronJobs,
    { namespace, name: metadata.name },
    { status },
    { type: 'merge', subresource: 'status' },
  );
  const next = new Date(Date.parse(last) + 60_000).toISOString().replace('.000Z', 'Z');
  await pollUntil(
    'the times in the status',
    async () => {
      const workflow = await harness().client.get(workflows, { namespace, name: 'report' });
      expect(workflow.status?.schedule).toEqual({ last, next });
      return true;
    },
    SOON,
  );
});

test.concurrent('ticks that fail are told, until one succeeds again', async () => {
  const { namespace, apply, waitFor, onlyCronJob } = await openProject();
  await apply({ cron: '* * * * *', timeZone: 'UTC' });
  await waitFor(READY);
  const { name } = (await onlyCronJob()).metadata;
  const told = (status: object) =>
    harness().client.patch(
      cronJobs,
      { namespace, name },
      { status },
      { type: 'merge', subresource: 'status' },
    );
  const ago = (minutes: number) =>
    `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 16)}:00Z`;
  await told({ lastScheduleTime: ago(1), lastSuccessfulTime: ago(60) });
  const expected = { type: 'Ready', status: 'False', reason: 'TicksFail' };
  const { status } = await waitFor(expected);
  expect(findCondition(status?.conditions, 'Scheduled')?.message).toContain(name);
  await told({ lastSuccessfulTime: ago(0) });
  await waitFor(READY);
});

test.concurrent.each([
  ['other times', { cron: '0 8 * * *' }, '0 8 * * * Europe/Berlin'],
  ['another time zone', { timeZone: 'Asia/Tokyo' }, '0 9 * * 1-5 Asia/Tokyo'],
])('with %s there is another CronJob, and the old one is gone', async (_what, change, schedule) => {
  const { apply, waitFor, schedules, onlyCronJob } = await openProject();
  await apply({});
  await waitFor(READY);
  const before = await onlyCronJob();
  await apply(change);
  await pollUntil('the new one alone', async () => (await schedules()).join() === schedule, SOON);
  expect((await onlyCronJob()).metadata.uid).not.toBe(before.metadata.uid);
});

test.concurrent('with another step the same CronJob starts runs of the new revision', async () => {
  const { apply, waitFor, onlyCronJob } = await openProject();
  await apply({});
  const before = await waitFor(READY);
  const cronJob = await onlyCronJob();
  await apply({}, { nodes: [STEP] });
  const { status } = await waitFor(READY);
  expect(status?.revision).not.toBe(before.status?.revision);
  const now = await onlyCronJob();
  expect(now.metadata.uid).toBe(cronJob.metadata.uid);
  expect(JSON.stringify(now.spec)).toContain(`"REVISION","value":"${status?.revision}"`);
});

test.concurrent('switched off, and deleted, it leaves no CronJob', async () => {
  const { namespace, apply, waitFor, found } = await openProject();
  await apply({});
  await waitFor(READY);
  await apply({}, { active: false });
  await waitFor({ type: 'Ready', status: 'True', reason: 'Inactive' });
  expect(await found()).toEqual([]);
  await apply({});
  await waitFor(READY);
  await harness().client.delete(workflows, { namespace, name: 'report' });
  await pollUntil('no CronJob', async () => (await found()).length === 0, SOON);
});

test.concurrent('with another trigger there is no CronJob and no time in the status', async () => {
  const { namespace, apply, waitFor, found } = await openProject();
  await apply({});
  await waitFor(READY);
  const spec = { active: true, nodes: [{ id: 'tick', manual: {} }] };
  await harness().client.patch(
    workflows,
    { namespace, name: 'report' },
    { spec },
    { type: 'merge', fieldManager: 'kubectl' },
  );
  const { status } = await waitFor(READY);
  expect(await found()).toEqual([]);
  expect(status?.schedule).toBeUndefined();
});

test.concurrent('a broken step keeps the schedule as it was; a change of the schedule with it ends it', async () => {
  const { apply, waitFor, found, onlyCronJob } = await openProject();
  await apply({});
  const { status } = await waitFor(READY);
  await apply({}, { nodes: [BROKEN] });
  await waitFor({ type: 'Valid', status: 'False' });
  expect(JSON.stringify((await onlyCronJob()).spec)).toContain(`"REVISION","value":"${status?.revision}"`);
  await apply({ cron: '0 8 * * *' }, { nodes: [BROKEN] });
  await pollUntil('no CronJob', async () => (await found()).length === 0, SOON);
});

test.concurrent.each([
  ['a time zone that is not there', { timeZone: 'Mars/Olympus' }, 'unknown time zone Mars/Olympus'],
  ['a day that never comes', { cron: '0 0 30 2 *' }, 'it never fires'],
])('%s is told, and nothing is made', async (_what, schedule, says) => {
  const { apply, waitFor, found } = await openProject();
  await apply(schedule);
  const expected = { type: 'Ready', status: 'False', reason: 'InvalidSchedule' };
  const { status } = await waitFor(expected);
  expect(findCondition(status?.conditions, 'Stalled')?.message).toContain(says);
  expect(await found()).toEqual([]);
});
