/**
 * The record of a run on a real API server: complete, never behind for long, never going back, within its
 * budget.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ANNOTATION, LABEL } from '../../../api/group.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { advance } from '../../../runs/advance.ts';
import { groupOf } from '../../../store/groups.ts';
import { keysOf } from '../../../store/keys.ts';
import { openProject } from '../../../runs/project.ts';
import { putRevision } from '../../../runs/revisions.ts';
import { setQuotas, setWorkflowLimits, setWriteBudget } from '../../../runs/limits.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { readUse } from '../../../runs/storeUse.ts';
import { readCounts } from '../../../runs/read.ts';
import { readSummaries } from '../../support/runStore/calls.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { CollectedLog } from '../../support/logs/collectedLog.ts';
import type { KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import { PLAIN_REVISION } from '../../support/data/plainRevision.ts';
import { pollUntil } from '../../support/time/poll.ts';
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

const soon = { timeoutMs: 40_000, everyMs: 20 };

let harness: RecorderHarness;
let faults: KubeApiFaults;
let kube: KubeClient;
let store: TestStore;
let own: RecordedProject;
let project: string;
let log: CollectedLog;

beforeAll(async () => {
  harness = await startRecorderHarness();
  ({ faults, kube, store } = harness);
}, 600_000);
afterAll(() => harness?.stop());
beforeEach(async () => {
  own = await openRecordedProject(harness);
  ({ project, log } = own);
});
afterEach(() => own.end());

const objectOf = (run: string) => kube.find(workflowRuns, { namespace: project, name: run });
const recordedAs = (run: string, phase: string) =>
  pollUntil(
    `the record of ${run} as ${phase}`,
    async () => {
      const object = await objectOf(run);
      return object?.status?.phase === phase && object;
    },
    soon,
  );
const gone = (run: string) =>
  pollUntil(
    `the data of ${run} going`,
    async () => (await store.conn.command('hget', keysOf(project).run(run), 'dropped')) === '1',
    soon,
  );
const finished = (ref: ClaimRef, phase: 'Succeeded' | 'Failed' = 'Succeeded') =>
  advance(store.conn, ref, { end: { phase, ...(phase === 'Failed' && { reason: 'Timeout' }) } });

const warnings = (run: string) =>
  log.entries.filter(({ fields }) => (fields as { run?: string }).run === run);

async function ran(phase: 'Succeeded' | 'Failed' = 'Succeeded'): Promise<string> {
  const run = await accepted(store.conn, submissionOf(project));
  await finished(await claimedOne(store.conn, project), phase);
  return run;
}

test('a run is recorded from its start to its end, with all that its nodes produced', async () => {
  const { conn } = store;
  own.startRecorder();
  const step = {
    timeoutMs: 1,
    retry: { limit: 0, initialMs: 1, factor: 1, maxMs: 1 },
    onError: 'Fail',
  } as const;
  await putRevision(conn, project, 'orders-1', {
    trigger: { id: 'trigger', kind: 'webhook', testData: { text_content: '', data_content: {} } },
    steps: [
      { ...step, id: 'z', kind: 'response', response: { status: 200 } },
      { ...step, id: 'a', kind: 'response', response: { status: 200 } },
    ],
    edges: [],
    timeoutMs: 1,
  });
  const run = await accepted(
    conn,
    submissionOf(project, { dedupeKey: 'delivery-1', test: true, until: 'z' }),
  );
  const ref = await claimedOne(conn, project);
  await advance(conn, ref, {
    checkpoints: [{ id: 'trigger', phase: 'Succeeded', attempts: 1, outputIsInput: true }],
    starts: [{ id: 'z', attempt: 1, atMostOnce: false, at: Date.now() }],
  });
  const begun = await recordedAs(run, 'Running');
  expect(begun.spec).toEqual({
    workflow: 'orders',
    revision: 'orders-1',
    trigger: { type: 'webhook', key: 'delivery-1' },
    input: { text_content: '', data_content: { item: 'desk' } },
    test: true,
    until: 'z',
  });
  expect(begun.metadata.labels).toEqual({
    [LABEL.workflow]: 'orders',
    [LABEL.trigger]: 'webhook',
    [LABEL.test]: 'true',
  });
  expect(begun.metadata.ownerReferences).toMatchObject([
    { kind: 'Workflow', name: 'orders', uid: 'uid-orders', controller: true },
  ]);
  expect(begun.status?.nodes?.map(({ id, phase }) => [id, phase])).toEqual([
    ['trigger', 'Succeeded'],
    ['z', 'Running'],
  ]);

  const nulls = { a: null, list: [null, { b: null }], text: 'ü' };
  await advance(conn, ref, {
    checkpoints: [
      { ...succeededNode('z'), output: { text_content: 'zz', data_content: nulls } },
      { ...succeededNode('a'), output: { text_content: '', data_content: null } },
    ],
    end: { phase: 'Succeeded' },
  });
  const { status } = await recordedAs(run, 'Succeeded');
  expect(status?.nodes?.map(({ id }) => id)).toEqual(['trigger', 'z', 'a']);
  expect(status?.nodes?.[0]?.output).toEqual({ text_content: '', data_content: { item: 'desk' } });
  expect(status?.nodes?.[1]?.output).toEqual({ text_content: 'zz', data_content: nulls });
  expect(status?.nodes?.[2]?.output).toEqual({ text_content: '', data_content: null });
  expect(status?.conditions).toMatchObject([{ type: 'Succeeded', status: 'True' }]);
  await gone(run);
  const group = groupOf({ workflowUid: 'uid-orders', test: true });
  expect(await readSummaries(conn, project, group, 10)).toMatchObject([{ run, phase: 'Succeeded' }]);
});

test('beyond the limit a run that waits is in the run store alone, and is recorded when another ends', async () => {
  const { conn } = store;
  await setQuotas(conn, project, { unfinished: 2 });
  const runs: string[] = [];
  for (let count = 0; count < 3; count += 1) runs.push(await accepted(conn, submissionOf(project)));
  const nodes = [{ id: 'a', phase: 'Waiting', attempts: 1, waitingFor: { time: true } }] as const;
  const waits = [{ id: 'a', delayMs: 3_600_000 }];
  for (const claim of await claimed(conn, project, 3))
    await advance(conn, refOf(claim), { checkpoints: [...nodes], waits, parkMs: 3_600_000 });
  own.startRecorder();
  const { unrecorded, beyond } = keysOf(project);
  await expect.poll(() => conn.command('zcard', unrecorded), { timeout: 20_000 }).toBe(0);
  const objects = await Promise.all(runs.map(objectOf));
  const recordedRuns = objects.filter((object) => object !== undefined);
  expect(recordedRuns.map(({ status }) => status)).toMatchObject([
    { phase: 'Waiting', nodes: [{ waitingFor: { until: expect.any(String) } }] },
    { phase: 'Waiting' },
  ]);
  expect(await readUse(conn, project)).toMatchObject({ recorded: 2, beyond: 1 });
  const left = runs.find((_, index) => objects[index] === undefined) ?? '';
  expect(await conn.command('zrange', beyond, 0, -1)).toEqual([`uid-orders ${left}`]);
  await cancelRun(conn, project, recordedRuns[0]?.metadata.name ?? '');
  await recordedAs(left, 'Waiting');
  expect(await readUse(conn, project)).toMatchObject({ recorded: 2, beyond: 0 });
});

test('a plain run makes room for the record of another also where its runner names few keys', async () => {
  const { conn } = store;
  await setQuotas(conn, project, { unfinished: 1 });
  const runs = [await accepted(conn, submissionOf(project)), await accepted(conn, submissionOf(project))];
  const refs = (await claimed(conn, project, 2)).map((claim) => ({ ...refOf(claim), isPlain: true }));
  own.startRecorder();
  const { beyond } = keysOf(project);
  await expect.poll(() => conn.command('zcard', beyond), { timeout: 20_000 }).toBe(1);
  const objects = await Promise.all(runs.map(objectOf));
  const left = runs.find((_, index) => objects[index] === undefined) ?? '';
  for (const ref of refs.filter(({ run }) => run !== left))
    expect(await advance(conn, ref, { end: { phase: 'Succeeded' } })).toMatchObject({ outcome: 'done' });
  await recordedAs(left, 'Running');
  expect(await conn.command('zcard', beyond)).toBe(0);
});

test('a run that ends beyond the limit of unfinished runs is recorded as others are', async () => {
  await setQuotas(store.conn, project, { unfinished: 0 });
  await setWorkflowLimits(store.conn, project, {
    workflowUid: 'uid-orders',
    policy: 'Queue',
    deadlineMs: 60_000,
  });
  const run = await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  await advance(store.conn, ref, { parkMs: 3_600_000 });
  own.startRecorder();
  await expect.poll(() => store.conn.command('zcard', keysOf(project).beyond), { timeout: 20_000 }).toBe(1);
  expect(await objectOf(run)).toBeUndefined();
  await cancelRun(store.conn, project, run);
  await recordedAs(run, 'Cancelled');
  expect(await store.conn.command('zcard', keysOf(project).beyond)).toBe(0);
});

test('two recorders share the work, and no run is recorded as less than it is', async () => {
  own.startRecorder();
  own.startRecorder();
  const runs: string[] = [];
  for (let count = 0; count < 30; count += 1) runs.push(await accepted(store.conn, submissionOf(project)));
  for (const claim of await claimed(store.conn, project, 30)) {
    await advance(store.conn, refOf(claim), { checkpoints: [succeededNode('a')] });
    await finished(refOf(claim), 'Failed');
  }
  for (const run of runs) {
    const { status } = await recordedAs(run, 'Failed');
    expect(status).toMatchObject({ reason: 'Timeout', nodes: [{ id: 'a', phase: 'Succeeded' }] });
    await gone(run);
  }
  expect(await store.conn.command('zcard', keysOf(project).unrecorded)).toBe(0);
});

test('a run that was made as an object is recorded in that object', async () => {
  const made = await kube.create(workflowRuns, {
    metadata: { namespace: project, name: 'by-hand' },
    spec: { workflow: 'orders', test: true },
  });
  const uid = made.metadata.uid ?? '';
  await accepted(store.conn, submissionOf(project, { run: 'by-hand', recordUid: uid, test: true }));
  own.startRecorder();
  await finished(await claimedOne(store.conn, project));
  const object = await recordedAs('by-hand', 'Succeeded');
  expect(object.metadata.uid).toBe(uid);
  expect(object.metadata.annotations?.[ANNOTATION.recorded]).toBeUndefined();
});

test('a record that somebody deletes is not made again, and its run is cancelled', async () => {
  own.startRecorder();
  const run = await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  await recordedAs(run, 'Running');
  await kube.delete(workflowRuns, { namespace: project, name: run });
  await advance(store.conn, ref, { checkpoints: [succeededNode('a')] });
  await pollUntil(
    'the request to cancel',
    async () => (await stateOf(store.conn, project, run)).cancelRequested,
    soon,
  );
  await finished(ref);
  await gone(run);
  expect(await objectOf(run)).toBeUndefined();
});

test('a run whose record says more already is released, and the record stays', async () => {
  const run = await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  own.startRecorder();
  const { metadata } = await recordedAs(run, 'Running');
  const newer = { phase: 'Cancelled', epoch: 9_999_999_999_999, sequence: 9 };
  await kube.patch(
    workflowRuns,
    { namespace: project, name: run },
    { status: newer },
    { type: 'merge', subresource: 'status' },
  );
  await finished(ref);
  await gone(run);
  expect(await objectOf(run)).toMatchObject({ metadata: { uid: metadata.uid }, status: newer });
});

test('a run whose record is ahead of a store that went back in time ends there as it ended in the store', async () => {
  const run = await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  own.startRecorder();
  const { status } = await recordedAs(run, 'Running');
  const sequence = (status?.sequence ?? 0) + 5;
  const ahead = { status: { ...status, sequence } };
  await kube.patch(workflowRuns, { namespace: project, name: run }, ahead, {
    type: 'merge',
    subresource: 'status',
  });
  await finished(ref);
  const record = await recordedAs(run, 'Succeeded');
  expect(record.status).toMatchObject({ epoch: status?.epoch, sequence: sequence + 1 });
  await gone(run);
});

test("a run whose name another's object has is kept as a line", async () => {
  const run = await accepted(store.conn, submissionOf(project));
  await kube.create(workflowRuns, {
    metadata: { namespace: project, name: run },
    spec: { workflow: 'other' },
  });
  await finished(await claimedOne(store.conn, project));
  own.startRecorder();
  await gone(run);
  expect((await objectOf(run))?.spec.workflow).toBe('other');
  expect(await readSummaries(store.conn, project, 'uid-orders', 1)).toMatchObject([{ run }]);
});

test('while the API server is away runs wait, within the history of their workflow, and are recorded when it is back', async () => {
  const { conn } = store;
  await setWorkflowLimits(conn, project, {
    workflowUid: 'uid-orders',
    policy: 'Queue',
    deadlineMs: 60_000,
    history: { succeeded: 3, failed: 2 },
  });
  const back = faults.always(() => true, 'reset');
  own.startRecorder();
  // Of the first that was tried nobody knows whether it has an object: it is recorded in any case.
  const first = await ran();
  await pollUntil('the outage being noticed', () => warnings(first).length > 0, soon);
  const succeeded: string[] = [];
  for (let count = 0; count < 8; count += 1) succeeded.push(await ran());
  const failed = [await ran('Failed'), await ran('Failed')];
  await pollUntil(
    'the excess records going',
    async () => ((await readSummaries(conn, project, 'uid-orders', 50)) as unknown[]).length === 6,
    soon,
  );
  back();
  for (const run of [first, ...succeeded.slice(-2)]) await recordedAs(run, 'Succeeded');
  for (const run of failed) await recordedAs(run, 'Failed');
  for (const run of succeeded.slice(0, 6)) expect(await objectOf(run)).toBeUndefined();
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 9, failed: 2, active: 0 });
});

test('beyond the write budget failures are recorded first, and the totals are exact', async () => {
  const { conn } = store;
  await setWriteBudget(conn, project, 10);
  const runs = { succeeded: [] as string[], failed: [] as string[] };
  for (let count = 0; count < 120; count += 1) runs.succeeded.push(await ran());
  for (let count = 0; count < 5; count += 1) runs.failed.push(await ran('Failed'));
  own.startRecorder();
  for (const run of runs.failed) await recordedAs(run, 'Failed');
  await pollUntil(
    'all being dealt with',
    async () => (await conn.command('zcard', keysOf(project).unrecorded)) === 0,
    {
      timeoutMs: 40_000,
      everyMs: 50,
    },
  );
  const { items } = await kube.list(workflowRuns, { namespace: project });
  expect(items.length).toBeLessThan(30);
  expect(items.every(({ status }) => status?.completionTime !== undefined)).toBe(true);
  expect(await readSummaries(conn, project, 'uid-orders', 200)).toHaveLength(125);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 120, failed: 5 });
});

test('a run with more output than a record holds is recorded with what fits, marked', async () => {
  const { conn } = store;
  own.startRecorder();
  const run = await accepted(
    conn,
    submissionOf(project, {
      input: JSON.stringify({ text_content: '', data_content: { a: 'y'.repeat(400_000) } }),
    }),
  );
  const ref = await claimedOne(conn, project);
  await advance(conn, ref, {
    checkpoints: [{ id: 'trigger', phase: 'Succeeded', attempts: 1, outputIsInput: true }],
  });
  for (let count = 0; count < 15; count += 1)
    await advance(conn, ref, { checkpoints: [succeededNode(`n${count}`, 'x'.repeat(500_000))] });
  await finished(ref);
  const { status } = await recordedAs(run, 'Succeeded');
  const sizes = status?.nodes?.map(({ output }) => JSON.stringify(output).length) ?? [];
  expect(sizes).toHaveLength(16);
  expect(Math.max(...sizes)).toBeLessThan(66_000);
  expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(530_000);
  expect(status?.nodes?.every(({ truncated }) => truncated)).toBe(true);
});

test('where the store lost its data nothing goes on, and the records stay as they were', async () => {
  const { conn } = store;
  const run = await accepted(conn, submissionOf(project, { dedupeKey: 'delivery-9' }));
  own.startRecorder();
  const ref = await claimedOne(conn, project);
  await recordedAs(run, 'Running');
  await conn.command('unlink', ...Object.values(keysOf(project)).filter((key) => typeof key === 'string'));
  await conn.command('unlink', keysOf(project).run(run));
  await openProject(conn, project);
  expect(await finished(ref)).toEqual({ outcome: 'fenced' });
  expect((await objectOf(run))?.status?.phase).toBe('Running');
});

test('of a workflow that records no data the record holds neither the input nor outputs', async () => {
  const { conn } = store;
  own.startRecorder();
  await putRevision(conn, project, 'private-1', { ...PLAIN_REVISION, recordData: 'None' });
  const run = await accepted(conn, submissionOf(project, { revision: 'private-1' }));
  const ref = await claimedOne(conn, project);
  await advance(conn, ref, {
    checkpoints: [{ id: 'trigger', phase: 'Succeeded', attempts: 1, outputIsInput: true }],
    end: { phase: 'Succeeded' },
  });
  const { metadata, spec, status } = await recordedAs(run, 'Succeeded');
  expect(spec).toMatchObject({ inputRedacted: true, inputTruncated: true });
  expect(status?.nodes).toMatchObject([{ id: 'trigger', phase: 'Succeeded', redacted: true }]);
  const withHeaders = submissionOf(project, {
    revision: 'private-1',
    dedupeKey: 'with-headers',
    input: '{"text_content":"","data_content":{},"headers":{"x-a":"b"}}',
  });
  const second = await accepted(conn, withHeaders);
  await claimedOne(conn, project);
  const marked = await recordedAs(second, 'Running');
  // Only what is more than a record can hold is lost for good: the rest may be shown when the run has failed.
  expect(marked.metadata.annotations).toMatchObject({ [ANNOTATION.partialInput]: 'true' });
  expect(metadata.annotations).not.toHaveProperty([ANNOTATION.partialInput]);
  expect(JSON.stringify({ spec, status })).not.toContain('desk');
});

test('a loop is recorded with its counts, and with the items that have ended', async () => {
  own.startRecorder();
  const run = await accepted(store.conn, submissionOf(project));
  const failures = [{ index: 0, reason: 'Refused', message: 'no' }];
  const items = { total: 3, succeeded: 1, failed: 1, running: 1, failures, ended: 'Aw==' };
  const loop = { id: 'each', phase: 'Running', attempts: 1, items } as const;
  const sample = { ...succeededNode('mail'), item: 0 };
  await advance(store.conn, await claimedOne(store.conn, project), { checkpoints: [loop, sample] });
  const object = await recordedAs(run, 'Running');
  expect(object.status?.nodes).toMatchObject([
    { id: 'mail', item: 0 },
    { id: 'each', items },
  ]);
});
