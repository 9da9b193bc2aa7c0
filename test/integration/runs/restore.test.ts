/**
 * A store that lost its data: nothing is accepted before it is seeded, and what is put back goes on from its
 * record.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { wakeDue } from '../../../runs/due.ts';
import { keysOf } from '../../../store/keys.ts';
import { openProject, storeId } from '../../../runs/project.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readCounts } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { restoreRun, type RecordedRun } from '../../../runs/restore.ts';
import { beginSeeding, openSeeded, seedKeys } from '../../../runs/seed.ts';
import { rejoin } from '../../../runs/rejoin.ts';
import { submit } from '../../../runs/submit.ts';
import { wipeProject } from '../../support/runStore/projectCopy.ts';
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
import type { NodeState } from '../../../runs/types/node.ts';
import type { Seeding } from '../../../store/lua.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const NO_STORE = { outcome: 'unavailable', why: 'no-store' };
const DONE = { outcome: 'done' };
const SUPERSEDED = { outcome: 'superseded' };
let projects = 0;

const wiped = () => `wiped-${(projects += 1)}`;

async function begun(project: string): Promise<Seeding> {
  const outcome = await beginSeeding(store.conn, project);
  if (outcome.outcome !== 'begun') throw new Error(`not begun: ${JSON.stringify(outcome)}`);
  return outcome.seeding;
}

function recordedRun(run: string, changes: Partial<RecordedRun> = {}): RecordedRun {
  return {
    run,
    uid: `uid-${run}`,
    workflow: 'orders',
    workflowUid: 'uid-orders',
    revision: 'orders-1',
    trigger: 'webhook',
    test: false,
    input: '{"text_content":"","data_content":{"item":"desk"}}',
    epoch: 5,
    sequence: 7,
    acceptedAt: 1_700_000_000_000,
    startedAt: 1_700_000_001_000,
    timeoutMs: 60_000,
    nodes: [],
    ...changes,
  };
}

test('while a store is seeded nothing is accepted and nothing claimed', async () => {
  const { conn } = store;
  const project = wiped();
  expect(await submit(conn, submissionOf(project))).toMatchObject(NO_STORE);
  const seeding = await begun(project);
  expect(await restoreRun(conn, project, recordedRun('one'), seeding)).toEqual({ outcome: 'restored' });
  expect(await submit(conn, submissionOf(project))).toMatchObject(NO_STORE);
  expect(await claimRuns(conn, { project, runner: 'r', max: 1 })).toMatchObject(NO_STORE);
  expect(await storeId(conn, project)).toBeUndefined();
  expect(await openSeeded(conn, seeding)).toMatchObject(DONE);
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
});

test('a restored run goes on from its record, and what is recorded of it from then on is newer', async () => {
  const { conn } = store;
  const project = wiped();
  const seeding = await begun(project);
  const mark = { attempt: 2, atMostOnce: true };
  const waits = { id: 'later', phase: 'Waiting', attempts: 1, nextAttemptAt: 1_700_000_009_000 } as const;
  const nodes = [
    { id: 'trigger', phase: 'Succeeded', attempts: 1, outputIsInput: true } as const,
    succeededNode('agent', 'found'),
    { id: 'mail', phase: 'Running', attempts: 2, mark } as const,
    waits,
  ];
  const reply = { status: 201, headers: {}, body: 'thanks', contentType: 'text/plain' };
  const epoch = Date.now() + 3_600_000;
  await restoreRun(conn, project, recordedRun('one', { nodes, reply, epoch }), seeding);
  await openSeeded(conn, seeding);
  const [claim] = await claimed(conn, project);
  expect(claim?.state).toMatchObject({
    run: 'one',
    phase: 'Running',
    recordedUid: 'uid-one',
    epoch: epoch + 1,
    acceptedAt: 1_700_000_000_000,
    startedAt: 1_700_000_001_000,
    reply,
  });
  const output = { text_content: '', data_content: { item: 'desk' } };
  const found = Object.fromEntries(claim?.state.nodes.map((node) => [node.id, node]) ?? []);
  expect(found).toEqual({
    trigger: { ...nodes[0], output },
    agent: nodes[1],
    mail: { id: 'mail', phase: 'Running', attempts: 2, mark },
    later: waits,
  });
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ active: 1 });
});

test('the clock goes into the epoch, and time that has passed counts', async () => {
  const { conn } = store;
  const project = wiped();
  const seeding = await begun(project);
  const before = Date.now();
  await restoreRun(conn, project, recordedRun('late', { deadlineAt: 1_700_000_061_000 }), seeding);
  await restoreRun(conn, project, recordedRun('again'), seeding);
  await openSeeded(conn, seeding);
  const claims = await claimed(conn, project);
  expect(claims.map(({ state, remainingMs }) => [state.run, remainingMs])).toEqual([
    ['late', 0],
    ['again', 60_000],
  ]);
  for (const { state } of claims) expect(state.epoch).toBeGreaterThan(before - 1_000);
});

test('runs beyond the limit are queued over it, and newer ones replace them where the workflow says so', async () => {
  const { conn } = store;
  const project = wiped();
  const seeding = await begun(project);
  const limits = { workflowUid: 'uid-orders', concurrency: 1, deadlineMs: 60_000 };
  expect(await setWorkflowLimits(conn, project, { ...limits, policy: 'Replace' })).toMatchObject(NO_STORE);
  expect(await setWorkflowLimits(conn, project, { ...limits, policy: 'Replace' }, seeding)).toEqual(DONE);
  for (const run of ['one', 'two']) await restoreRun(conn, project, recordedRun(run), seeding);
  await openSeeded(conn, seeding);
  const ref = await claimedOne(conn, project);
  expect(ref.run).toBe('one');
  expect(await claimed(conn, project)).toEqual([]);
  const newest = await accepted(conn, submissionOf(project));
  expect(await stateOf(conn, project, 'two')).toMatchObject({ phase: 'Cancelled' });
  await advance(conn, ref, { end: { phase: 'Succeeded' } });
  expect((await claimedOne(conn, project)).run).toBe(newest);
});

test('restored runs of a suspended workflow wait until it is resumed', async () => {
  const { conn } = store;
  const project = wiped();
  const seeding = await begun(project);
  const limits = { workflowUid: 'uid-orders', policy: 'Queue', deadlineMs: 60_000 } as const;
  await setWorkflowLimits(conn, project, { ...limits, suspended: true }, seeding);
  const before = recordedRun('one', { deadlineAt: Date.now() + 30_000 });
  await restoreRun(conn, project, before, seeding);
  await openSeeded(conn, seeding);
  const left = await conn.command('hget', keysOf(project).run('one'), 'timeout');
  expect(await claimed(conn, project)).toEqual([]);
  expect(await submit(conn, submissionOf(project))).toEqual({ outcome: 'suspended' });
  await setWorkflowLimits(conn, project, limits);
  const [claim] = await claimed(conn, project);
  expect(claim?.state.run).toBe('one');
  expect(claim?.remainingMs).toBe(Number(left));
});

test('a repeated event of a recorded run is that run; with another body it is a conflict', async () => {
  const { conn } = store;
  const before = await newProject(conn);
  const event = submissionOf(before, { dedupeKey: 'delivery-1', bodyHash: 'body-1' });
  const { dedupeHash: hash = '' } = await stateOf(conn, before, await accepted(conn, event));
  const project = wiped();
  const seeding = await begun(project);
  const key = { workflowUid: 'uid-orders', run: 'ended' };
  await seedKeys(conn, seeding, [{ ...key, hash, body: 'body-1' }]);
  await openSeeded(conn, seeding);
  const again = { ...event, project };
  expect(await submit(conn, again)).toMatchObject({ outcome: 'accepted', run: 'ended', duplicate: true });
  expect(await submit(conn, { ...again, bodyHash: 'body-2' })).toEqual({ outcome: 'conflict', run: 'ended' });
  const left = await conn.command('ttl', keysOf(project).dedupe('uid-orders', hash));
  expect(left).toBeGreaterThan(7 * 24 * 3600 - 60);
});

test('the key of a run that goes on has no end before its end is recorded, and any body fits one that is not known', async () => {
  const { conn } = store;
  const before = await newProject(conn);
  const event = submissionOf(before, { dedupeKey: 'delivery-2', bodyHash: 'body' });
  const { dedupeHash: hash = '' } = await stateOf(conn, before, await accepted(conn, event));
  const project = wiped();
  const seeding = await begun(project);
  await restoreRun(conn, project, recordedRun('one', { dedupe: { hash, body: '' } }), seeding);
  await openSeeded(conn, seeding);
  const dk = keysOf(project).dedupe('uid-orders', hash);
  expect(await conn.command('ttl', dk)).toBe(-1);
  expect(await submit(conn, { ...event, project })).toMatchObject({ run: 'one', duplicate: true });
  await advance(conn, await claimedOne(conn, project), { end: { phase: 'Succeeded' } });
  await recorded(conn, await stateOf(conn, project, 'one'), 'written');
  expect(await conn.command('ttl', dk)).toBeGreaterThan(0);
});

test('a run whose event is another run that goes on by now is not put back', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const event = submissionOf(project, { dedupeKey: 'delivery-3' });
  const second = await accepted(conn, event);
  const { dedupeHash: hash = '' } = await stateOf(conn, project, second);
  const first = recordedRun('first', { dedupe: { hash, body: '' } });
  expect(await restoreRun(conn, project, first)).toEqual({ outcome: 'dropped' });
  expect(await submit(conn, event)).toMatchObject({ run: second, duplicate: true });
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ active: 1 });
});

test('a run that goes on takes its key from one that is recorded and had the same key before', async () => {
  const { conn } = store;
  const before = await newProject(conn);
  const event = submissionOf(before, { dedupeKey: 'delivery-4', bodyHash: 'body' });
  const { dedupeHash: hash = '' } = await stateOf(conn, before, await accepted(conn, event));
  const project = wiped();
  const seeding = await begun(project);
  const known = { workflowUid: 'uid-orders', hash, body: 'body' };
  await seedKeys(conn, seeding, [{ ...known, run: 'ended' }]);
  await restoreRun(conn, project, recordedRun('one', { dedupe: { hash, body: 'body' } }), seeding);
  await openSeeded(conn, seeding);
  expect(await conn.command('ttl', keysOf(project).dedupe('uid-orders', hash))).toBe(-1);
  expect(await submit(conn, { ...event, project })).toEqual({
    outcome: 'accepted',
    run: 'one',
    duplicate: true,
  });
});

test('a key that was put back expires, unless its run is put back too', async () => {
  const { conn } = store;
  const project = wiped();
  const seeding = await begun(project);
  const known = (run: string) => ({ workflowUid: 'uid-orders', hash: `hash-${run}`, body: '', run });
  await seedKeys(conn, seeding, [known('lost'), known('one')]);
  await restoreRun(conn, project, recordedRun('one', { dedupe: { hash: 'hash-one', body: '' } }), seeding);
  await openSeeded(conn, seeding);
  const left = (run: string) => conn.command('ttl', keysOf(project).dedupe('uid-orders', `hash-${run}`));
  expect(await left('lost')).toBeGreaterThan(7 * 24 * 3600 - 60);
  expect(await left('one')).toBe(-1);
});

test('a seeding that was interrupted leaves nothing behind of what is not restored again', async () => {
  const { conn } = store;
  const project = wiped();
  const first = await begun(project);
  await restoreRun(conn, project, recordedRun('deleted-since'), first);
  await restoreRun(conn, project, recordedRun('one'), first);
  await setWorkflowLimits(conn, project, { workflowUid: 'gone', policy: 'Queue', deadlineMs: 1 }, first);
  await conn.command('hset', keysOf(project).callbacks, 'url', 'https://hooks.example.com');
  const second = await begun(project);
  await restoreRun(conn, project, recordedRun('one'), second);
  await openSeeded(conn, second);
  expect((await claimed(conn, project)).map(({ state }) => state.run)).toEqual(['one']);
  expect(await conn.command('exists', keysOf(project).callbacks)).toBe(1);
  expect(await conn.command('exists', keysOf(project).run('deleted-since'))).toBe(0);
  expect(await conn.command('exists', keysOf(project).wf('gone'))).toBe(0);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ active: 1 });
});

test('of two that seed at once the last that began opens the project, and the other changes nothing', async () => {
  const { conn } = store;
  const project = wiped();
  const first = await begun(project);
  const second = await begun(project);
  await restoreRun(conn, project, recordedRun('one'), second);
  const key = { workflowUid: 'uid-orders', hash: 'hash', body: '', run: 'x' };
  const late = async () => [
    await restoreRun(conn, project, recordedRun('two'), first),
    await seedKeys(conn, first, [key]),
    await openSeeded(conn, first),
  ];
  expect(await late()).toEqual([SUPERSEDED, SUPERSEDED, SUPERSEDED]);
  expect(await openSeeded(conn, second)).toMatchObject(DONE);
  expect(await late()).toEqual([SUPERSEDED, SUPERSEDED, SUPERSEDED]);
  expect(await beginSeeding(conn, project)).toMatchObject({ outcome: 'open' });
  expect((await claimed(conn, project)).map(({ state }) => state.run)).toEqual(['one']);
});

test('into an open store a run of an earlier one is restored once, and never one that this store released', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const run = recordedRun('one');
  expect(await restoreRun(conn, project, run)).toEqual({ outcome: 'restored' });
  expect(await restoreRun(conn, project, run)).toEqual({ outcome: 'exists' });
  const own = await claimedOne(conn, project);
  const { epoch } = await stateOf(conn, project, own.run);
  expect(await restoreRun(conn, project, recordedRun('two', { epoch }))).toEqual({ outcome: 'dropped' });
  expect(await restoreRun(conn, wiped(), run)).toMatchObject(NO_STORE);
  const id = await storeId(conn, project);
  if (typeof id !== 'string') throw new Error('the store has no id');
  // Created by this store, and of an epoch before it opened, as far as the record tells.
  expect(await restoreRun(conn, project, recordedRun('three', { epoch: 0, recordedBy: id }))).toEqual({
    outcome: 'dropped',
  });
});

test('a restored run is in doubt unless it only waited, until its runner has stored all that it knows', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  const [claim] = await claimed(conn, project);
  if (!claim) throw new Error('nothing was claimed');
  const { state } = claim;
  const { run, epoch, acceptedAt } = state;
  const ref = refOf(claim);
  await wipeProject(conn, project);
  expect(await advance(conn, ref, { follows: 1 })).toMatchObject(NO_STORE);
  await openProject(conn, project);
  const idleUntil = Date.now() + 60_000;
  await restoreRun(conn, project, recordedRun('waits', { idleUntil }));
  await restoreRun(conn, project, recordedRun('waited', { idleUntil: 1 }));
  await restoreRun(conn, project, recordedRun(run, { epoch: Math.min(epoch, 9), acceptedAt, sequence: 1 }));
  expect((await stateOf(conn, project, 'waits')).doubt).toBeUndefined();
  expect((await stateOf(conn, project, 'waited')).doubt).toBe(true);
  expect(await stateOf(conn, project, run)).toMatchObject({ doubt: true, restored: true });
  expect(await rejoin(conn, ref, { epoch, acceptedAt, remainingMs: 1_000 })).toEqual({ outcome: 'done' });
  expect((await claimed(conn, project)).map(({ state: { run: name } }) => name)).toEqual(['waited']);
  expect(
    await advance(conn, ref, { starts: [], follows: 1, whole: true, checkpoints: [succeededNode('a')] }),
  ).toMatchObject({ outcome: 'done' });
  const after = await stateOf(conn, project, run);
  expect([after.doubt, after.restored]).toEqual([undefined, undefined]);
});

test('a run in doubt that only waits is still in doubt after the next loss', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const idleUntil = Date.now() + 60_000;
  await restoreRun(conn, project, recordedRun('waits', { idleUntil, isInDoubt: true }));
  expect(await stateOf(conn, project, 'waits')).toMatchObject({ phase: 'Waiting', doubt: true });
});

test('a restored run that only waited is parked until the same time, with no slot, and can be cancelled', async () => {
  const { conn } = store;
  const project = wiped();
  const seeding = await begun(project);
  const limits = { workflowUid: 'uid-orders', concurrency: 1, policy: 'Queue', deadlineMs: 60_000 } as const;
  await setWorkflowLimits(conn, project, limits, seeding);
  const at = Date.now() + 3_600_000;
  const pause = { id: 'pause', phase: 'Waiting', attempts: 1, waitingFor: { time: true } } as const;
  const nodes: NodeState[] = [{ ...pause, nextAttemptAt: at }];
  for (const name of ['one', 'two'])
    await restoreRun(conn, project, recordedRun(name, { nodes, idleUntil: at }), seeding);
  await openSeeded(conn, seeding);
  const { parked, wf } = keysOf(project);
  expect(await claimed(conn, project)).toEqual([]);
  expect(await conn.command('hget', wf('uid-orders'), 'active')).toBe('0');
  expect(await stateOf(conn, project, 'one')).toMatchObject({ phase: 'Waiting', nodes });
  expect(await cancelRun(conn, project, 'two')).toEqual({ outcome: 'cancelled' });
  const entries = (await conn.command('zrange', parked, 0, -1, 'withscores')) as string[];
  expect(entries).toEqual([expect.stringMatching(/ one$/), String(at)]);
  await conn.command('zadd', parked, 0, entries[0] ?? '');
  await wakeDue(conn, project);
  expect(await claimedOne(conn, project)).toMatchObject({ run: 'one' });
});

test('the runner of a run that only waited takes it back while nobody has claimed it', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  const [claim] = await claimed(conn, project);
  if (!claim) throw new Error('nothing was claimed');
  const { run, epoch, acceptedAt } = claim.state;
  await wipeProject(conn, project);
  await openProject(conn, project);
  const recordedWait = { epoch: Math.min(epoch, 9), acceptedAt, idleUntil: Date.now() + 60_000 };
  await restoreRun(conn, project, recordedRun(run, recordedWait));
  const lost = { epoch, acceptedAt, remainingMs: 1_000 };
  expect(await rejoin(conn, refOf(claim), lost)).toEqual({ outcome: 'done' });
  await advance(conn, refOf(claim), { parkMs: 60_000 });
  expect(await rejoin(conn, refOf(claim), lost)).toEqual({ outcome: 'fenced' });
});

test('a run that has ended and left the store is not restored, whatever its record says', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const run = await accepted(conn, submissionOf(project));
  await advance(conn, await claimedOne(conn, project), { end: { phase: 'Succeeded' } });
  await recorded(conn, await stateOf(conn, project, run), 'written');
  await conn.command('unlink', keysOf(project).run(run));
  expect(await restoreRun(conn, project, recordedRun(run, { epoch: 0 }))).toEqual({ outcome: 'dropped' });
  expect(await claimed(conn, project)).toEqual([]);
});

test('a store without room takes back what was recorded, and accepts nothing new', async () => {
  const full = await startRunStore({ appendfsync: 'no', maxmemory: 4 * 1024 * 1024 });
  const { conn } = full;
  const outcome = await openProject(conn, 'neighbour');
  expect(outcome).toMatchObject(DONE);
  for (;;) {
    const input = JSON.stringify({ text_content: 'x'.repeat(100_000), data_content: null });
    if ((await submit(conn, submissionOf('neighbour', { input }))).outcome !== 'accepted') break;
  }
  const begin = await beginSeeding(conn, 'late');
  if (begin.outcome !== 'begun') throw new Error('not begun');
  for (let index = 0; index < 300; index += 1) {
    const restored = await restoreRun(conn, 'late', recordedRun(`run-${index}`), begin.seeding);
    expect(restored).toEqual({ outcome: 'restored' });
  }
  expect(await openSeeded(conn, begin.seeding)).toMatchObject(DONE);
  expect(await submit(conn, submissionOf('late'))).toMatchObject({ outcome: 'unavailable', why: 'full' });
  const ref = await claimedOne(conn, 'late');
  expect(await advance(conn, ref, { end: { phase: 'Succeeded' } })).toMatchObject(DONE);
  await full.stop();
});

test('a run of 4,100 nodes is restored and advances with 4,100 checkpoints in one step', async () => {
  const { conn } = store;
  const project = wiped();
  const seeding = await begun(project);
  const nodes = Array.from({ length: 4_100 }, (_, index) => succeededNode(`node${index}`));
  expect(await restoreRun(conn, project, recordedRun('one', { nodes }), seeding)).toEqual({
    outcome: 'restored',
  });
  await openSeeded(conn, seeding);
  const claim = await claimedOne(conn, project);
  expect((await stateOf(conn, project, 'one')).nodes).toHaveLength(4_100);
  const again = nodes.map((node) => ({ ...node, attempts: 2 }));
  expect(await advance(conn, claim, { checkpoints: again })).toMatchObject(DONE);
  const state = await stateOf(conn, project, 'one');
  expect(new Set(state.nodes.map(({ attempts }) => attempts))).toEqual(new Set([2]));
});
