/**
 * From a mail trigger that is applied to what pods poll, and back to its status. The polls are made here,
 * at no mail server.
 */
import { expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { cronJobs, events } from '../../../kube/resource.ts';
import { PollError } from '../../../nodes/contract/poller.ts';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import { claimPollerLease, releasePollerLease } from '../../../store/polling/pollerLease.ts';
import { openPollProject, type PollProject } from '../../support/operator/pollProject.ts';
import { pollUntil, pollUntilPasses } from '../../support/time/poll.ts';
import { operatorOfFile } from '../../support/operator/runningOperator.ts';

const READY = { type: 'Ready', status: 'True', reason: 'Serving' };
const PENDING = { type: 'TriggerHealthy', status: 'Unknown', reason: 'Pending' };
const INACTIVE = { type: 'Ready', status: 'True', reason: 'Inactive' };
const SOON = { timeoutMs: 20_000, everyMs: 25 };
const REJECTED = new PollError('Rejected', 'The server refuses the password.');

const harness = operatorOfFile();

/** A project with the workflow, that nobody has polled yet. */
async function applied(trigger?: object): Promise<PollProject> {
  const project = await openPollProject(harness());
  await project.apply({ ...(trigger && { trigger }) });
  await project.waitFor(PENDING);
  return project;
}

const broken = { id: 'ask', skill: { name: 'no_such_skill', parameters: {} } };
const cursorIn = async ({ workflow }: PollProject) => (await workflow()).status?.poll?.cursor;

test.concurrent('a mail trigger is ready when its account was polled, and the status says how far it is', async () => {
  const project = await applied();
  await pollUntilPasses(
    'the CronJob',
    async () => expect(await project.jobs()).toEqual(['windlass-poll']),
    SOON,
  );
  expect(await project.triggerIn()).toMatchObject({
    kind: 'mail',
    fields: { credential: 'inbox' },
    intervalSeconds: 60,
  });
  await project.poll();
  const { status } = await project.waitFor(READY);
  expect(findCondition(status?.conditions, 'TriggerHealthy')).toMatchObject({
    status: 'True',
    reason: 'Polled',
  });
  expect(findCondition(status?.conditions, 'Ready')?.message).toBe(
    'Each new event of the mail trigger starts a run.',
  );
  const cursor = await pollUntil('the cursor', () => cursorIn(project), SOON);
  expect(JSON.parse(cursor)).toMatchObject({ cursor: { uid: 7 } });
  const { lastPollTime = '' } = (await project.workflow()).status?.poll ?? {};
  expect(Date.now() - Date.parse(lastPollTime)).toBeLessThan(60_000);
});

test.concurrent('what fails is said in words with the time of the next poll, and is over when a poll works', async () => {
  const { poll, waitFor } = await applied();
  await poll(REJECTED);
  const { status } = await waitFor({ type: 'Ready', status: 'False', reason: 'Rejected' });
  expect(findCondition(status?.conditions, 'TriggerHealthy')?.message).toMatch(
    /^The server refuses the password\. The next poll is at \d{4}-/,
  );
  expect(status?.conditions.map(({ type }) => type)).not.toContain('Stalled');
  await poll();
  await waitFor(READY);
  const counted = async () => {
    const metrics = await harness().metrics();
    for (const outcome of ['Polled', 'Rejected'])
      expect(metrics).toMatch(
        new RegExp(`windlass_poll_looks_total\\{kind="mail",outcome="${outcome}"\\} [1-9]`),
      );
  };
  await pollUntilPasses('the metrics', counted, SOON);
});

/** Whether the account is polled by the next pod. */
async function isDue({ state }: PollProject): Promise<boolean> {
  const found = await state();
  return found !== undefined && found.dueAt <= found.now;
}
const SELDOM = { mail: { credential: 'inbox', pollIntervalSeconds: 86_400 } };

test.concurrent('a credential that is changed and works ends the back-off', async () => {
  const project = await applied(SELDOM);
  await project.poll(REJECTED);
  expect(await isDue(project)).toBe(false);
  const patch = { spec: { imap: { username: 'other' } } };
  const ref = { namespace: project.namespace, name: 'inbox' };
  await harness().client.patch(credentials, ref, patch, { type: 'merge' });
  await pollUntilPasses('the trigger being due', async () => expect(await isDue(project)).toBe(true), SOON);
});

test.concurrent('a Secret alone that has what was missing ends the back-off', async () => {
  const project = await openPollProject(harness(), { hasSecret: false });
  await project.apply({ trigger: SELDOM });
  await project.waitFor({ type: 'CredentialsReady', status: 'False' });
  await pollUntil('the trigger', () => project.state(), SOON);
  await project.poll(new PollError('CredentialMissing', 'There is no Secret.'));
  expect(await isDue(project)).toBe(false);
  await project.createSecret();
  await pollUntilPasses('the trigger being due', async () => expect(await isDue(project)).toBe(true), SOON);
});

test.concurrent.each([
  ['switched off', ({ apply }: PollProject) => apply({ active: false })],
  ['given another trigger', ({ apply }: PollProject) => apply({ trigger: { manual: {} } })],
  [
    'deleted',
    ({ namespace }: PollProject) => harness().client.delete(workflows, { namespace, name: 'orders' }),
  ],
  [
    'changed while a step is broken',
    ({ apply }: PollProject) =>
      apply({ trigger: { mail: { credential: 'inbox', mailbox: 'A' } }, steps: [broken] }),
  ],
])('a workflow that is %s is polled no more, and its cursor is gone', async (_what, change) => {
  const project = await applied();
  const { uid = '' } = (await project.workflow()).metadata;
  await project.poll();
  await project.waitFor(READY);
  await change(project);
  await pollUntilPasses('nobody looking', async () => expect(await project.state(uid)).toBeUndefined(), SOON);
  await pollUntilPasses('no CronJob', async () => expect(await project.jobs()).toEqual([]), SOON);
});

test.concurrent('a trigger whose credential is gone costs no pod, says so, and goes on where it was', async () => {
  const project = await applied();
  const ref = { namespace: project.namespace, name: 'inbox' };
  await project.poll();
  const cursor = await pollUntil('the cursor', () => cursorIn(project), SOON);
  const { spec } = await harness().client.get(credentials, ref);
  await harness().client.delete(credentials, ref);
  await project.waitFor({ type: 'TriggerHealthy', status: 'False', reason: 'CredentialMissing' });
  await pollUntilPasses('no CronJob', async () => expect(await project.jobs()).toEqual([]), SOON);
  await harness().client.create(credentials, { metadata: ref, spec });
  await pollUntilPasses('the CronJob', async () => expect(await project.jobs()).toHaveLength(1), SOON);
  expect(await cursorIn(project)).toEqual(cursor);
});

test.concurrent('a trigger whose credential is of another kind costs no pod', async () => {
  const project = await applied();
  const smtp = { host: 'mail.example.com', from: 'shop@example.com' };
  const ref = { namespace: project.namespace, name: 'outbox' };
  await harness().client.create(credentials, { metadata: ref, spec: { smtp } });
  await project.apply({ trigger: { mail: { credential: 'outbox' } } });
  await project.waitFor({ type: 'TriggerHealthy', status: 'False', reason: 'WrongCredentialKind' });
  await pollUntilPasses('no CronJob', async () => expect(await project.jobs()).toEqual([]), SOON);
});

test.concurrent('begun again it begins from now', async () => {
  const project = await applied();
  await project.poll();
  await pollUntil('the cursor', () => cursorIn(project), SOON);
  await project.apply({ active: false });
  await project.waitFor(INACTIVE);
  await project.apply();
  await project.waitFor(PENDING);
  expect(await project.poll()).toEqual({ cursor: undefined });
});

test.concurrent('a broken step keeps the polled trigger as it was', async () => {
  const { triggerIn, poll, apply, waitFor } = await applied();
  const before = await triggerIn();
  await poll();
  await apply({ steps: [broken] });
  await waitFor({ type: 'Valid', status: 'False' });
  expect(await triggerIn()).toEqual(before);
  expect(await poll()).toEqual({ cursor: { uid: 7 } });
});

test.concurrent('one CronJob serves all workflows of a project, and somebody who deletes it is put right', async () => {
  const { namespace, apply, jobs, waitFor } = await applied();
  await apply({ name: 'invoices', trigger: { mail: { credential: 'inbox', mailbox: 'Invoices' } } });
  await harness().waitFor(namespace, 'invoices', PENDING);
  await pollUntilPasses('the CronJob', async () => expect(await jobs()).toEqual(['windlass-poll']), SOON);
  await harness().client.delete(cronJobs, { namespace, name: 'windlass-poll' });
  await pollUntilPasses('the CronJob', async () => expect(await jobs()).toEqual(['windlass-poll']), SOON);
  await apply({ active: false });
  await waitFor(INACTIVE);
  expect(await jobs()).toEqual(['windlass-poll']);
});

test.concurrent('the CronJob is suspended while a runner polls, and has the shortest interval of all triggers', async () => {
  const project = await applied({ mail: { credential: 'inbox', pollIntervalSeconds: 3_600 } });
  const { namespace, uid, apply } = project;
  const { client, conn } = harness();
  const cronJob = async () => (await client.get(cronJobs, { namespace, name: 'windlass-poll' })).spec;
  const isSuspended = async () => (await cronJob())?.suspend;
  await pollUntil('a CronJob', async () => (await isSuspended()) === false, SOON);
  const renewed = async () => {
    await claimPollerLease(conn, uid, 'runner-1');
    return (await isSuspended()) === true;
  };
  await pollUntil('a suspended CronJob', renewed, SOON);
  const trigger = { mail: { credential: 'inbox', mailbox: 'B', pollIntervalSeconds: 900 } };
  await apply({ name: 'invoices', trigger });
  const ofShortest = async () => {
    await claimPollerLease(conn, uid, 'runner-1');
    return /^\d+-59\/15 \* \* \* \*$/.test((await cronJob())?.schedule ?? '');
  };
  await pollUntil('the shorter period', ofShortest, SOON);
  expect(await isSuspended()).toBe(true);
  await releasePollerLease(conn, uid, 'runner-1');
  await pollUntil('a CronJob that continues', async () => (await isSuspended()) === false, SOON);
});

test.concurrent('where a quota admits no CronJob the trigger says so, and nothing else of the project suffers', async () => {
  const project = await openPollProject(harness());
  const hard = { 'count/cronjobs.batch': '0' };
  const quotas = `/api/v1/namespaces/${project.namespace}/resourcequotas`;
  await harness().client.raw('POST', quotas, { body: { metadata: { name: 'none' }, spec: { hard } } });
  // The controller of quotas counts; there is none here.
  await harness().client.raw('PATCH', `${quotas}/none/status`, {
    body: { status: { hard, used: { 'count/cronjobs.batch': '0' } } },
    contentType: 'application/merge-patch+json',
  });
  await project.apply();
  const { status } = await project.waitFor({
    type: 'TriggerHealthy',
    status: 'False',
    reason: 'QuotaExceeded',
  });
  expect(findCondition(status?.conditions, 'TriggerHealthy')?.message).toContain(
    'Raise it, or delete a CronJob',
  );
  await project.waitFor({ type: 'PoolReady', status: 'True' });
});

test.concurrent('the annotation resets the cursor once, from now or from a time on', async () => {
  const { poll, apply, triggerIn } = await applied();
  await poll();
  const time = '2026-03-02T09:00:00Z';
  await apply({ reset: time });
  await pollUntil('the reset', async () => (await triggerIn())?.reset?.value === time, SOON);
  expect(await poll()).toEqual({ cursor: undefined, since: new Date(time) });
  expect(await poll()).toEqual({ cursor: { uid: 7 } });
  await apply({ reset: 'now' });
  await pollUntil('the other reset', async () => (await triggerIn())?.reset?.value === 'now', SOON);
  expect(await poll()).toEqual({ cursor: undefined });
});

test.concurrent('an annotation that nobody understands is told, with what to write', async () => {
  const { poll, apply, workflow, waitFor } = await applied();
  await poll();
  await waitFor(READY);
  await apply({ reset: 'yesterday' });
  const told = async () => findCondition((await workflow()).status?.conditions, 'TriggerHealthy');
  const words = expect.stringContaining(
    'set it to now, or to a time such as 2026-03-02T09:00:00Z',
  ) as unknown;
  await pollUntilPasses(
    'the words',
    async () => expect(await told()).toMatchObject({ status: 'True', message: words }),
    SOON,
  );
});

test.concurrent('a cursor that is lost is an event that people see', async () => {
  const { namespace, poll } = await applied();
  await poll({ baselineLost: 'The server has numbered the mails again.' });
  const event = await pollUntil(
    'the event',
    async () => {
      const { items } = await harness().client.list(events, { namespace });
      return items.find(({ reason }) => reason === 'BaselineLost');
    },
    SOON,
  );
  expect(event).toMatchObject({
    type: 'Warning',
    note: 'The server has numbered the mails again.',
    regarding: { kind: 'Workflow', name: 'orders' },
  });
});
