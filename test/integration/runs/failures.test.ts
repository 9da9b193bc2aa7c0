/** A failed run starts the workflow in `onFailure`, once, whatever happens in between. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { putCallee } from '../../../runs/callees.ts';
import { beginDeletion } from '../../../runs/deletion.ts';
import { addFailure, createFailureSweep, type FailureSweepOptions } from '../../../runs/failures.ts';
import { setQuotas, setWorkflowLimits } from '../../../runs/limits.ts';
import { readRun } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import type { FailureTarget, WorkflowLimits } from '../../../runs/types/limits.ts';
import type { RunEnd } from '../../../runs/types/result.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import {
  accepted,
  claimed,
  claimedOne,
  newProject,
  startRunStore,
  stateOf,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const soon = <T>(what: string, check: () => Promise<T | false | undefined>) =>
  pollUntil(what, check, { timeoutMs: 20_000, everyMs: 10 });

const TARGET = { workflow: 'alarm', uid: 'uid-alarm', revision: 'alarm-1' };
const FAILED: RunEnd = { phase: 'Failed', reason: 'NodeFailed', message: 'node pay: Refused: no' };

let store: TestStore;
let project: string;
let stopping: AbortController;
let sweeps: Promise<void>[];

beforeAll(async () => {
  store = await startRunStore();
}, 600_000);
afterAll(() => store?.stop());
beforeEach(async () => {
  project = await newProject(store.conn);
  stopping = new AbortController();
  sweeps = [];
  await limits('uid-orders', { onFailure: TARGET });
  await limits('uid-alarm');
  await callee('uid-alarm', 'alarm-1');
});
afterEach(async () => {
  stopping.abort();
  await Promise.all(sweeps);
});

const limits = (workflowUid: string, more: Partial<WorkflowLimits> = {}) =>
  setWorkflowLimits(store.conn, project, { workflowUid, policy: 'Queue', deadlineMs: 60_000, ...more });
const target = (onFailure: FailureTarget) => limits('uid-orders', { onFailure });

const callee = (workflowUid: string, revision: string) =>
  putCallee(store.conn, project, { name: 'alarm', workflowUid, revision });
const deleteAlarm = () => beginDeletion(store.conn, project, { workflowUid: 'uid-alarm', name: 'alarm' });

function sweep(more: Partial<FailureSweepOptions> = {}): void {
  const options = {
    conn: store.conn,
    project,
    namespace: 'shop',
    log: createCollectedLog(),
    everyMs: 10,
    ...more,
  };
  sweeps.push(createFailureSweep(options).run(stopping.signal));
}

async function failed(changes: Partial<Submission> = {}, end = FAILED): Promise<string> {
  const run = await accepted(store.conn, submissionOf(project, changes));
  await advance(store.conn, await claimedOne(store.conn, project), { end });
  return run;
}

const entries = async () => (await store.conn.command('hkeys', keysOf(project).failures)) as string[];
const settled = (run: string) =>
  soon(`the failure of ${run} being settled`, async () => {
    const state = await stateOf(store.conn, project, run);
    return !state.isUnreported && !(await entries()).includes(run) && state;
  });

/** The runs of the error workflow. */
async function alarms(): Promise<RunState[]> {
  return (await claimed(store.conn, project)).map(({ state }) => state);
}

test('a failed run starts the workflow in onFailure, with what failed as its event', async () => {
  sweep({ consoleUrl: 'https://windlass.example.com' });
  const run = await failed();
  const { onFailure } = await settled(run);
  const [alarm, ...more] = await alarms();
  expect(more).toEqual([]);
  expect(alarm).toMatchObject({ workflow: 'alarm', revision: 'alarm-1', trigger: 'onFailure', test: false });
  expect(JSON.parse(alarm?.input ?? '')).toEqual({
    text_content: 'node pay: Refused: no',
    data_content: {
      workflow: 'orders',
      run,
      trigger: 'webhook',
      node: '',
      reason: 'NodeFailed',
      message: 'node pay: Refused: no',
      url: `https://windlass.example.com/console/p/shop/runs/${run}`,
    },
  });
  expect(onFailure).toEqual({ workflow: 'alarm', run: alarm?.run });
});

test('any number of runners start it once', async () => {
  const run = await failed();
  for (let index = 0; index < 5; index += 1) sweep();
  await settled(run);
  expect(await alarms()).toHaveLength(1);
});

test('a runner that dies after it started it does not start it again', async () => {
  const run = await failed();
  const entry = await store.conn.command('hget', keysOf(project).failures, run);
  sweep();
  await settled(run);
  // As if the answer of the submission had been lost.
  await store.conn.command('hset', keysOf(project).failures, run, entry as string);
  await settled(run);
  expect(await alarms()).toHaveLength(1);
});

test('a failure outlives a restart of the run store', async () => {
  const run = await failed();
  await store.redis.restart();
  await store.conn.ready();
  sweep();
  await settled(run);
  expect(await alarms()).toHaveLength(1);
});

test('the end of the run is not recorded before it is started', async () => {
  const run = await failed();
  const state = await stateOf(store.conn, project, run);
  expect(state).toMatchObject({ phase: 'Failed', isUnreported: true });
  expect(await recorded(store.conn, state, 'written')).toBe('kept');
  sweep();
  await settled(run);
  expect(await recorded(store.conn, state, 'written')).toBe('recorded');
});

