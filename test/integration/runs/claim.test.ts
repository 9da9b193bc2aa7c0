/** Who gets a runner: fair between workflows, within their limits. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { keysOf } from '../../../store/keys.ts';
import { wakeDue } from '../../../runs/due.ts';
import { readEvents } from '../../../runs/events.ts';
import { handBack } from '../../../runs/handback.ts';
import { listRuns } from '../../../runs/list.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readUse } from '../../../runs/storeUse.ts';
import { readCounts } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { submit } from '../../../runs/submit.ts';
import type { WorkflowLimits } from '../../../runs/types/limits.ts';
import {
  accepted,
  claimed,
  claimedOne,
  newProject,
  refOf,
  startRunStore,
  stateOf,
  submissionOf,
  succeededNode,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const end = { end: { phase: 'Succeeded' as const } };
const limits = (policy: WorkflowLimits['policy'], concurrency?: number): WorkflowLimits => ({
  workflowUid: 'uid-orders',
  policy,
  deadlineMs: 3_600_000,
  ...(concurrency !== undefined && { concurrency }),
});

/** A new project, whose workflow `orders` has these limits. */
async function projectWith(of?: WorkflowLimits) {
  const { conn } = store;
  const project = await newProject(conn);
  if (of) await setWorkflowLimits(conn, project, of);
  return { conn, project };
}

/** Accepts so many events, one after the other. Returns their runs. */
async function acceptInOrder(project: string, count: number): Promise<string[]> {
  const runs: string[] = [];
  while (runs.length < count) runs.push(await accepted(store.conn, submissionOf(project)));
  return runs;
}

test('a workflow whose key somebody removed gets its slots back with its limits, and none of its runs stays queued over the limit', async () => {
  const { conn, project } = await projectWith();
  const counts = () => readCounts(conn, project, 'uid-orders');
  await setWorkflowLimits(conn, project, limits('Queue', 2));
  await acceptInOrder(project, 6);
  const first = await claimedOne(conn, project);
  await advance(conn, first, end);
  await recorded(conn, await stateOf(conn, project, first.run), 'written');
  await advance(conn, await claimedOne(conn, project), { parkMs: 0 });
  const running = await claimedOne(conn, project);
  await conn.command('unlink', keysOf(project).wf('uid-orders'));
  expect(await counts()).toMatchObject({ hasLimits: false });
  await accepted(conn, submissionOf(project));
  await setWorkflowLimits(conn, project, limits('Queue', 2));
  expect(await counts()).toMatchObject({ hasLimits: true, active: 6, running: 1 });
  await advance(conn, running, end);
  for (let ended = 1; ended < 6; ) {
    await wakeDue(conn, project);
    const claims = await claimed(conn, project);
    expect(claims.length).toBeLessThanOrEqual(2);
    for (const claim of claims) await advance(conn, refOf(claim), end);
    ended += claims.length;
  }
  expect(await counts()).toMatchObject({ active: 0, succeeded: 6 });
  expect(await conn.command('hget', keysOf(project).wf('uid-orders'), 'active')).toBe('0');
  const { summaries } = (await readUse(conn, project)) as { summaries: number };
  expect(await conn.command('hget', keysOf(project).wf('uid-orders'), 'summaries')).toBe(String(summaries));
});

test('behind a flood of one workflow the run of another is claimed second', async () => {
  const { conn, project } = await projectWith();
  await Promise.all(Array.from({ length: 2_000 }, () => submit(conn, submissionOf(project))));
  const other = await accepted(conn, submissionOf(project, { workflow: 'quiet', workflowUid: 'uid-quiet' }));
  const names = [await claimedOne(conn, project), await claimedOne(conn, project)].map(({ run }) => run);
  expect(names).toContain(other);
});

test('while few are ready each run is announced, and behind many none is', async () => {
  const { conn, project } = await projectWith();
  const told: (string | undefined)[] = [];
  const { ready } = keysOf(project);
  const subscription = await conn.subscriber().subscribe(ready, (entry) => told.push(entry));
  await expect.poll(() => conn.command('publish', ready, 'first')).toBe(1);
  const runs = await Promise.all(Array.from({ length: 30 }, () => accepted(conn, submissionOf(project))));
  // Messages come in the order in which they were sent: after this one no more of the runs come.
  await conn.command('publish', ready, 'last');
  await expect.poll(() => told.at(-1)).toBe('last');
  subscription.end();
  const announced = told.slice(told.indexOf('first') + 1, -1);
  expect(announced.map((entry) => entry?.split(' ')[2])).toEqual(runs.slice(0, 16));
});

