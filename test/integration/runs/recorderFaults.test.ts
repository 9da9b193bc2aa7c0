/**
 * Recording when something goes wrong: one run that is refused, an API server that is away, a recorder that
 * is killed.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { KubeClient } from '../../../kube/client.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { advance } from '../../../runs/advance.ts';
import { keysOf } from '../../../store/keys.ts';
import { dropWorkflow } from '../../../runs/deletion.ts';
import { setWorkflowLimits, setWriteBudget } from '../../../runs/limits.ts';
import { readSummary } from '../../../runs/read.ts';
import { spend } from '../../../runs/record/recordQueue.ts';
import { beginCreate, noteObject, undoCreate } from '../../../runs/record/creation.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { createObject, writeStatus, type RecordTarget } from '../../../runs/record/object.ts';
import { storedBytes } from '../../../runs/record/record.ts';
import { createSummarizer } from '../../../runs/record/summarize.ts';
import type { CollectedLog } from '../../support/logs/collectedLog.ts';
import type { KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import {
  openRecordedProject,
  startRecorderHarness,
  type RecordedProject,
  type RecorderHarness,
} from '../../support/runStore/recorderHarness.ts';
import {
  accepted,
  claimed,
  claimedOne,
  refOf,
  stateOf,
  submissionOf,
  succeededNode,
  type TestStore,
} from '../../support/runStore/runStore.ts';

const SOON = { timeout: 40_000, interval: 25 };

let harness: RecorderHarness;
let faults: KubeApiFaults;
let kube: KubeClient;
let store: TestStore;
let own: RecordedProject;
let project: string;
let log: CollectedLog;
let target: RecordTarget;

beforeAll(async () => {
  harness = await startRecorderHarness();
  ({ faults, kube, store } = harness);
}, 600_000);
afterAll(() => harness?.stop());
beforeEach(async () => {
  own = await openRecordedProject(harness);
  ({ project, log } = own);
  target = { kube: harness.recording, namespace: project, store: 'store-1' };
});
afterEach(() => own.end());

const objectOf = (run: string) => kube.find(workflowRuns, { namespace: project, name: run });
const phaseOf = async (run: string) => (await objectOf(run))?.status?.phase;
const waiting = () => store.conn.command('zcard', keysOf(project).unrecorded);
const keep = (succeeded: number) =>
  setWorkflowLimits(store.conn, project, {
    workflowUid: 'uid-orders',
    policy: 'Queue',
    deadlineMs: 60_000,
    history: { succeeded, failed: succeeded },
  });

async function ran(): Promise<string> {
  const run = await accepted(store.conn, submissionOf(project));
  await advance(store.conn, await claimedOne(store.conn, project), { end: { phase: 'Succeeded' } });
  return run;
}

const invalid = { status: 422, body: { reason: 'Invalid', message: 'spec: no' } };

test('a run that the API server refuses is quarantined, stays stored, and delays no other', async () => {
  const refused = await ran();
  const mend = faults.always(({ method, path }) => method === 'PATCH' && path.includes(refused), invalid);
  own.startRecorder();
  await expect.poll(() => log.messages('error'), SOON).toContain('quarantined run that cannot be recorded');
  const others = [await ran(), await ran(), await ran()];
  for (const run of others) await expect.poll(() => phaseOf(run), SOON).toBe('Succeeded');
  expect(log.messages('warn')).toEqual([]);
  expect(await phaseOf(refused)).toBeUndefined();
  mend();
  await expect.poll(() => phaseOf(refused), SOON).toBe('Succeeded');
});

test('of a run whose nodes the API server refuses the end is recorded all the same', async () => {
  const run = await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  const tooMany = Array.from({ length: 101 }, (_, index) => succeededNode(`node_${index}`));
  await advance(store.conn, ref, { checkpoints: tooMany, end: { phase: 'Failed', reason: 'Timeout' } });
  own.startRecorder();
  await expect
    .poll(() => objectOf(run), SOON)
    .toMatchObject({ status: { phase: 'Failed', reason: 'Timeout' } });
  await expect.poll(() => log.messages('error'), SOON).toEqual(['recorded run without its nodes']);
});

test('an API server that refuses one run after the other is left alone for a while', async () => {
  for (let count = 0; count < 10; count += 1) await ran();
  const forbidden = { status: 403, body: { reason: 'Forbidden', message: 'exceeded quota' } };
  const mend = faults.always(({ method, path }) => method === 'POST' && path.includes(project), forbidden);
  own.startRecorder();
  await expect.poll(() => log.messages('warn'), SOON).toContain('recording runs failed, retrying later');
  mend();
  await expect.poll(waiting, SOON).toBe(0);
  expect((await kube.list(workflowRuns, { namespace: project })).items).toHaveLength(10);
});

test('while the API server is away it is the newest runs that are kept', async () => {
  await keep(5);
  const back = faults.always(() => true, 'reset');
  own.startRecorder();
  const first = await ran();
  await expect.poll(() => log.messages('warn'), SOON).not.toEqual([]);
  const runs: string[] = [];
  const begin = performance.now();
  while (performance.now() - begin < 4_000) runs.push(await ran());
  await expect.poll(waiting, SOON).toBeLessThan(8);
  back();
  for (const run of [first, ...runs.slice(-4)]) await expect.poll(() => phaseOf(run), SOON).toBe('Succeeded');
  const { items } = await kube.list(workflowRuns, { namespace: project });
  expect(items.length).toBeLessThan(10);
});

test('of runs that ended in the same millisecond those that were accepted last are kept', async () => {
  await keep(1);
  const names = ['run-c', 'run-b', 'run-a'];
  for (const run of names) await accepted(store.conn, submissionOf(project, { run }));
  for (const claim of await claimed(store.conn, project))
    await advance(store.conn, refOf(claim), { end: { phase: 'Succeeded' } });
  const longAgo = Date.now() - 60_000;
  for (const run of names) {
    await store.conn.command('hset', keysOf(project).run(run), 'ended', longAgo);
    await store.conn.command('zadd', keysOf(project).unrecorded, longAgo, run);
  }
  expect(await createSummarizer(store.conn, project).trim()).toBe(2);
  expect(await store.conn.command('zrange', keysOf(project).unrecorded, 0, -1)).toEqual(['run-a']);
});

test('the write budget pays what it has for one second, and no more in the same moment', async () => {
  const perSecond = 5;
  await setWriteBudget(store.conn, project, perSecond);
  // Tokens for the time of a call or two on a slow machine are no more than a few.
  const costs = Array.from({ length: 1_000 }, () => 1);
  expect(await spend(store.conn, project, costs)).toBe(perSecond);
  expect(await spend(store.conn, project, costs)).toBeLessThan(100);
});

test('the API server gets no more writes than the budget pays for, at any moment', async () => {
  await keep(100);
  own.startRecorder();
  // A server that has just begun to serve the kind is slow by itself.
  const first = await ran();
  await expect.poll(() => phaseOf(first), SOON).toBe('Succeeded');
  // Far below what a busy machine writes without a budget.
  const perSecond = 5;
  await setWriteBudget(store.conn, project, perSecond);
  const begin = performance.now();
  for (let count = 0; count < 10; count += 1) await ran();
  await expect.poll(waiting, SOON).toBe(0);
  const writes = faults.seen.filter(
    ({ method, path, at }) => method !== 'GET' && path.includes(project) && at > begin,
  );
  expect(writes).toHaveLength(20);
  const unpaid = writes.filter(({ at }, index) => index > perSecond + (perSecond * (at - begin)) / 1_000);
  expect(unpaid).toEqual([]);
});

test('a recorder that was killed after it made the object is followed by one that ends the same record', async () => {
  await keep(0);
  const run = await ran();
  const state = await stateOf(store.conn, project, run);
  const id = await store.conn.command('hget', keysOf(project).meta, 'id');
  expect(await beginCreate(store.conn, state)).toBeTypeOf('string');
  const uid = await createObject({ ...target, store: String(id) }, state);
  // A run with an object is recorded, however many wait.
  const other = await ran();
  const trimmer = createSummarizer(store.conn, project);
  await expect.poll(() => trimmer.trim(), SOON).toBe(1);
  expect(await readSummary(store.conn, project, 'uid-orders', other)).toMatchObject({ run: other });
  own.startRecorder();
  await expect
    .poll(() => objectOf(run), SOON)
    .toMatchObject({ metadata: { uid }, status: { phase: 'Succeeded' } });
  expect((await kube.list(workflowRuns, { namespace: project })).items).toHaveLength(1);
});

test('an attempt to create the object that may have succeeded is not undone by later attempts that certainly failed', async () => {
  await keep(0);
  const run = await ran();
  const state = await stateOf(store.conn, project, run);
  const id = String(await store.conn.command('hget', keysOf(project).meta, 'id'));
  const first = (await beginCreate(store.conn, state)) ?? '';
  // The API server executes this one and is killed before it answers; it refuses the connections of the next
  // two.
  const uid = await createObject({ ...target, store: id }, state);
  const second = (await beginCreate(store.conn, state)) ?? '';
  expect(await undoCreate(store.conn, state, second)).toBe(false);
  const third = (await beginCreate(store.conn, state)) ?? '';
  expect(await undoCreate(store.conn, state, third)).toBe(false);
  // Nor does the first one know about an object that the others may have created.
  expect(await undoCreate(store.conn, state, first)).toBe(false);
  expect(await recorded(store.conn, state, 'excess')).toBe('kept');
  own.startRecorder();
  await expect
    .poll(() => objectOf(run), SOON)
    .toMatchObject({ metadata: { uid }, status: { phase: 'Succeeded' } });
});

test('an object that a recorder created after the deletion of an earlier one gets the end, also where the earlier one is noted last', async () => {
  const run = await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  const state = await stateOf(store.conn, project, run);
  const ours = { ...target, store: String(await store.conn.command('hget', keysOf(project).meta, 'id')) };
  // This recorder is frozen before it notes what it created; another one takes the run up after its lease.
  const deleted = (await createObject(ours, state)) ?? '';
  await kube.delete(workflowRuns, { namespace: project, name: run });
  const uid = (await createObject(ours, state)) ?? '';
  await noteObject(store.conn, state, uid);
  await noteObject(store.conn, state, deleted);
  own.startRecorder();
  await expect.poll(() => store.conn.command('sismember', keysOf(project).cancels, run), SOON).toBe(1);
  await advance(store.conn, ref, { end: { phase: 'Cancelled' } });
  await expect
    .poll(() => objectOf(run), SOON)
    .toMatchObject({ metadata: { uid }, status: { phase: 'Cancelled' } });
});

test('what is written late changes nothing, and another object of the same name is left alone', async () => {
  const run = await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  const early = await stateOf(store.conn, project, run);
  await advance(store.conn, ref, { end: { phase: 'Succeeded' } });
  const late = await stateOf(store.conn, project, run);
  const uid = (await createObject(target, early)) ?? '';
  expect(await writeStatus(target, late, uid, [])).toBe('written');
  expect(await writeStatus(target, early, uid, [])).toBe('newer');
  expect(await writeStatus(target, { ...late, phase: 'Failed' }, uid, [])).toBe('newer');
  expect(
    await writeStatus(target, { ...late, sequence: late.sequence + 5, phase: 'Cancelled' }, uid, []),
  ).toBe('newer');
  expect(await phaseOf(run)).toBe('Succeeded');
  await kube.delete(workflowRuns, { namespace: project, name: run });
  const other = await createObject({ ...target, store: 'store-2' }, early);
  expect(other).not.toBe(uid);
  expect(await writeStatus(target, late, uid, [])).toBe('gone');
  expect(await phaseOf(run)).toBeUndefined();
});

test.each([
  ['<', 'text that the API server writes as escapes'],
  ['\u0001', 'control characters'],
  ['€', 'text of several bytes'],
])('a run full of %j (%s) is recorded below 1 MiB, whoever made its object', async (piece) => {
  const input = JSON.stringify({ text_content: piece.repeat(130_000), data_content: null });
  const made = await kube.create(workflowRuns, {
    metadata: { namespace: project, name: 'by-hand' },
    spec: { workflow: 'orders', input: { text_content: 'x'.repeat(900_000) } },
  });
  const byHand = {
    run: 'by-hand',
    recordUid: made.metadata.uid ?? '',
    input: JSON.stringify(made.spec.input),
  };
  await accepted(store.conn, submissionOf(project, { input }));
  await accepted(store.conn, submissionOf(project, byHand));
  const text = piece.repeat(80_000);
  for (const claim of await claimed(store.conn, project)) {
    for (let count = 0; count < 12; count += 1) {
      const node = {
        ...succeededNode(`node_${count}`, text),
        phase: 'Failed' as const,
        message: text.slice(0, 5_000),
      };
      await advance(store.conn, refOf(claim), { checkpoints: [node] });
    }
    await advance(store.conn, refOf(claim), { end: { phase: 'Failed', message: text.slice(0, 5_000) } });
  }
  own.startRecorder();
  await expect.poll(waiting, SOON).toBe(0);
  const { items } = await kube.list(workflowRuns, { namespace: project });
  expect(items.map(({ status }) => status?.nodes?.length)).toEqual([12, 12]);
  for (const object of items) expect(storedBytes(object)).toBeLessThan(2 ** 20);
  expect(items.filter(({ spec }) => spec.inputTruncated)).toHaveLength(1);
  expect(log.entries).toEqual([]);
});

test('what is recorded of a workflow that was dropped leaves no key behind but the mark that expires', async () => {
  const { conn } = store;
  await accepted(conn, submissionOf(project, { dedupeKey: 'delivery-1' }));
  const ref = await claimedOne(conn, project);
  await advance(conn, ref, { end: { phase: 'Succeeded' } });
  const state = await stateOf(conn, project, ref.run);
  const keys = keysOf(project);
  const kept = [
    ...[keys.runs, keys.summarized, keys.summaries].map((key) => key('uid-orders')),
    keys.dedupe('uid-orders', state.dedupeHash ?? ''),
  ];
  await dropWorkflow(conn, project, 'uid-orders');
  await conn.command('unlink', keys.dedupe('uid-orders', state.dedupeHash ?? ''));
  expect(await recorded(conn, state, 'written')).toBe('recorded');
  expect(await conn.command('exists', ...kept)).toBe(0);
  expect(await conn.command('hkeys', keys.wf('uid-orders'))).toEqual(['deleted', 'suspended', 'limit']);
  expect(await conn.command('ttl', keys.wf('uid-orders'))).toBeGreaterThan(0);
});

test('what is recorded of a project that was closed leaves no key behind', async () => {
  const { conn } = store;
  const state = await stateOf(conn, project, await ran());
  await conn.command('unlink', keysOf(project).meta);
  expect(await recorded(conn, state, 'written')).toMatchObject({ outcome: 'unavailable', why: 'no-store' });
  expect(await conn.command('exists', keysOf(project).meta)).toBe(0);
});
