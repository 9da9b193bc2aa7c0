/** From a schedule that is applied to its CronJob, and back. Nothing fires here: there is no controller of CronJobs. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ScheduleTrigger } from '../../../api/trigger.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { cronJobs, type CronJob } from '../../../kube/resource.ts';
import { webhookRoutes, workflows } from '../../../operator/resources.ts';
import { startOperatorStage, type OperatorStage } from '../../support/operatorStage.ts';
import { pollUntil } from '../../support/poll.ts';

const READY = { type: 'Ready', status: 'True', reason: 'Serving' };
const SOON = { timeoutMs: 15_000, everyMs: 25 };

let stage: OperatorStage;
let namespace: string;
let uid: string;

beforeAll(async () => {
  stage = await startOperatorStage();
  stage.startOperator();
}, 600_000);
afterAll(() => stage?.stop());
beforeEach(async () => {
  ({ namespace, uid } = await stage.createProject());
});

type Spec = { active?: boolean; nodes?: object[] };

function apply(
  schedule: Partial<ScheduleTrigger>,
  { active = true, nodes = [] }: Spec = {},
): Promise<string> {
  const trigger = { id: 'tick', schedule: { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', ...schedule } };
  const spec = { active, nodes: [trigger, ...nodes] };
  const object = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'report' },
    spec,
  };
  return stage.apply(namespace, stringify(object));
}

const found = async (): Promise<CronJob[]> => (await stage.client.list(cronJobs, { namespace })).items;
const names = async () => (await found()).map(({ metadata }) => metadata.name);
const schedules = async () => (await found()).map(({ spec }) => `${spec?.schedule} ${spec?.timeZone}`);
const broken = { id: 'ask', skill: { name: 'no_such_skill', parameters: {} } };

async function onlyCronJob(): Promise<CronJob> {
  const all = await found();
  expect(all).toHaveLength(1);
  return all[0] as CronJob;
}

test('a schedule is a CronJob of its workflow, and the status says when it fires next', async () => {
  await apply({});
  const { metadata, status } = await stage.waitFor(namespace, 'report', READY);
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

test('when it has fired the status says so', async () => {
  await apply({ cron: '* * * * *', timeZone: 'UTC' });
  await stage.waitFor(namespace, 'report', READY);
  const { metadata } = await onlyCronJob();
  const last = `${new Date().toISOString().slice(0, 16)}:00Z`;
  const status = { lastScheduleTime: last };
  await stage.client.patch(
    cronJobs,
    { namespace, name: metadata.name },
    { status },
    { type: 'merge', subresource: 'status' },
  );
  const next = new Date(Date.parse(last) + 60_000).toISOString().replace('.000Z', 'Z');
  await pollUntil(
    'the times in the status',
    async () => {
      const workflow = await stage.client.get(workflows, { namespace, name: 'report' });
      expect(workflow.status?.schedule).toEqual({ last, next });
      return true;
    },
    SOON,
  );
});

test('ticks that fail are told, until one succeeds again', async () => {
  await apply({ cron: '* * * * *', timeZone: 'UTC' });
  await stage.waitFor(namespace, 'report', READY);
  const { name } = (await onlyCronJob()).metadata;
  const told = (status: object) =>
    stage.client.patch(cronJobs, { namespace, name }, { status }, { type: 'merge', subresource: 'status' });
  const ago = (minutes: number) =>
    `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 16)}:00Z`;
  await told({ lastScheduleTime: ago(1), lastSuccessfulTime: ago(60) });
  const wish = { type: 'Ready', status: 'False', reason: 'TicksFail' };
  const { status } = await stage.waitFor(namespace, 'report', wish);
  expect(findCondition(status?.conditions, 'Scheduled')?.message).toContain(name);
  await told({ lastSuccessfulTime: ago(0) });
  await stage.waitFor(namespace, 'report', READY);
});

test.each([
  ['other times', { cron: '0 8 * * *' }, '0 8 * * * Europe/Berlin'],
  ['another time zone', { timeZone: 'Asia/Tokyo' }, '0 9 * * 1-5 Asia/Tokyo'],
])('with %s there is another CronJob, and the old one is gone', async (_what, change, schedule) => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  const before = await onlyCronJob();
  await apply(change);
  await pollUntil('the new one alone', async () => (await schedules()).join() === schedule, SOON);
  expect((await onlyCronJob()).metadata.uid).not.toBe(before.metadata.uid);
});

test('with another step the same CronJob starts runs of the new revision', async () => {
  await apply({});
  const before = await stage.waitFor(namespace, 'report', READY);
  const cronJob = await onlyCronJob();
  await apply({}, { nodes: [{ id: 'reply', response: { body: 'done' } }] });
  const { status } = await stage.waitFor(namespace, 'report', READY);
  expect(status?.revision).not.toBe(before.status?.revision);
  const now = await onlyCronJob();
  expect(now.metadata.uid).toBe(cronJob.metadata.uid);
  expect(JSON.stringify(now.spec)).toContain(`"REVISION","value":"${status?.revision}"`);
});

test('switched off, and deleted, it leaves no CronJob', async () => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  await apply({}, { active: false });
  await stage.waitFor(namespace, 'report', { type: 'Ready', status: 'True', reason: 'Inactive' });
  expect(await found()).toEqual([]);
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  await stage.client.delete(workflows, { namespace, name: 'report' });
  await pollUntil('no CronJob', async () => (await found()).length === 0, SOON);
});

test('a CronJob of somebody else that has our labels is left alone', async () => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  const { metadata, spec } = await onlyCronJob();
  const theirs = {
    metadata: { name: 'theirs', namespace, ...(metadata.labels && { labels: metadata.labels }) },
  };
  await stage.client.create(cronJobs, { ...theirs, ...(spec && { spec }) });
  await apply({ cron: '0 8 * * *' });
  await pollUntil('the old one gone', async () => !(await names()).includes(metadata.name), SOON);
  expect(await names()).toContain('theirs');
});

test('of a workflow that is deleted the CronJob goes, also where its route is gone', async () => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  await stage.stopOperator();
  await stage.client.delete(webhookRoutes, { namespace, name: 'report' });
  await stage.client.delete(workflows, { namespace, name: 'report' });
  stage.startOperator();
  await expect.poll(names, { timeout: SOON.timeoutMs, interval: SOON.everyMs }).toEqual([]);
});

test('with another trigger there is no CronJob and no time in the status', async () => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  const spec = { active: true, nodes: [{ id: 'tick', manual: {} }] };
  await stage.client.patch(
    workflows,
    { namespace, name: 'report' },
    { spec },
    { type: 'merge', fieldManager: 'kubectl' },
  );
  const { status } = await stage.waitFor(namespace, 'report', READY);
  expect(await found()).toEqual([]);
  expect(status?.schedule).toBeUndefined();
});

test('a broken step keeps the schedule as it was; a change of the schedule with it ends it', async () => {
  await apply({});
  const { status } = await stage.waitFor(namespace, 'report', READY);
  await apply({}, { nodes: [broken] });
  await stage.waitFor(namespace, 'report', { type: 'Valid', status: 'False' });
  expect(JSON.stringify((await onlyCronJob()).spec)).toContain(`"REVISION","value":"${status?.revision}"`);
  await apply({ cron: '0 8 * * *' }, { nodes: [broken] });
  await pollUntil('no CronJob', async () => (await found()).length === 0, SOON);
});

test.each([
  ['deleted', (name: string) => stage.client.delete(cronJobs, { namespace, name })],
  [
    'changed',
    (name: string) =>
      stage.client.patch(
        cronJobs,
        { namespace, name },
        { spec: { schedule: '* * * * *' } },
        { type: 'merge', fieldManager: 'kubectl' },
      ),
  ],
])('a CronJob that is %s by hand beside a broken step is put right', async (_what, meddle) => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  await apply({}, { nodes: [broken] });
  await stage.waitFor(namespace, 'report', { type: 'Valid', status: 'False' });
  const { metadata, spec } = await onlyCronJob();
  await meddle(metadata.name);
  await pollUntil(
    'it is as it was',
    async () => {
      const now = await onlyCronJob();
      return (
        now.metadata.resourceVersion !== metadata.resourceVersion && now.spec?.schedule === spec?.schedule
      );
    },
    SOON,
  );
  const route = await stage.client.get(webhookRoutes, { namespace, name: 'report' });
  expect(route.spec).toMatchObject({ active: true, schedule: { cron: '0 9 * * 1-5' } });
});

test('a broken spec without a route leaves no CronJob', async () => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  await stage.stopOperator();
  await apply({}, { nodes: [broken] });
  await stage.client.delete(webhookRoutes, { namespace, name: 'report' });
  stage.startOperator();
  await expect.poll(names, { timeout: SOON.timeoutMs, interval: SOON.everyMs }).toEqual([]);
});

test('somebody who deletes or changes the CronJob is put right', async () => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  const { metadata } = await onlyCronJob();
  await stage.client.delete(cronJobs, { namespace, name: metadata.name });
  await pollUntil('it is back', async () => (await found()).length === 1, SOON);
  expect((await onlyCronJob()).metadata.uid).not.toBe(metadata.uid);
  const patch = { spec: { schedule: '* * * * *' } };
  await stage.client.patch(cronJobs, { namespace, name: metadata.name }, patch, {
    type: 'merge',
    fieldManager: 'kubectl',
  });
  await pollUntil(
    'its schedule is back',
    async () => (await schedules()).join() === '0 9 * * 1-5 Europe/Berlin',
    SOON,
  );
});

test.each([
  ['suspends it', { suspend: true }],
  ['gives it a deadline', { startingDeadlineSeconds: 60 }],
])('somebody who %s by hand is put right', async (_what, byHand) => {
  await apply({ missed: 'RunLatest' });
  await stage.waitFor(namespace, 'report', READY);
  const { name } = (await onlyCronJob()).metadata;
  const options = { type: 'merge', fieldManager: 'kubectl' } as const;
  await stage.client.patch(cronJobs, { namespace, name }, { spec: byHand }, options);
  const said = async () => {
    const { suspend, startingDeadlineSeconds } = (await onlyCronJob()).spec ?? {};
    return { suspend, startingDeadlineSeconds };
  };
  await expect
    .poll(said, { timeout: SOON.timeoutMs, interval: SOON.everyMs })
    .toEqual({ suspend: false, startingDeadlineSeconds: undefined });
});

/** A policy of the cluster's own that admits no CronJob any more; what it gives takes the policy away again. */
async function refuseImages(): Promise<() => Promise<unknown>> {
  const group = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
  const metadata = { name: namespace };
  const inNamespace = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const body = {
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: inNamespace,
        resourceRules: [
          {
            apiGroups: ['batch'],
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['cronjobs'],
          },
        ],
      },
      validations: [{ expression: 'false', message: 'no image of that registry' }],
    },
  };
  await stage.client.raw('POST', `${group}ies`, { body });
  const binding = { metadata, spec: { policyName: namespace, validationActions: ['Deny'] } };
  await stage.client.raw('POST', `${group}ybindings`, { body: binding });
  const probe = () =>
    stage.client.create(
      cronJobs,
      { metadata: { name: 'probe', namespace }, spec: probeSpec },
      { dryRun: true },
    );
  await pollUntil(
    'the policy in effect',
    () =>
      probe().then(
        () => false,
        () => true,
      ),
    SOON,
  );
  return async () => {
    await stage.client.raw('DELETE', `${group}ybindings/${namespace}`);
    await stage.client.raw('DELETE', `${group}ies/${namespace}`);
    await pollUntil('the policy away', () => probe().then(() => true), SOON);
  };
}