test('a claim says whether more is ready, so that nobody waits who could go on', async () => {
  const { conn, project } = await projectWith();
  await Promise.all(Array.from({ length: 3 }, () => accepted(conn, submissionOf(project))));
  const claim = () => claimRuns(conn, { project, runner: 'runner-1', max: 2 });
  expect(await claim()).toMatchObject({ claims: [{}, {}], more: true });
  expect(await claim()).toMatchObject({ claims: [{}], more: false });
  expect(await claim()).toMatchObject({ claims: [], more: false });
});

test('after a claim of one run the next claim takes many', async () => {
  const { conn, project } = await projectWith();
  await Promise.all(Array.from({ length: 20 }, () => accepted(conn, submissionOf(project))));
  const claim = (max: number) => claimRuns(conn, { project, runner: 'runner-1', max });
  // The first one learns what is ready.
  expect(await claim(1)).toMatchObject({ claims: [{}] });
  expect(await claim(16)).toMatchObject({ claims: Array.from({ length: 16 }, () => ({})) });
});

test('ready runs whose keys somebody removed are counted as failed, and the others are claimed', async () => {
  const { conn, project } = await projectWith(limits('Queue', 2));
  const names = await acceptInOrder(project, 4);
  for (const name of names.slice(0, 2)) await conn.command('unlink', keysOf(project).run(name));
  const { claims } = (await claimRuns(conn, { project, runner: 'runner-1', max: 10 })) as {
    claims: { state: { run: string } }[];
  };
  expect(claims.map(({ state }) => state.run)).toEqual(names.slice(2));
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ failed: 2, running: 2 });
});

test('large runs are claimed a few at a time, in order, so that the answer is there in time', async () => {
  const { conn, project } = await projectWith();
  const runs = await acceptInOrder(project, 3);
  for (const claim of await claimed(conn, project)) {
    for (let node = 0; node < 7; node += 1)
      await advance(conn, refOf(claim), { checkpoints: [succeededNode(`n${node}`, 'x'.repeat(500_000))] });
    await handBack(conn, refOf(claim));
  }
  runs.push(await accepted(conn, submissionOf(project)));
  const rounds = [await claimed(conn, project), await claimed(conn, project)];
  expect(rounds.map((claims) => claims.map(({ state }) => state.run))).toEqual([
    runs.slice(0, 2),
    runs.slice(2),
  ]);
});

test('a claimed run is running, under an epoch that only rises, with what is left of its time', async () => {
  const { conn, project } = await projectWith(limits('Queue'));
  await accepted(conn, submissionOf(project));
  const [first] = await claimed(conn, project);
  expect(first?.state).toMatchObject({ phase: 'Running', crashes: 0 });
  expect(first?.remainingMs).toBe(3_600_000);
  if (!first) throw new Error('nothing was claimed');
  await handBack(conn, refOf(first));
  const [second] = await claimed(conn, project, 1, 'runner-2');
  expect(second?.state.run).toBe(first.state.run);
  expect(second?.state.epoch).toBeGreaterThan(first.state.epoch);
  expect(second?.state.startedAt).toBe(first.state.startedAt);
  expect(second?.remainingMs).toBeLessThanOrEqual(3_600_000);
});

test('two runners never have a claim of the same run', async () => {
  const { conn, project } = await projectWith();
  await Promise.all(Array.from({ length: 100 }, () => submit(conn, submissionOf(project))));
  const runs: string[] = [];
  const runner = async (name: string) => {
    let batch = await claimed(conn, project, 7, name);
    while (runs.length < 100) {
      runs.push(...batch.map(({ state }) => state.run));
      batch = await claimed(conn, project, 7, name);
    }
  };
  await Promise.all(Array.from({ length: 5 }, (_, index) => runner(`runner-${index}`)));
  expect(runs).toHaveLength(100);
  expect(new Set(runs).size).toBe(100);
});

test('a run handed back is the next to be claimed', async () => {
  const { conn, project } = await projectWith();
  await Promise.all(Array.from({ length: 5 }, () => submit(conn, submissionOf(project))));
  const [first, second] = await claimed(conn, project, 2);
  if (!first || !second) throw new Error('nothing was claimed');
  await handBack(conn, refOf(second));
  expect((await claimedOne(conn, project)).run).toBe(second.state.run);
});

test('over its limit a workflow waits, and each end lets the oldest go on', async () => {
  const { conn, project } = await projectWith(limits('Queue', 2));
  const runs = await acceptInOrder(project, 6);
  const order: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const batch = await claimed(conn, project);
    expect(batch).toHaveLength(2);
    expect(await claimed(conn, project)).toHaveLength(0);
    for (const claim of batch) {
      order.push(claim.state.run);
      await advance(conn, refOf(claim), end);
    }
  }
  expect(order).toEqual(runs);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 6, active: 0 });
});

