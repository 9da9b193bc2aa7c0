/** CronJobs of schedules that somebody else meddles with, or that the cluster does not take. */
import { expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { isNotFound } from '../../../kube/errors.ts';
import { cronJobs } from '../../../kube/resource.ts';
import { webhookRoutes } from '../../../operator/shared/resources.ts';
import { keysOf } from '../../../store/keys.ts';
import { pollUntil, pollUntilPasses } from '../../support/time/poll.ts';
import { operatorOfFile } from '../../support/operator/runningOperator.ts';
import { BROKEN, READY, SOON, STEP, openScheduleProject } from '../../support/operator/scheduleProject.ts';

const harness = operatorOfFile();
const openProject = () => openScheduleProject(harness());

type Ref = { namespace: string; name: string };

function patchByHand(ref: Ref, spec: object): Promise<unknown> {
  return harness().client.patch(cronJobs, ref, { spec }, { type: 'merge', fieldManager: 'kubectl' });
}

test.concurrent('a CronJob of somebody else that has our labels is left alone', async () => {
  const { namespace, apply, waitFor, names, onlyCronJob } = await openProject();
  await apply({});
  await waitFor(READY);
  const { metadata, spec } = await onlyCronJob();
  const theirs = {
    metadata: { name: 'theirs', namespace, ...(metadata.labels && { labels: metadata.labels }) },
  };
  await harness().client.create(cronJobs, { ...theirs, ...(spec && { spec }) });
  await apply({ cron: '0 8 * * *' });
  await pollUntil('the old one gone', async () => !(await names()).includes(metadata.name), SOON);
  expect(await names()).toContain('theirs');
});

test.concurrent.each([
  ['deleted', (ref: Ref) => harness().client.delete(cronJobs, ref)],
  ['changed', (ref: Ref) => patchByHand(ref, { schedule: '* * * * *' })],
])('a CronJob that is %s by hand beside a broken step is put right', async (_what, meddle) => {
  const { namespace, apply, waitFor, onlyCronJob } = await openProject();
  await apply({});
  await waitFor(READY);
  await apply({}, { nodes: [BROKEN] });
  await waitFor({ type: 'Valid', status: 'False' });
  const { metadata, spec } = await onlyCronJob();
  await meddle({ namespace, name: metadata.name });
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
  const route = await harness().client.get(webhookRoutes, { namespace, name: 'report' });
  expect(route.spec).toMatchObject({ active: true, schedule: { cron: '0 9 * * 1-5' } });
});

test.concurrent('somebody who deletes or changes the CronJob is put right', async () => {
  const { namespace, apply, waitFor, found, schedules, onlyCronJob } = await openProject();
  await apply({});
  await waitFor(READY);
  const { metadata } = await onlyCronJob();
  await harness().client.delete(cronJobs, { namespace, name: metadata.name });
  await pollUntil('it is back', async () => (await found()).length === 1, SOON);
  expect((await onlyCronJob()).metadata.uid).not.toBe(metadata.uid);
  await patchByHand({ namespace, name: metadata.name }, { schedule: '* * * * *' });
  await pollUntil(
    'its schedule is back',
    async () => (await schedules()).join() === '0 9 * * 1-5 Europe/Berlin',
    SOON,
  );
});

test.concurrent.each([
  ['suspends it', { suspend: true }],
  ['gives it a deadline', { startingDeadlineSeconds: 60 }],
])('somebody who %s by hand is put right', async (_what, byHand) => {
  const { namespace, apply, waitFor, onlyCronJob } = await openProject();
  await apply({ missed: 'RunLatest' });
  await waitFor(READY);
  const { name } = (await onlyCronJob()).metadata;
  await patchByHand({ namespace, name }, byHand);
  const said = async () => {
    const { suspend, startingDeadlineSeconds } = (await onlyCronJob()).spec ?? {};
    return { suspend, startingDeadlineSeconds };
  };
  await pollUntilPasses(
    'it being put right',
    async () => expect(await said()).toEqual({ suspend: false, startingDeadlineSeconds: undefined }),
    SOON,
  );
});

/**
 * A policy of the cluster's own that admits no such change of CronJobs; what it gives takes the policy away
 * again.
 */
async function refuseCronJobs(
  namespace: string,
  operations: string[],
  probe: () => Promise<unknown>,
): Promise<() => Promise<unknown>> {
  const group = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
  const metadata = { name: namespace };
  const inNamespace = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const resourceRules = [{ apiGroups: ['batch'], apiVersions: ['*'], operations, resources: ['cronjobs'] }];
  const body = {
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { namespaceSelector: inNamespace, resourceRules },
      validations: [{ expression: 'false', message: 'no image of that registry' }],
    },
  };
  await harness().client.raw('POST', `${group}ies`, { body });
  const binding = { metadata, spec: { policyName: namespace, validationActions: ['Deny'] } };
  await harness().client.raw('POST', `${group}ybindings`, { body: binding });
  const isAdmitted = () =>
    probe().then(
      () => true,
      () => false,
    );
  await pollUntil('the policy in effect', async () => !(await isAdmitted()), SOON);
  return async () => {
    await harness().client.raw('DELETE', `${group}ybindings/${namespace}`);
    await harness().client.raw('DELETE', `${group}ies/${namespace}`);
    await pollUntil('the policy away', isAdmitted, SOON);
  };
}