const probeSpec = {
  schedule: '0 0 * * *',
  jobTemplate: {
    spec: {
      template: { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'a', image: 'a' }] } },
    },
  },
};

test('a CronJob that the API server refuses to change goes on as it was, and that is said', async () => {
  await apply({});
  const { status: before } = await stage.waitFor(namespace, 'report', READY);
  const admit = await refuseImages();
  try {
    await apply({}, { nodes: [{ id: 'reply', response: { body: 'done' } }] });
    const wish = { type: 'Ready', status: 'False', reason: 'ScheduleRefused' };
    const { status } = await stage.waitFor(namespace, 'report', wish);
    expect(findCondition(status?.conditions, 'Scheduled')?.message).toContain('no image of that registry');
    expect(findCondition(status?.conditions, 'Stalled')).toBeUndefined();
    expect(status?.schedule?.next).toBe(before?.schedule?.next);
    expect(JSON.stringify((await onlyCronJob()).spec)).toContain(before?.revision);
    await apply({ cron: '0 8 * * *' });
    await expect.poll(names, { timeout: SOON.timeoutMs, interval: SOON.everyMs }).toEqual([]);
    await stage.waitFor(namespace, 'report', { type: 'Active', status: 'False', reason: 'ScheduleRefused' });
  } finally {
    await admit();
  }
});

