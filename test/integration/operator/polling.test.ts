/** From a mail trigger that is applied to what pods look at, and back to its status. The looks are made here, at no mail server. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Credential, Workflow } from '../../../api/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { cronJobs, events, secrets } from '../../../kube/resource.ts';
import { PollError, type Polled, type Poller } from '../../../nodes/poller.ts';
import { credentials, workflows } from '../../../operator/resources.ts';
import { lookAt } from '../../../runner/poll/look.ts';
import { isUnavailable } from '../../../runs/connection.ts';
import { keysOf } from '../../../runs/keys.ts';
import { readPoll } from '../../../runs/polling/state.ts';
import type { PolledTrigger } from '../../../runs/polling/triggers.ts';
import { createCollectedLog } from '../../support/collectedLog.ts';
import { startOperatorStage, type OperatorStage } from '../../support/operatorStage.ts';
import { pollUntil } from '../../support/poll.ts';
import { localEgress } from '../../support/stepContext.ts';

const READY = { type: 'Ready', status: 'True', reason: 'Serving' };
const PENDING = { type: 'TriggerHealthy', status: 'Unknown', reason: 'Pending' };
const SOON = { timeoutMs: 20_000, everyMs: 25 };

let stage: OperatorStage;
let namespace: string;
let project: string;

beforeAll(async () => {
  stage = await startOperatorStage();
  stage.startOperator();
}, 600_000);
afterAll(() => stage?.stop());
beforeEach(async () => {
  ({ namespace, uid: project } = await stage.createProject());
  await stage.client.create(secrets, {
    metadata: { name: 'accounts', namespace },
    data: { password: btoa('x') },
  });
  const passwordRef = { name: 'accounts', key: 'password' };
  const spec: Credential['spec'] = { imap: { host: 'mail.example.com', username: 'shop', passwordRef } };
  await stage.client.create(credentials, { metadata: { name: 'inbox', namespace }, spec });
});

type Wish = { name?: string; active?: boolean; trigger?: object; steps?: object[]; reset?: string };

function apply({ name = 'orders', active = true, trigger, steps = [], reset }: Wish = {}): Promise<string> {
  const first = trigger ?? { mail: { credential: 'inbox' } };
  const annotations = reset === undefined ? {} : { 'windlass.dev/reset-cursor': reset };
  const object = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name, annotations },
    spec: { active, nodes: [{ id: 'trigger', ...first }, ...steps] },
  };
  return stage.apply(namespace, stringify(object));
}
const broken = { id: 'ask', skill: { name: 'no_such_skill', parameters: {} } };
const workflow = (name = 'orders'): Promise<Workflow> => stage.client.get(workflows, { namespace, name });
const jobs = async () =>
  (await stage.client.list(cronJobs, { namespace })).items.map(({ metadata }) => metadata.name);

/** A look at the trigger, which brings this. */
async function look(
  brings: Partial<Polled> | Error = {},
): Promise<{ cursor: unknown; since?: Date } | undefined> {
  const { uid = '' } = (await workflow()).metadata;
  await stage.conn.command('hdel', keysOf(project).poll(uid), 'at', 'notBefore');
  let seen: { cursor: unknown; since?: Date } | undefined;
  const poller: Poller<unknown> = {
    poll: async (_trigger, cursor, _context, since) => {
      seen = { cursor, ...(since && { since }) };
      if (brings instanceof Error) throw brings;
      return { events: [], cursor: { uid: 7 }, more: false, ...brings };
    },
  };
  const means = async () => ({
    egress: localEgress,
    credential: async () => {
      throw new Error('no poller asks for it');
    },
  });
  const { signal } = new AbortController();
  const log = createCollectedLog();
  const deps = {
    conn: stage.conn,
    project,
    pod: 'pod-1',
    poller: async () => poller,
    means,
    leave: signal,
    log,
  };
  await lookAt(deps, uid);
  return seen;
}

async function triggerIn(): Promise<PolledTrigger | undefined> {
  const { uid = '' } = (await workflow()).metadata;
  const text = await stage.conn.command('hget', keysOf(project).poll(uid), 'config');
  return typeof text === 'string' ? (JSON.parse(text) as PolledTrigger) : undefined;
}

async function isKept(uid: string): Promise<boolean> {
  const state = await readPoll(stage.conn, project, uid);
  return state !== undefined && !isUnavailable(state);
}

test('a mail trigger is ready when somebody has looked at the account, and the status says how far it is', async () => {
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  await pollUntil('the CronJob', async () => (await jobs()).join() === 'windlass-poll', SOON);
  expect(await triggerIn()).toMatchObject({
    kind: 'mail',
    fields: { credential: 'inbox' },
    intervalSeconds: 60,
  });
  await look();
  const { status } = await stage.waitFor(namespace, 'orders', READY);
  expect(findCondition(status?.conditions, 'TriggerHealthy')).toMatchObject({
    status: 'True',
    reason: 'Polled',
  });
  expect(findCondition(status?.conditions, 'Ready')?.message).toBe(
    'Each new event of the mail trigger starts a run.',
  );
  const { poll } = await pollUntil(
    'the cursor',
    async () => {
      const { status: now } = await workflow();
      return now?.poll?.cursor === undefined ? undefined : now;
    },
    SOON,
  );
  expect(JSON.parse(poll?.cursor ?? '')).toMatchObject({ cursor: { uid: 7 } });
  expect(Date.now() - Date.parse(poll?.lastPollTime ?? '')).toBeLessThan(60_000);
});