/** Refuses CronJobs as a policy about images would. */
function refuseImages(namespace: string): Promise<() => Promise<unknown>> {
  const probe = { metadata: { name: 'probe', namespace }, spec: probeSpec };
  return refuseCronJobs(namespace, ['CREATE', 'UPDATE'], () =>
    harness().client.create(cronJobs, probe, { dryRun: true }),
  );
}

/** Refuses to have the CronJob deleted. */
function refuseDeleting({ namespace, name }: Ref): Promise<() => Promise<unknown>> {
  const path = `/apis/batch/v1/namespaces/${namespace}/cronjobs/${name}?dryRun=All`;
  return refuseCronJobs(namespace, ['DELETE'], () =>
    harness()
      .client.raw('DELETE', path)
      .catch((error: unknown) => {
        // The operator deletes it as soon as the policy is gone.
        if (!isNotFound(error)) throw error;
      }),
  );
}

const probeSpec = {
  schedule: '0 0 * * *',
  jobTemplate: {
    spec: {
      template: { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'a', image: 'a' }] } },
    },
  },
};

test.concurrent('a CronJob that the API server refuses to change goes on as it was, and that is said', async () => {
  const { namespace, apply, waitFor, names, onlyCronJob } = await openProject();
  await apply({});
  const { status: before } = await waitFor(READY);
  const admit = await refuseImages(namespace);
  try {
    await apply({}, { nodes: [STEP] });
    const expected = { type: 'Ready', status: 'False', reason: 'ScheduleRefused' };
    const { status } = await waitFor(expected);
    expect(findCondition(status?.conditions, 'Scheduled')?.message).toContain('no image of that registry');
    expect(findCondition(status?.conditions, 'Stalled')).toBeUndefined();
    expect(status?.schedule?.next).toBe(before?.schedule?.next);
    expect(JSON.stringify((await onlyCronJob()).spec)).toContain(before?.revision);
    await apply({ cron: '0 8 * * *' });
    await pollUntilPasses('no CronJob', async () => expect(await names()).toEqual([]), SOON);
    await waitFor({ type: 'Active', status: 'False', reason: 'ScheduleRefused' });
  } finally {
    await admit();
  }
});

test.concurrent('a workflow whose CronJob cannot be deleted is suspended in the run store all the same', async () => {
  const { namespace, uid, apply, waitFor, names, onlyCronJob } = await openProject();
  await apply({});
  const { metadata } = await waitFor(READY);
  const { wf } = keysOf(uid);
  const flag = () => harness().conn.command('hget', wf(metadata.uid ?? ''), 'suspended');
  expect(await flag()).toBe('0');
  const admit = await refuseDeleting({ namespace, name: (await onlyCronJob()).metadata.name });
  try {
    await apply({}, { suspend: true });
    await pollUntilPasses('the suspension', async () => expect(await flag()).toBe('1'), SOON);
    expect(await names()).toHaveLength(1);
  } finally {
    await admit();
  }
  await waitFor({ ...READY, reason: 'Suspended' }, 30_000);
  expect(await names()).toEqual([]);
});

test.concurrent('where a quota admits one CronJob the times can be changed all the same', async () => {
  const { namespace, apply, waitFor, names, schedules } = await openProject();
  await apply({});
  await waitFor(READY);
  const hard = { 'count/cronjobs.batch': '1' };
  const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
  await harness().client.raw('POST', quotas, { body: { metadata: { name: 'few' }, spec: { hard } } });
  // The controller of quotas counts; there is none here.
  const count = (used: string) =>
    harness().client.raw('PATCH', `${quotas}/few/status`, {
      body: { status: { hard, used: { 'count/cronjobs.batch': used } } },
      contentType: 'application/merge-patch+json',
    });
  await count('1');
  await apply({ cron: '0 8 * * *' });
  await waitFor({ type: 'Ready', status: 'False', reason: 'QuotaExceeded' });
  await waitFor({ type: 'Routed', status: 'True' });
  await pollUntilPasses('no CronJob', async () => expect(await names()).toEqual([]), SOON);
  await count('0');
  await waitFor(READY, 30_000);
  expect(await schedules()).toEqual(['0 8 * * * Europe/Berlin']);
});
