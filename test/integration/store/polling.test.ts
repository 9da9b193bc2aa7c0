/** Polled triggers in a real run store: who may poll, from where, and what becomes of a cursor. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claimPoll, releasePoll, renewPoll, type ClaimedPoll } from '../../../store/polling/claim.ts';
import type { PollRef } from '../../../store/polling/triggers.ts';
import { claimPollerLease, releasePollerLease } from '../../../store/polling/pollerLease.ts';
import { readUse } from '../../../runs/storeUse.ts';
import { readWork } from '../../../runs/work.ts';
import { storeKnownItems, readKnownItems } from '../../../store/polling/knownItems.ts';
import { failPoll, movePoll } from '../../../store/polling/outcome.ts';
import { clearLost, readPoll, type PollState } from '../../../store/polling/state.ts';
import {
  dropTrigger,
  listTriggers,
  putTrigger,
  type KnownBaseline,
  type PolledTrigger,
} from '../../../store/polling/triggers.ts';
import { setQuota } from '../../support/runStore/calls.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { newProject, startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

const UID = 'uid-orders';

let store: TestStore;
let project: string;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());
beforeEach(async () => void (project = await newProject(store.conn)));

const triggerOf = (changes: Partial<PolledTrigger> = {}): PolledTrigger => ({
  workflow: 'orders',
  workflowUid: UID,
  revision: 'orders-1',
  kind: 'mail',
  fields: { credential: 'inbox' },
  intervalSeconds: 60,
  place: 'inbox',
  ...changes,
});
const put = (changes: Partial<PolledTrigger> = {}, known?: KnownBaseline) =>
  putTrigger(store.conn, project, triggerOf(changes), { known });
const claim = (pod = 'pod-1') => claimPoll(store.conn, project, UID, pod);

async function claimed(pod?: string): Promise<Extract<ClaimedPoll, { outcome: 'claimed' }>> {
  const answer = await claim(pod);
  if (answer.outcome !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(answer)}`);
  return answer;
}

async function state(): Promise<PollState | undefined> {
  const found = await readPoll(store.conn, project, UID);
  if (isUnavailable(found)) throw new Error('the run store is away');
  return found;
}

const move = (ref: PollRef, cursor: string, more = false) => movePoll(store.conn, ref, { cursor, more });
const failure = {
  failures: 1,
  delayMs: 600_000,
  reason: 'Rejected',
  message: 'The server refuses the password.',
};
/** Lets time pass for one trigger. */
const shift = async (field: string, ms: number) => {
  const key = keysOf(project).poll(UID);
  const value = Number(await store.conn.command('hget', key, field));
  await store.conn.command('hset', key, field, String(value - ms));
};

test('of many pods that try at once one polls', async () => {
  await put();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => claim(`pod-${n}`)));
  expect(answers.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
  expect(answers.filter(({ outcome }) => outcome === 'wait')).toHaveLength(19);
});

test('a claim brings the account to poll, and the cursor that the one before left', async () => {
  await put();
  const first = await claimed();
  expect(first).toMatchObject({ trigger: triggerOf(), cursor: undefined, failures: 0 });
  expect(await move(first.ref, '{"uid":7}')).toEqual({ outcome: 'done' });
  await shift('at', 60_000);
  expect(await claimed()).toMatchObject({ cursor: '{"uid":7}' });
});

test('it is due an interval after it began, or a little before', async () => {
  await put();
  await move((await claimed()).ref, 'a');
  const wait = await claim();
  expect(wait).toMatchObject({ outcome: 'wait' });
  if (wait.outcome !== 'wait') return;
  expect(wait.ms).toBeGreaterThan(50_000);
  expect(wait.ms).toBeLessThanOrEqual(55_000);
  await shift('at', wait.ms + 1);
  await claimed();
});