test('runs that wait for their limit do not hold up another workflow', async () => {
  const { conn, project } = await projectWith(limits('Queue', 1));
  await Promise.all(Array.from({ length: 50 }, () => submit(conn, submissionOf(project))));
  const other = await accepted(conn, submissionOf(project, { workflow: 'quiet', workflowUid: 'uid-quiet' }));
  const runs = (await claimed(conn, project)).map(({ state }) => state.run);
  expect(runs).toHaveLength(2);
  expect(runs).toContain(other);
});

test('a limit that is lowered holds for what is ready already', async () => {
  const { conn, project } = await projectWith();
  await acceptInOrder(project, 5);
  await setWorkflowLimits(conn, project, limits('Queue', 1));
  const first = await claimed(conn, project);
  expect(first).toHaveLength(1);
  expect(await claimed(conn, project)).toHaveLength(0);
  for (const claim of first) await advance(conn, refOf(claim), end);
  expect(await claimed(conn, project)).toHaveLength(1);
});

test('a limit that is raised or lifted releases the runs that were queued over it', async () => {
  const { conn, project } = await projectWith(limits('Queue', 1));
  await acceptInOrder(project, 6);
  await setWorkflowLimits(conn, project, limits('Queue', 3));
  expect(await claimed(conn, project)).toHaveLength(3);
  await setWorkflowLimits(conn, project, limits('Queue'));
  expect(await claimed(conn, project)).toHaveLength(3);
});

test('a suspended workflow accepts no event and no run of it is claimed until it is resumed', async () => {
  const { conn, project } = await projectWith(limits('Queue', 3));
  const runs = await acceptInOrder(project, 4);
  const executing = await claimedOne(conn, project);
  const other = await claimedOne(conn, project);
  const counts = () => readCounts(conn, project, 'uid-orders');
  expect(await counts()).toMatchObject({ active: 4, running: 2, waiting: 2 });
  await setWorkflowLimits(conn, project, { ...limits('Queue', 3), suspended: true });
  for (const submission of [
    {},
    { test: true },
    { revision: 'orders-old' },
    { run: 'by-hand', recordUid: 'u' },
  ])
    expect(await submit(conn, submissionOf(project, submission))).toEqual({ outcome: 'suspended' });
  await handBack(conn, other);
  expect(await claimed(conn, project)).toEqual([]);
  expect(await advance(conn, executing, end)).toEqual({ outcome: 'done', cancelRequested: false });
  expect(await claimed(conn, project)).toEqual([]);
  expect(await unfinishedRuns(conn, project, 'uid-orders')).toHaveLength(3);
  expect(await counts()).toMatchObject({ active: 3, running: 0, waiting: 3, succeeded: 1 });
  const listed = await listRuns(conn, project, 'uid-orders', { limit: 10 });
  expect(Array.isArray(listed) && listed.map(({ phase }) => phase).toSorted()).toEqual([
    'Pending',
    'Pending',
    'Pending',
    'Succeeded',
  ]);
  await setWorkflowLimits(conn, project, limits('Queue', 3));
  const resumed = (await claimed(conn, project)).map(({ state }) => state.run);
  expect(resumed.toSorted()).toEqual(runs.filter((run) => run !== executing.run).toSorted());
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
});

test('a repeated event of a suspended workflow is answered with the run that it started', async () => {
  const { conn, project } = await projectWith();
  const event = submissionOf(project, { dedupeKey: 'order-1' });
  const run = await accepted(conn, event);
  await setWorkflowLimits(conn, project, { ...limits('Queue'), suspended: true });
  expect(await submit(conn, event)).toMatchObject({ outcome: 'accepted', run, duplicate: true });
});

test('a run that was handed back loses none of its time while its workflow is suspended', async () => {
  const { conn, project } = await projectWith(limits('Queue'));
  await accepted(conn, submissionOf(project));
  const ref = await claimedOne(conn, project);
  await setWorkflowLimits(conn, project, { ...limits('Queue'), suspended: true });
  await handBack(conn, ref);
  expect(await claimed(conn, project)).toEqual([]);
  const { run } = keysOf(project);
  const left = await conn.command('hget', run(ref.run), 'timeout');
  await setWorkflowLimits(conn, project, limits('Queue'));
  expect((await claimed(conn, project))[0]?.remainingMs).toBe(Number(left));
});