test.each([
  ['a test run', { test: true }, FAILED],
  ['a cancelled run', {}, { phase: 'Cancelled', reason: 'Cancelled' }],
  ['a succeeded run', {}, { phase: 'Succeeded' }],
] as const)('%s starts nothing, and its record does not wait', async (_name, changes, end) => {
  const run = await failed(changes, end);
  expect(await entries()).toEqual([]);
  expect((await stateOf(store.conn, project, run)).isUnreported).toBeUndefined();
});

test('a run that a failure started starts nothing when it fails, also with an onFailure of its own', async () => {
  await limits('uid-alarm', { onFailure: { workflow: 'other', uid: 'uid-other', revision: 'other-1' } });
  sweep();
  await settled(await failed());
  const [alarm] = await claimed(store.conn, project);
  if (!alarm) throw new Error('nothing was started');
  const { run } = alarm.state;
  await advance(store.conn, { project, run, token: alarm.token }, { end: FAILED });
  expect((await settled(run)).onFailure).toBeUndefined();
  expect(await alarms()).toEqual([]);
});

test('a workflow that does not exist yet is started when it does', async () => {
  await target({ workflow: 'alarm' });
  const run = await failed();
  sweep();
  await target(TARGET);
  expect((await settled(run)).onFailure).toMatchObject({ run: expect.any(String) });
  expect(await alarms()).toHaveLength(1);
});

test('a workflow that stays missing starts nothing, and the record says so', async () => {
  await target({ workflow: 'alarm' });
  const run = await failed();
  sweep({ patienceMs: 0 });
  expect((await settled(run)).onFailure).toEqual({
    workflow: 'alarm',
    reason: 'WorkflowMissing',
    message:
      'Workflow alarm does not exist in this namespace or was never valid: apply it, or name another one in onFailure.',
  });
});

test('a workflow that is deleted before the failure starts nothing, and the record does not call it suspended', async () => {
  await deleteAlarm();
  const run = await failed();
  sweep({ patienceMs: 0 });
  expect((await settled(run)).onFailure).toMatchObject({ workflow: 'alarm', reason: 'WorkflowMissing' });
});

test('a workflow that replaces a deleted one of its name is started', async () => {
  await deleteAlarm();
  const run = await failed();
  sweep();
  await limits('uid-alarm-2');
  await target({ workflow: 'alarm', uid: 'uid-alarm-2', revision: 'alarm-2' });
  expect((await settled(run)).onFailure).toMatchObject({ run: expect.any(String) });
  expect(await alarms()).toMatchObject([{ revision: 'alarm-2' }]);
});

test('a suspended workflow starts nothing, and the record says so', async () => {
  await limits('uid-alarm', { suspended: true });
  const run = await failed();
  sweep();
  expect((await settled(run)).onFailure).toMatchObject({ workflow: 'alarm', reason: 'Suspended' });
});

test('at the limit of a workflow with the policy Reject nothing is started, and the record says so', async () => {
  await limits('uid-alarm', { concurrency: 1, policy: 'Reject' });
  const run = await failed();
  await accepted(store.conn, submissionOf(project, { workflow: 'alarm', workflowUid: 'uid-alarm' }));
  sweep();
  expect((await settled(run)).onFailure).toMatchObject({ workflow: 'alarm', reason: 'ConcurrencyLimit' });
});

test('in a full run store the record of the run does not wait, and it is started when there is room', async () => {
  const run = await failed();
  await setQuotas(store.conn, project, { quota: 1 });
  sweep();
  const state = await soon('the record being allowed', async () => {
    const found = await stateOf(store.conn, project, run);
    return !found.isUnreported && found;
  });
  expect(await recorded(store.conn, state, 'written')).toBe('recorded');
  await store.conn.command('unlink', keysOf(project).run(run));
  expect(await entries()).toEqual([run]);
  await setQuotas(store.conn, project, { quota: 100_000_000 });
  await soon('the entry being settled', async () => (await entries()).length === 0);
  const [alarm] = await alarms();
  expect(JSON.parse(alarm?.input ?? '')).toMatchObject({ data_content: { run, reason: 'NodeFailed' } });
});

test('an entry whose run was removed by hand is removed', async () => {
  const run = await failed();
  await store.conn.command('unlink', keysOf(project).run(run));
  sweep();
  await soon('the entry being removed', async () => (await entries()).length === 0);
  expect(await alarms()).toEqual([]);
});

test('the failure of a run that the run store lost starts it too', async () => {
  const event = {
    workflow: 'orders',
    run: 'lost-1',
    trigger: 'webhook',
    node: '',
    reason: 'DataLost',
    message: 'lost',
    url: '',
  };
  for (let index = 0; index < 2; index += 1)
    expect(await addFailure(store.conn, project, TARGET, event)).toEqual({ outcome: 'done' });
  sweep();
  await soon('the entry being settled', async () => (await entries()).length === 0);
  expect(await alarms()).toHaveLength(1);
  expect(await readRun(store.conn, project, 'lost-1')).toBeUndefined();
});

test('a workflow that was deleted after the run store lost the run starts nothing, however long ago', async () => {
  const event = { workflow: 'orders', run: 'lost-2', trigger: 'webhook', node: '' };
  const lost = { ...event, reason: 'DataLost', message: 'lost', url: '' };
  await addFailure(store.conn, project, TARGET, lost);
  await deleteAlarm();
  // The mark of a deletion is gone after five minutes.
  await store.conn.command('unlink', keysOf(project).wf('uid-alarm'));
  sweep();
  await soon('the entry being settled', async () => (await entries()).length === 0);
  expect(await alarms()).toEqual([]);
});