test('where a quota admits one CronJob the times can be changed all the same', async () => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  const hard = { 'count/cronjobs.batch': '1' };
  const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
  await stage.client.raw('POST', quotas, { body: { metadata: { name: 'few' }, spec: { hard } } });
  // The controller of quotas counts; there is none here.
  const count = (used: string) =>
    stage.client.raw('PATCH', `${quotas}/few/status`, {
      body: { status: { hard, used: { 'count/cronjobs.batch': used } } },
      contentType: 'application/merge-patch+json',
    });
  await count('1');
  await apply({ cron: '0 8 * * *' });
  await stage.waitFor(namespace, 'report', { type: 'Ready', status: 'False', reason: 'QuotaExceeded' });
  await stage.waitFor(namespace, 'report', { type: 'Routed', status: 'True' });
  await expect.poll(names, { timeout: SOON.timeoutMs, interval: SOON.everyMs }).toEqual([]);
  await count('0');
  await stage.waitFor(namespace, 'report', READY, 30_000);
  expect(await schedules()).toEqual(['0 8 * * * Europe/Berlin']);
});

test.each([
  ['a time zone that is not there', { timeZone: 'Mars/Olympus' }, 'there is no time zone Mars/Olympus'],
  ['a day that never comes', { cron: '0 0 30 2 *' }, 'no day has these fields'],
])('%s is told, and nothing is made', async (_what, schedule, says) => {
  await apply(schedule);
  const wish = { type: 'Ready', status: 'False', reason: 'InvalidSchedule' };
  const { status } = await stage.waitFor(namespace, 'report', wish);
  expect(findCondition(status?.conditions, 'Stalled')?.message).toContain(says);
  expect(await found()).toEqual([]);
});

