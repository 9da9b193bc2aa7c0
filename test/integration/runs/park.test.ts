/**
 * Runs that wait: they hold no runner and no slot, come back when they are due, and lose none of their time.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { finish } from '../../support/runStore/calls.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { wakeDue } from '../../../runs/due.ts';
import { appendEvents, readEvents } from '../../../runs/events.ts';
import { keysOf } from '../../../store/keys.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readCounts } from '../../../runs/read.ts';
import { readWork } from '../../../runs/work.ts';
import { submit } from '../../../runs/submit.ts';
import { takeOver } from '../../../runs/takeover.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { WorkflowLimits } from '../../../runs/types/limits.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import { pollUntil } from '../../support/time/poll.ts';
import {
  accepted,
  claimed,
  claimedOne,
  newProject,
  refOf,
  startRunStore,
  stateOf,
  submissionOf,
  type TestStore,
  startedRun,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore()));
afterAll(() => store?.stop());

const waiting: NodeState = {
  id: 'a',
  phase: 'Waiting',
  attempts: 1,
  reason: 'UpstreamError',
  message: 'busy',
};
const park = (ref: ClaimRef, delayMs: number) =>
  advance(store.conn, ref, { checkpoints: [waiting], waits: [{ id: 'a', delayMs }], parkMs: delayMs });
const limits = (concurrency?: number, policy: WorkflowLimits['policy'] = 'Queue'): WorkflowLimits => ({
  workflowUid: 'uid-orders',
  policy,
  deadlineMs: 60_000,
  ...(concurrency !== undefined && { concurrency }),
});

/** Makes ready what is due, until a run can be claimed. */
const claimedWhenDue = (project: string) =>
  pollUntil(
    'a run that is due',
    async () => {
      await wakeDue(store.conn, project);
      return (await claimed(store.conn, project, 1, 'runner-2'))[0];
    },
    { timeoutMs: 20_000, everyMs: 5 },
  );

test('a parked run is Waiting, has its results and the time when it continues, and has no claim', async () => {
  const ref = await startedRun(store.conn);
  const { project } = ref;
  const before = await stateOf(store.conn, project, ref.run);
  const from = Date.now();
  expect(await park(ref, 60_000)).toEqual({ outcome: 'done', cancelRequested: false });
  const state = await stateOf(store.conn, project, ref.run);
  expect(state).toMatchObject({ phase: 'Waiting', nodes: [waiting] });
  expect(state.sequence).toBe(before.sequence + 1);
  expect(state.nodes[0]?.nextAttemptAt).toBeGreaterThanOrEqual(from + 59_990);
  expect(await wakeDue(store.conn, project)).toEqual({ outcome: 'done', nextMs: expect.closeTo(60_000, -3) });
  expect(await claimed(store.conn, project)).toEqual([]);
  expect(await unfinishedRuns(store.conn, project, 'uid-orders')).toEqual([ref.run]);
  const events = await readEvents(store.conn, project, ref.run, { limit: 10 });
  expect(Array.isArray(events) && events.map((event) => 'phase' in event && event.phase)).toEqual([
    'Running',
    'Waiting',
    'Waiting',
  ]);
});

test('a fenced runner can change nothing of a parked run, also when it is due again', async () => {
  const ref = await startedRun(store.conn);
  const { project } = ref;
  await park(ref, 1);
  expect(await park(ref, 1)).toEqual({ outcome: 'fenced' });
  const again = await claimedWhenDue(project);
  expect(again.state).toMatchObject({ run: ref.run, phase: 'Running', nodes: [waiting] });
  expect(await appendEvents(store.conn, ref, [])).toEqual({ outcome: 'fenced' });
  expect(await park(ref, 1)).toEqual({ outcome: 'fenced' });
});

test('a run is not ready before it is due, and the time until then is known', async () => {
  const project = await newProject(store.conn);
  await accepted(store.conn, submissionOf(project));
  await park(await claimedOne(store.conn, project), 300);
  const { claimedAt, state } = await claimedWhenDue(project);
  expect(claimedAt).toBeGreaterThanOrEqual(state.nodes[0]?.nextAttemptAt ?? Infinity);
  expect(await wakeDue(store.conn, project)).toEqual({ outcome: 'done', nextMs: undefined });
});