test('what fails is said in words with the time of the next look, and is over when a look works', async () => {
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  await look(new PollError('Rejected', 'The server refuses the password.'));
  const { status } = await stage.waitFor(namespace, 'orders', {
    type: 'Ready',
    status: 'False',
    reason: 'Rejected',
  });
  expect(findCondition(status?.conditions, 'TriggerHealthy')?.message).toMatch(
    /^The server refuses the password\. The next one is at \d{4}-/,
  );
  expect(status?.conditions.map(({ type }) => type)).not.toContain('Stalled');
  await look();
  await stage.waitFor(namespace, 'orders', READY);
});

test.each([
  ['switched off', () => apply({ active: false })],
  ['given another trigger', () => apply({ trigger: { manual: {} } })],
  ['deleted', () => stage.client.delete(workflows, { namespace, name: 'orders' })],
  [
    'changed while a step is broken',
    () => apply({ trigger: { mail: { credential: 'inbox', mailbox: 'A' } }, steps: [broken] }),
  ],
])('a workflow that is %s is looked at no more, and its cursor is gone', async (_what, change) => {
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  const { uid = '' } = (await workflow()).metadata;
  await look();
  await stage.waitFor(namespace, 'orders', READY);
  await change();
  await expect.poll(() => isKept(uid), { timeout: SOON.timeoutMs, interval: SOON.everyMs }).toBe(false);
  await expect.poll(jobs, { timeout: SOON.timeoutMs, interval: SOON.everyMs }).toEqual([]);
});

test('begun again it begins from now, and its status forgets where it was', async () => {
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  await look();
  await pollUntil('the cursor', async () => (await workflow()).status?.poll?.cursor !== undefined, SOON);
  await apply({ active: false });
  await stage.waitFor(namespace, 'orders', { type: 'Ready', status: 'True', reason: 'Inactive' });
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  expect(await look()).toEqual({ cursor: undefined });
});

test('a broken step keeps what is looked at as it was', async () => {
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  const before = await triggerIn();
  await look();
  await apply({ steps: [broken] });
  await stage.waitFor(namespace, 'orders', { type: 'Valid', status: 'False' });
  expect(await triggerIn()).toEqual(before);
  expect(await look()).toEqual({ cursor: { uid: 7 } });
});

test('one CronJob serves all workflows of a project, and somebody who deletes it is put right', async () => {
  await apply();
  await apply({ name: 'invoices', trigger: { mail: { credential: 'inbox', mailbox: 'Invoices' } } });
  await stage.waitFor(namespace, 'invoices', PENDING);
  await pollUntil('the CronJob', async () => (await jobs()).join() === 'windlass-poll', SOON);
  await stage.client.delete(cronJobs, { namespace, name: 'windlass-poll' });
  await pollUntil('the CronJob again', async () => (await jobs()).join() === 'windlass-poll', SOON);
  await apply({ active: false });
  await stage.waitFor(namespace, 'orders', { type: 'Ready', status: 'True', reason: 'Inactive' });
  expect(await jobs()).toEqual(['windlass-poll']);
});

test('the annotation has it begin anew once, from now or from a time on', async () => {
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  await look();
  const time = '2026-03-02T09:00:00Z';
  await apply({ reset: time });
  await pollUntil('the wish', async () => (await triggerIn())?.reset?.value === time, SOON);
  expect(await look()).toEqual({ cursor: undefined, since: new Date(time) });
  expect(await look()).toEqual({ cursor: { uid: 7 } });
  await apply({ reset: 'now' });
  await pollUntil('the other wish', async () => (await triggerIn())?.reset?.value === 'now', SOON);
  expect(await look()).toEqual({ cursor: undefined });
});

test('a cursor that is lost is an event that people see', async () => {
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  await look({ baselineLost: 'The server has numbered the mails anew.' });
  const event = await pollUntil(
    'the event',
    async () => {
      const { items } = await stage.client.list(events, { namespace });
      return items.find(({ reason }) => reason === 'BaselineLost');
    },
    SOON,
  );
  expect(event).toMatchObject({
    type: 'Warning',
    note: 'The server has numbered the mails anew.',
    regarding: { kind: 'Workflow', name: 'orders' },
  });
});

test('a run store that loses everything goes on from the cursor of the status', async () => {
  await apply();
  await stage.waitFor(namespace, 'orders', PENDING);
  await look();
  await pollUntil('the cursor', async () => (await workflow()).status?.poll?.cursor !== undefined, SOON);
  const { uid = '' } = (await workflow()).metadata;
  await stage.redis.replace();
  await stage.conn.ready();
  await pollUntil('the trigger again', () => isKept(uid), { timeoutMs: 60_000, everyMs: 100 });
  // A pod that finds the project not open yet comes again.
  expect(await pollUntil('the next look', () => look(), SOON)).toEqual({ cursor: { uid: 7 } });
}, 90_000);