test('switched off while the run store is away, and interrupted half-way, it leaves no CronJob', async () => {
  await apply({});
  await stage.waitFor(namespace, 'report', READY);
  // What an operator leaves behind that is killed right after it has closed the route.
  await stage.stopOperator();
  await apply({}, { active: false });
  const route = await stage.client.get(webhookRoutes, { namespace, name: 'report' });
  const patch = { spec: { ...route.spec, active: false } };
  await stage.client.patch(webhookRoutes, { namespace, name: 'report' }, patch, { type: 'merge' });
  stage.redis.freeze();
  try {
    stage.startOperator();
    await expect.poll(names, { timeout: SOON.timeoutMs, interval: SOON.everyMs }).toEqual([]);
  } finally {
    stage.redis.thaw();
  }
});

test('while the run store is away the status says of the schedule what it said before', async () => {
  await apply({});
  const { status: before } = await stage.waitFor(namespace, 'report', READY);
  stage.redis.freeze();
  try {
    await apply({}, { nodes: [{ id: 'reply', response: { body: 'done' } }] });
    const wish = { type: 'Ready', status: 'False', reason: 'StoreUnavailable' };
    const { status } = await stage.waitFor(namespace, 'report', wish);
    expect(status?.schedule).toEqual(before?.schedule);
    expect(findCondition(status?.conditions, 'Scheduled')?.status).toBe('True');
  } finally {
    stage.redis.thaw();
  }
});