test('a run that is claimed and parks between two readings of the work counts as use of its project', async () => {
  const project = await newProject(store.conn);
  const activity = async () => {
    const work = await readWork(store.conn, project);
    if (work.outcome !== 'read') throw new Error('the run store is away');
    return work.activity;
  };
  const use = async (workflowUid: string) => {
    await accepted(store.conn, { ...submissionOf(project), workflowUid });
    await park(await claimedOne(store.conn, project), 60_000);
  };
  await use('uid-orders');
  const unused = await activity();
  const usedAt = Date.now();
  await pollUntil('another millisecond', async () => Date.now() > usedAt + 1, {
    timeoutMs: 1_000,
    everyMs: 1,
  });
  await use('uid-reports');
  const used = await activity();
  expect(used).not.toBe(unused);
  expect(await activity()).toBe(used);
});

test('waiting takes nothing of the time that a run has', async () => {
  const project = await newProject(store.conn);
  await setWorkflowLimits(store.conn, project, limits());
  await accepted(store.conn, submissionOf(project));
  const from = performance.now();
  const [first] = await claimed(store.conn, project);
  await park(refOf(first!), 400);
  const overLimitMs = performance.now() - from;
  const parked = await store.conn.command('hget', keysOf(project).run(first!.state.run), 'timeout');
  const again = await claimedWhenDue(project);
  expect(again.claimedAt - first!.claimedAt).toBeGreaterThanOrEqual(400);
  expect(again.remainingMs).toBe(Number(parked));
  // Of the time it was over the limit, and of no more.
  expect(again.remainingMs).toBeGreaterThanOrEqual(Math.floor(60_000 - overLimitMs) - 1);
});

test('a run that comes due does not go on while its workflow is suspended', async () => {
  const project = await newProject(store.conn);
  await setWorkflowLimits(store.conn, project, limits());
  await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  await setWorkflowLimits(store.conn, project, { ...limits(), suspended: true });
  await park(ref, 1);
  const parked = async () => {
    await wakeDue(store.conn, project);
    return store.conn.command('zcard', keysOf(project).parked);
  };
  await expect.poll(parked).toBe(0);
  expect(await claimed(store.conn, project)).toEqual([]);
  await setWorkflowLimits(store.conn, project, limits());
  expect((await claimedWhenDue(project)).state.run).toBe(ref.run);
});

test('a run that waits leaves its slot to the next, and takes one again before those that came later', async () => {
  const project = await newProject(store.conn);
  await setWorkflowLimits(store.conn, project, limits(1));
  const [first, second, third] = await Promise.all(
    [1, 2, 3].map(() => accepted(store.conn, submissionOf(project))),
  );
  const ref = await claimedOne(store.conn, project);
  expect(ref.run).toBe(first);
  await park(ref, 1);
  const other = await claimedOne(store.conn, project);
  expect(other.run).toBe(second);
  await pollUntil(
    'the first to be over the limit',
    async () => {
      await wakeDue(store.conn, project);
      return (await store.conn.command('zcard', keysOf(project).overLimit)) === 2;
    },
    { timeoutMs: 20_000, everyMs: 5 },
  );
  expect(await claimed(store.conn, project)).toEqual([]);
  await advance(store.conn, other, { end: { phase: 'Succeeded' } });
  const again = await claimedOne(store.conn, project);
  expect(again.run).toBe(first);
  await advance(store.conn, again, { end: { phase: 'Succeeded' } });
  await advance(store.conn, await claimedOne(store.conn, project), { end: { phase: 'Succeeded' } });
  expect(await stateOf(store.conn, project, third!)).toMatchObject({ phase: 'Succeeded' });
  const wf = await store.conn.command('hget', keysOf(project).wf('uid-orders'), 'active');
  expect(wf).toBe('0');
});

test('cancel ends a run that waits at once, with its node, and its slot is not freed twice', async () => {
  const project = await newProject(store.conn);
  await setWorkflowLimits(store.conn, project, limits(1));
  await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  await park(ref, 3_600_000);
  expect(await cancelRun(store.conn, project, ref.run)).toEqual({ outcome: 'cancelled' });
  expect(await stateOf(store.conn, project, ref.run)).toMatchObject({
    phase: 'Cancelled',
    nodes: [{ id: 'a', phase: 'Cancelled' }],
  });
  expect(await wakeDue(store.conn, project)).toEqual({ outcome: 'done', nextMs: undefined });
  expect(await store.conn.command('hget', keysOf(project).wf('uid-orders'), 'active')).toBe('0');
  expect(await readCounts(store.conn, project, 'uid-orders')).toMatchObject({ cancelled: 1, active: 0 });
});