test('a pod that comes rarely claims what would be due before the next one, but no failing account', async () => {
  const claimAhead = (aheadMs: number) => claimPoll(store.conn, project, UID, 'pod-1', { aheadMs });
  await put({ intervalSeconds: 3_600 });
  await move((await claimed()).ref, 'a');
  expect(await claimAhead(3_500_000)).toMatchObject({ outcome: 'wait' });
  const again = await claimAhead(3_601_000);
  if (again.outcome !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(again)}`);
  await failPoll(store.conn, again.ref, failure);
  expect(await claimAhead(3_601_000)).toMatchObject({ outcome: 'wait', failures: 1 });
});

const lease = (runner = 'runner-1') => claimPollerLease(store.conn, project, runner);
const isPolling = async () => {
  const use = await readUse(store.conn, project);
  return use !== undefined && !isUnavailable(use) && use.isPolling;
};

test('one runner of a project polls at a time, and another one fifteen seconds after it died, or at once when it ends', async () => {
  expect(await lease()).toEqual({ outcome: 'none' });
  await put();
  const mine = await lease();
  expect(mine).toMatchObject({ outcome: 'claimed', triggers: [UID] });
  expect(await lease()).toEqual(mine);
  const others = await lease('runner-2');
  expect(others.outcome === 'wait' && others.ms > 10_000 && others.ms <= 15_000).toBe(true);
  expect(await isPolling()).toBe(true);
  await store.conn.command('hincrby', keysOf(project).meta, 'pollerUntil', -15_001);
  expect(await isPolling()).toBe(false);
  expect(await lease('runner-2')).toMatchObject({ outcome: 'claimed' });
  await releasePollerLease(store.conn, project, 'runner-1');
  expect(await lease()).toMatchObject({ outcome: 'wait' });
  await releasePollerLease(store.conn, project, 'runner-2');
  expect(await isPolling()).toBe(false);
  expect(await lease()).toMatchObject({ outcome: 'claimed' });
  await dropTrigger(store.conn, project, UID);
  expect(await lease()).toEqual({ outcome: 'none' });
  expect(await isPolling()).toBe(false);
});

test('a clock of the store that goes back gives nobody the lease for longer', async () => {
  await put();
  await lease();
  await store.conn.command('hincrby', keysOf(project).meta, 'pollerUntil', 86_400_000);
  expect(await lease('runner-2')).toMatchObject({ outcome: 'claimed' });
});

test('a runner learns that a trigger was changed or may work again, and one that was changed is work for sleeping runners', async () => {
  const changesOf = async () => {
    const answer = await lease();
    return answer.outcome === 'claimed' ? answer.changes : undefined;
  };
  const isWork = async () => {
    const work = await readWork(store.conn, project);
    return work.outcome === 'read' && work.isPending;
  };
  expect(await isWork()).toBe(false);
  await put();
  expect(await isWork()).toBe(true);
  const first = await changesOf();
  expect(await isWork()).toBe(false);
  await put();
  expect(await changesOf()).toBe(first);
  await failPoll(store.conn, (await claimed()).ref, failure);
  await put({ access: 'mended' });
  expect(await isWork()).toBe(false);
  const second = await changesOf();
  expect(second).not.toBe(first);
  await put({ access: 'mended', fields: { credential: 'other' } });
  expect(await isWork()).toBe(true);
  expect(await changesOf()).not.toBe(second);
});

test('what another pod claimed is free ten seconds after it was last renewed', async () => {
  await put();
  const { ref } = await claimed('pod-1');
  const claimedElsewhere = await claim('pod-2');
  expect(claimedElsewhere.outcome === 'wait' && claimedElsewhere.ms <= 10_000).toBe(true);
  await shift('until', 9_000);
  expect(await renewPoll(store.conn, ref)).toEqual({ outcome: 'done' });
  await shift('until', 9_000);
  expect(await claim('pod-2')).toMatchObject({ outcome: 'wait' });
  await shift('until', 1_001);
  expect(await claim('pod-2')).toMatchObject({ outcome: 'claimed' });
});

test('what a process before it in the same pod claimed is free at once', async () => {
  await put();
  await claimed('pod-1');
  expect(await claim('pod')).toMatchObject({ outcome: 'wait' });
  await claimed('pod-1');
});

test('whoever lost the claim changes nothing any more', async () => {
  await put();
  const { ref: old } = await claimed('pod-1');
  await shift('until', 10_001);
  const { ref } = await claimed('pod-2');
  const fenced = { outcome: 'fenced' };
  expect(await move(old, 'old')).toEqual(fenced);
  expect(await failPoll(store.conn, old, failure)).toEqual(fenced);
  expect(await renewPoll(store.conn, old)).toEqual(fenced);
  expect(await releasePoll(store.conn, old)).toEqual(fenced);
  expect(await move(ref, 'new')).toEqual({ outcome: 'done' });
  expect(await state()).toMatchObject({ cursor: 'new' });
});

test('between pages the claim stays, and whoever takes over in between goes on at once', async () => {
  await put();
  const { ref } = await claimed('pod-1');
  await move(ref, 'page-1', true);
  expect(await claim('pod-2')).toMatchObject({ outcome: 'wait' });
  await shift('until', 10_001);
  expect(await claimed('pod-2')).toMatchObject({ cursor: 'page-1' });
});

test('a clock of the store that goes back keeps nobody from looking', async () => {
  await put();
  await move((await claimed()).ref, 'a');
  await shift('at', -86_400_000);
  const ahead = await state();
  expect((ahead?.dueAt ?? 0) - (ahead?.now ?? 0)).toBeLessThanOrEqual(60_000);
  await claimed('pod-1');
  await shift('until', -86_400_000);
  await claimed('pod-2');
});

test('what was given up is due again as if nobody had polled', async () => {
  await put();
  await releasePoll(store.conn, (await claimed()).ref);
  expect(await claim('pod-2')).toMatchObject({ outcome: 'claimed' });
});

test('a failure is shown, keeps the cursor, and holds the next poll off; one that works ends it', async () => {
  await put();
  await move((await claimed()).ref, 'kept');
  await shift('at', 60_000);
  await failPoll(store.conn, (await claimed()).ref, failure);
  const { reason, message } = failure;
  const failed = await state();
  expect(failed).toMatchObject({ cursor: 'kept', failure: { reason, message, inARow: 1 } });
  expect((failed?.dueAt ?? 0) - (failed?.now ?? 0)).toBeGreaterThan(590_000);
  await shift('at', 60_000);
  expect(await claim()).toMatchObject({ outcome: 'wait', failures: 1 });
  await shift('notBefore', 600_000);
  const again = await claimed();
  expect(again).toMatchObject({ failures: 1, cursor: 'kept' });
  await move(again.ref, 'moved');
  expect(await state()).not.toHaveProperty('failure');
});

test('a trigger that was changed is due at once, whatever its interval, and the same one is not', async () => {
  await put({ intervalSeconds: 86_400 });
  await failPoll(store.conn, (await claimed()).ref, failure);
  await put({ intervalSeconds: 86_400 });
  expect(await claim()).toMatchObject({ outcome: 'wait' });
  const fields = { credential: 'mended' };
  await put({ intervalSeconds: 86_400, fields });
  const again = await claimed();
  expect(again).toMatchObject({ failures: 0, trigger: { fields } });
  await move(again.ref, 'kept');
  await put({ intervalSeconds: 86_400, fields, revision: 'orders-2' });
  await claimed();
});

test('what is changed while a poll is under way is due at once after it, and the poll says nothing of it', async () => {
  const changes = [{ place: 'other' }, { place: 'third' }];
  await put();
  for (const change of changes) {
    const { ref } = await claimed();
    await put(change);
    if (change.place === 'other') await move(ref, 'of the place before');
    else await failPoll(store.conn, ref, failure);
    const now = await state();
    expect(now).not.toHaveProperty('polledAt');
    expect(now).not.toHaveProperty('failure');
  }
  expect(await claimed()).toMatchObject({ failures: 0, trigger: { place: 'third' } });
});

test('of another place nothing is known before somebody has polled there', async () => {
  await put();
  await move((await claimed()).ref, 'kept');
  await put({ revision: 'orders-2' });
  expect(await state()).toHaveProperty('polledAt');
  await put({ revision: 'orders-2', place: 'other' });
  expect(await state()).not.toHaveProperty('polledAt');
});

test.each([
  ['is due again where its account is another', { reason: 'Rejected' }, 'claimed'],
  ['waits all the same where it has too many requests', { reason: 'RateLimited' }, 'wait'],
  ['waits all the same where a time was asked for', { reason: 'UpstreamError', isAsked: true }, 'wait'],
])('what failed %s', async (_what, said, outcome) => {
  await put({ access: 'before' });
  await failPoll(store.conn, (await claimed()).ref, { ...failure, ...said });
  await put({ access: 'before' });
  expect(await claim()).toMatchObject({ outcome: 'wait' });
  await put({ access: 'after' });
  expect(await claim()).toMatchObject({ outcome });
});

test('an account that works is polled no sooner for being in another state', async () => {
  await put({ access: 'before' });
  await move((await claimed()).ref, 'kept');
  await put({ access: 'after' });
  expect(await claim()).toMatchObject({ outcome: 'wait' });
});

test('what failed is left to those who take it', async () => {
  await put();
  await failPoll(store.conn, (await claimed()).ref, { ...failure, delayMs: 0 });
  await shift('at', 60_000);
  const well = await claimPoll(store.conn, project, UID, 'pod-1', { onlyWorking: true });
  expect(well).toEqual({ outcome: 'wait', ms: 0, failures: 1 });
  await claimed();
});

test('a burst that goes on page by page for long is not due for long', async () => {
  await put();
  await move((await claimed()).ref, 'first');
  await shift('at', 600_000);
  await shift('put', 900_000);
  await move((await claimed()).ref, 'page-1', true);
  const { dueAt = 0, now = Infinity } = (await state()) ?? {};
  expect(dueAt).toBeGreaterThan(now - 10_000);
});

test('a trigger is late by the time since which a poll should have worked: its interval after the last one that did, and at once before the first', async () => {
  await put();
  await shift('put', 30_000);
  const late = async () => Math.round(((await state())?.lateMs ?? Number.NaN) / 1_000);
  expect(await late()).toBe(30);
  await move((await claimed()).ref, 'first');
  expect(await late()).toBe(0);
  await shift('polled', 100_000);
  expect(await late()).toBe(40);
  await shift('at', 100_000);
  await failPoll(store.conn, (await claimed()).ref, failure);
  expect(await late()).toBe(40);
});

test('a trigger that is dropped takes claim and cursor with it, and a poll that goes on brings nothing back', async () => {
  await put();
  const { ref } = await claimed();
  await move(ref, 'kept', true);
  await dropTrigger(store.conn, project, UID);
  expect(await move(ref, 'late')).toEqual({ outcome: 'fenced' });
  expect(await failPoll(store.conn, ref, failure)).toEqual({ outcome: 'fenced' });
  expect(await claim()).toEqual({ outcome: 'gone' });
  expect(await listTriggers(store.conn, project)).toEqual([]);
  expect(await state()).toBeUndefined();
  expect(await store.conn.command('exists', keysOf(project).poll(UID))).toBe(0);
  await put();
  expect(await claimed()).toMatchObject({ cursor: undefined });
});

test('a store that was wiped says so, and with what the status knows the trigger goes on', async () => {
  await put();
  const { ref } = await claimed();
  await store.conn.command('unlink', keysOf(project).meta, keysOf(project).poll(UID));
  const away = { outcome: 'unavailable', why: 'no-store' };
  for (const answer of [await claim(), await move(ref, 'x'), await put()]) expect(answer).toMatchObject(away);
  project = await newProject(store.conn);
  await put({}, { cursor: 'from the status' });
  expect(await claimed()).toMatchObject({ cursor: 'from the status' });
});

test('why a cursor was given up is kept until it was told; a cursor that is there is not given up', async () => {
  await put({}, { lost: 'too large for the status' });
  expect(await state()).toMatchObject({ lost: 'too large for the status' });
  await clearLost(store.conn, project, UID, 'another reason');
  expect(await state()).toHaveProperty('lost');
  await clearLost(store.conn, project, UID, 'too large for the status');
  expect(await state()).not.toHaveProperty('lost');
  const { ref } = await claimed();
  await movePoll(store.conn, ref, { cursor: 'new', more: false, lost: 'UIDVALIDITY changed' });
  expect(await state()).toMatchObject({ cursor: 'new', lost: 'UIDVALIDITY changed' });
  await clearLost(store.conn, project, UID, 'UIDVALIDITY changed');
  await put({}, { lost: 'too large for the status' });
  expect(await state()).not.toHaveProperty('lost');
});

const remembered = async (ref: PollRef) => {
  const found = await readKnownItems(store.conn, ref);
  if (isUnavailable(found)) throw new Error('the run store is away');
  return found.bytes?.toString();
};
async function keep(ref: PollRef, text: string): Promise<string> {
  const answer = await storeKnownItems(store.conn, ref, Buffer.from(text));
  if (answer.outcome !== 'kept') throw new Error(`not kept: ${answer.outcome}`);
  return answer.name;
}
const usedBytes = async () => Number(await store.conn.command('hget', keysOf(project).meta, 'bytes'));

test('what is kept is remembered from the moment in which the cursor of the same poll is stored', async () => {
  await put();
  const { ref } = await claimed();
  const memory = await keep(ref, 'rows');
  expect(await remembered(ref)).toBeUndefined();
  await movePoll(store.conn, ref, { cursor: '1', more: true, memory });
  expect(await remembered(ref)).toBe('rows');
  await movePoll(store.conn, ref, { cursor: '2', more: true });
  expect(await remembered(ref)).toBe('rows');
});

test('what is kept counts as bytes of the project once, and no more when it is replaced, given up or dropped', async () => {
  await put();
  const before = await usedBytes();
  const { ref } = await claimed();
  await movePoll(store.conn, ref, { cursor: '1', more: true, memory: await keep(ref, 'x'.repeat(300)) });
  expect(await usedBytes()).toBe(before + 400);
  await keep(ref, 'given up');
  await keep(ref, 'y'.repeat(30));
  expect(await usedBytes()).toBe(before + 440);
  await movePoll(store.conn, ref, { cursor: '2', more: true, memory: await keep(ref, 'z'.repeat(60)) });
  expect(await usedBytes()).toBe(before + 80);
  await dropTrigger(store.conn, project, UID);
  expect(await usedBytes()).toBe(before);
  await put();
  expect(await remembered((await claimed()).ref)).toBeUndefined();
});

test('nothing is kept of one whose claim is over, or beyond what the project may hold', async () => {
  await put();
  const { ref } = await claimed();
  await setQuota(store.conn, project, (await usedBytes()) + 100);
  expect(await storeKnownItems(store.conn, ref, Buffer.alloc(300))).toEqual({ outcome: 'full' });
  await releasePoll(store.conn, ref);
  expect(await storeKnownItems(store.conn, ref, Buffer.from('x'))).toEqual({ outcome: 'fenced' });
});