test('a run that is asked to end ends also while its workflow is suspended, when its runner hands it back', async () => {
  const { conn, project } = await projectWith(limits('Queue'));
  const [run, other] = [
    await accepted(conn, submissionOf(project)),
    await accepted(conn, submissionOf(project)),
  ];
  const refs = (await claimed(conn, project)).map(refOf);
  await setWorkflowLimits(conn, project, { ...limits('Queue'), suspended: true });
  expect(await cancelRun(conn, project, run)).toEqual({ outcome: 'requested' });
  for (const ref of refs) await handBack(conn, ref);
  const [again, ...more] = await claimed(conn, project);
  expect(again?.state).toMatchObject({ run, cancelRequested: true });
  expect(more).toEqual([]);
  if (again) await advance(conn, refOf(again), { end: { phase: 'Cancelled' } });
  expect(await unfinishedRuns(conn, project, 'uid-orders')).toEqual([other]);
  await setWorkflowLimits(conn, project, limits('Queue'));
  expect((await claimedOne(conn, project)).run).toBe(other);
});

test('with Reject an event over the limit is refused, and after an end one is accepted', async () => {
  const { conn, project } = await projectWith(limits('Reject', 1));
  await accepted(conn, submissionOf(project));
  expect(await submit(conn, submissionOf(project))).toEqual({ outcome: 'rejected', limit: 1 });
  await advance(conn, await claimedOne(conn, project), end);
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
});

test('with Replace a new run cancels the oldest, whether it runs or waits', async () => {
  const { conn, project } = await projectWith(limits('Replace', 1));
  const first = await accepted(conn, submissionOf(project));
  const running = await claimedOne(conn, project);
  const second = await accepted(conn, submissionOf(project));
  const third = await accepted(conn, submissionOf(project));
  expect(await stateOf(conn, project, first)).toMatchObject({ phase: 'Running', cancelRequested: true });
  const by = (run: string) => ({
    reason: 'Replaced',
    message: expect.stringContaining(`Run ${run} replaced this run`),
  });
  expect(await stateOf(conn, project, second)).toMatchObject({ phase: 'Cancelled', ...by(third) });
  expect(await claimed(conn, project)).toHaveLength(0);
  expect(
    await advance(conn, running, { starts: [{ id: 'a', attempt: 1, atMostOnce: false, at: 1 }] }),
  ).toEqual({
    outcome: 'done',
    cancelRequested: true,
  });
  await advance(conn, running, { end: { phase: 'Cancelled', reason: 'Cancelled' } });
  expect(await stateOf(conn, project, first)).toMatchObject({ phase: 'Cancelled', ...by(second) });
  const events = await readEvents(conn, project, first, { limit: 100 });
  expect(events).toContainEqual(expect.objectContaining({ type: 'run', phase: 'Cancelled', ...by(second) }));
  expect(await conn.command('exists', keysOf(project).replaced)).toBe(0);
  expect((await claimedOne(conn, project)).run).toBe(third);
});

test('a run that ends in spite of being replaced ends as it does', async () => {
  const { conn, project } = await projectWith(limits('Replace', 1));
  const first = await accepted(conn, submissionOf(project));
  const running = await claimedOne(conn, project);
  await accepted(conn, submissionOf(project));
  await advance(conn, running, { end: { phase: 'Succeeded' } });
  expect(await stateOf(conn, project, first)).toMatchObject({ phase: 'Succeeded' });
  expect(await conn.command('exists', keysOf(project).replaced)).toBe(0);
});

test('a cancelled run that no runner has claimed ends at once, and its slot is free', async () => {
  const { conn, project } = await projectWith(limits('Queue', 1));
  const ready = await accepted(conn, submissionOf(project));
  const overLimit = await accepted(conn, submissionOf(project));
  const last = await accepted(conn, submissionOf(project));
  expect(await cancelRun(conn, project, overLimit)).toEqual({ outcome: 'cancelled' });
  expect(await cancelRun(conn, project, ready)).toEqual({ outcome: 'cancelled' });
  expect(await cancelRun(conn, project, ready)).toEqual({ outcome: 'ended', phase: 'Cancelled' });
  expect(await cancelRun(conn, project, 'no-such-run')).toEqual({ outcome: 'absent' });
  expect(await unfinishedRuns(conn, project, 'uid-orders')).toEqual([last]);
  expect((await claimedOne(conn, project)).run).toBe(last);
});

test('a run that is asked to end is still asked when another runner has it', async () => {
  const { conn, project } = await projectWith();
  const run = await accepted(conn, submissionOf(project));
  const ref = await claimedOne(conn, project);
  expect(await cancelRun(conn, project, run)).toEqual({ outcome: 'requested' });
  expect(await handBack(conn, ref)).toEqual({ outcome: 'done', cancelRequested: true });
  const [again] = await claimed(conn, project);
  expect(again?.state.cancelRequested).toBe(true);
});