test('a run that shall be cancelled is not parked: its runner is told to end it', async () => {
  const ref = await startedRun(store.conn);
  const { project } = ref;
  await cancelRun(store.conn, project, ref.run);
  expect(await park(ref, 60_000)).toEqual({ outcome: 'done', cancelRequested: true });
  expect(await stateOf(store.conn, project, ref.run)).toMatchObject({ phase: 'Running', nodes: [waiting] });
  expect(await advance(store.conn, ref, { end: { phase: 'Cancelled' } })).toMatchObject({ outcome: 'done' });
});

test('with Replace a newer run also replaces one that waits', async () => {
  const project = await newProject(store.conn);
  await setWorkflowLimits(store.conn, project, limits(1, 'Replace'));
  await accepted(store.conn, submissionOf(project));
  const ref = await claimedOne(store.conn, project);
  await park(ref, 3_600_000);
  const newer = await accepted(store.conn, submissionOf(project));
  expect(await stateOf(store.conn, project, ref.run)).toMatchObject({ phase: 'Cancelled' });
  expect(await unfinishedRuns(store.conn, project, 'uid-orders')).toEqual([newer]);
});

test('a thousand runs of many workflows that are due at once are all ready, and a neighbour starts next', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  for (let workflow = 0; workflow < 5; workflow += 1) {
    const changes = { workflow: `flow-${workflow}`, workflowUid: `uid-${workflow}` };
    await Promise.all(Array.from({ length: 200 }, () => submit(conn, submissionOf(project, changes))));
  }
  const claims = await claimed(conn, project, 1_000).then(async (first) => [
    ...first,
    ...(await claimed(conn, project, 1_000)),
  ]);
  expect(claims).toHaveLength(1_000);
  await Promise.all(claims.map((claim) => park(refOf(claim), 1)));
  const quiet = await accepted(
    conn,
    submissionOf(project, { workflow: 'quiet', workflowUid: 'uid-a-quiet-one' }),
  );
  await pollUntil(
    'all to be ready',
    async () => {
      await Promise.all([wakeDue(conn, project), wakeDue(conn, project)]);
      return (await conn.command('zcard', keysOf(project).ready)) === 1_001;
    },
    { timeoutMs: 20_000, everyMs: 5 },
  );
  const next = await claimed(conn, project, 6);
  expect(next.map(({ state }) => state.run)).toContain(quiet);
});

test('parked runs survive a kill of the run store', async () => {
  const ref = await startedRun(store.conn);
  const { project } = ref;
  await park(ref, 200);
  await store.redis.kill();
  await store.redis.restart();
  await store.conn.ready();
  expect((await claimedWhenDue(project)).state).toMatchObject({ run: ref.run, nodes: [waiting] });
});

test('progress before a wait resets the count of crashes', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  for (const _ of [1, 2]) {
    const ref = await claimedOne(conn, project, 'ghost');
    expect(await takeOver(conn, { ...ref, runner: 'ghost', heartbeat: '0' })).toBe('ready');
  }
  await park(await claimedOne(conn, project), 1);
  expect(await claimedWhenDue(project)).toMatchObject({ alone: false, state: { crashes: 0 } });
});

test('a clock of the store that goes back by an hour delays neither waits nor records, and no time that people read is of the future', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const { meta, unrecorded } = keysOf(project);
  // As of a server whose clock was an hour ahead.
  await conn.command('hset', meta, 'ahead', 3_600_000);
  await accepted(conn, submissionOf(project));
  await accepted(conn, submissionOf(project));
  const [first, second] = await claimed(conn, project, 2);
  await park(refOf(first!), 300);
  await wakeDue(conn, project);
  await conn.command('hset', meta, 'ahead', 0);

  const again = await claimedWhenDue(project);
  expect(again.state.run).toBe(first!.state.run);
  expect(again.claimedAt).toBeLessThan(first!.claimedAt + 20_000);
  await finish(conn, refOf(second!), { phase: 'Succeeded' });
  const due = (await conn.command('zscore', unrecorded, second!.state.run)) as string;
  expect(Number(due)).toBeLessThanOrEqual(again.claimedAt + 20_000);
  expect((await stateOf(conn, project, second!.state.run)).endedAt).toBeLessThan(Date.now() + 60_000);
});

test('a clock of the store that went back is caught up with slowly, so that its time is right again some day', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const { meta } = keysOf(project);
  const ahead = async () => Number(await conn.command('hget', meta, 'ahead'));
  await conn.command('hset', meta, 'ahead', 600_000, 'clock', Date.now() + 600_000 - 50_000);
  await wakeDue(conn, project);
  expect(await ahead()).toBeGreaterThanOrEqual(600_000 - 600);
  expect(await ahead()).toBeLessThan(600_000 - 400);
});
