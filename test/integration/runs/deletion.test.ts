/** Deleting a workflow's runs: page by page, whatever they wait for, beside neighbours that go on. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { beginDeletion, deletePage, deletionsUnderWay, dropWorkflow } from '../../../runs/deletion.ts';
import { handBack } from '../../../runs/handback.ts';
import { keysOf } from '../../../store/keys.ts';
import { forEachPage, newScan } from '../../../store/scan.ts';
import { closeProjects } from '../../../runs/project.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { trimSummaries } from '../../../runs/record/summaries.ts';
import { submit } from '../../../runs/submit.ts';
import type { Submission } from '../../../runs/types/submission.ts';
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
} from '../../support/runStore/runStore.ts';

const UID = 'uid-orders';
const NEIGHBOUR = { workflow: 'mails', workflowUid: 'uid-mails' };
const orders = { workflowUid: UID, name: 'orders' };

let store: TestStore;
let project: string;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());
beforeEach(async () => {
  project = await newProject(store.conn);
});

const event = (changes: Partial<Submission> = {}) => accepted(store.conn, submissionOf(project, changes));
const events = (count: number, changes: Partial<Submission> = {}) =>
  Promise.all(Array.from({ length: count }, () => event(changes)));
const limits = (concurrency?: number) =>
  setWorkflowLimits(store.conn, project, {
    workflowUid: UID,
    policy: 'Queue',
    deadlineMs: 60_000,
    ...(concurrency !== undefined && { concurrency }),
  });

/** Takes pages until one is empty; answers with how many runs each saw. */
async function deletePages(size: number): Promise<{ seen: number[]; left: number }> {
  const seen: number[] = [];
  let skip = 0;
  for (;;) {
    const page = await deletePage(store.conn, project, UID, { skip, size });
    if (page.outcome !== 'done') throw new Error(JSON.stringify(page));
    if (page.seen === 0) return { seen, left: page.left };
    seen.push(page.seen);
    skip += page.running;
  }
}

/**
 * What the store holds of a project, beside totals and marks of workflows: the names of its keys without the
 * project's part.
 */
async function keysLeft(): Promise<string[]> {
  const { prefix } = keysOf(project);
  const keys = (await store.conn.command('keys', `${prefix}*`)) as string[];
  return keys.map((key) => key.slice(prefix.length)).toSorted();
}

const bytes = async () => Number(await store.conn.command('hget', keysOf(project).meta, 'bytes'));

test('runs that are ready, over the limit, parked or ended go page by page; those of a neighbour in the project go on', async () => {
  const { conn } = store;
  await limits(30);
  await events(20);
  for (let count = 0; count < 20; count += 1) await event({ dedupeKey: `delivery-${count}` });
  const [first, ...others] = (await claimed(conn, project, 10)).map(refOf);
  if (!first) throw new Error('nothing was claimed');
  await advance(conn, first, { end: { phase: 'Succeeded' } });
  for (const ref of others) await advance(conn, ref, { parkMs: 600_000 });
  const own = await bytes();
  const kept = await events(3, NEIGHBOUR);
  const all = await bytes();
  await beginDeletion(conn, project, orders);
  const { seen, left } = await deletePages(15);
  expect(seen).toEqual([15, 15, 10]);
  expect(left).toBe(0);
  expect(await dropWorkflow(conn, project, UID)).toEqual({ outcome: 'done' });
  expect(await bytes()).toBe(all - own);
  const { overLimit, parked, unrecorded, dedupe } = keysOf(project);
  for (const key of [overLimit, parked, unrecorded]) expect(await conn.command('zcard', key)).toBe(0);
  expect(await conn.command('keys', dedupe(UID, '*'))).toEqual([]);
  expect(await conn.command('hget', keysOf(project).meta, 'keys')).toBe('0');
  expect((await claimed(conn, project)).map(({ state }) => state.run)).toEqual(kept);
});

test('a run that a runner executes is asked to end, and the page goes on behind it', async () => {
  const { conn } = store;
  await events(5);
  const ref = await claimedOne(conn, project);
  await beginDeletion(conn, project, orders);
  expect(await deletePages(2)).toEqual({ seen: [2, 2, 1], left: 1 });
  expect(await advance(conn, ref, { end: { phase: 'Cancelled' } })).toMatchObject({ outcome: 'done' });
  expect(await deletePages(2)).toEqual({ seen: [1], left: 0 });
});

test('a run that its runner hands back instead of ending it goes with the next page', async () => {
  const { conn } = store;
  await event();
  const ref = await claimedOne(conn, project);
  await beginDeletion(conn, project, orders);
  expect(await deletePages(2)).toMatchObject({ left: 1 });
  expect(await handBack(conn, ref)).toEqual({ outcome: 'done', cancelRequested: true });
  expect(await deletePages(2)).toMatchObject({ left: 0 });
  expect(await claimed(conn, project)).toEqual([]);
  expect(await conn.command('smembers', keysOf(project).cancels)).toEqual([]);
});

test('a run with an object waits until its end is recorded, and leaves nothing then', async () => {
  const { conn } = store;
  const run = await event({ run: 'by-hand', recordUid: 'uid-1' });
  await beginDeletion(conn, project, orders);
  // Whoever lets runners sleep is told that there is a record to write.
  const announced = Promise.withResolvers<string>();
  const messages = await conn
    .subscriber()
    .subscribe(keysOf(project).unrecorded, (text) => text !== undefined && announced.resolve(text));
  expect(await deletePages(2)).toMatchObject({ left: 0 });
  expect(await announced.promise).toBe('');
  messages.end();
  await dropWorkflow(conn, project, UID);
  const state = await stateOf(conn, project, run);
  expect(state).toMatchObject({ phase: 'Cancelled', reason: 'Cancelled' });
  expect(await conn.command('zrange', keysOf(project).unrecorded, 0, -1)).toEqual([run]);
  expect(await recorded(conn, state, 'written')).toBe('recorded');
  await conn.command('unlink', keysOf(project).run(run), keysOf(project).events(run));
  const left = (await keysLeft()).filter((key) => !key.startsWith('dk:'));
  expect(left).toEqual(['expiring', 'meta', `wf:${UID}`, `wf:${UID}.test`]);
  expect(await bytes()).toBe(0);
});

test('whoever waits for a run that was deleted is told that it was cancelled', async () => {
  const { conn } = store;
  const run = await event();
  await beginDeletion(conn, project, orders);
  await deletePages(2);
  expect(await stateOf(conn, project, run)).toMatchObject({ phase: 'Cancelled' });
  expect(await conn.command('ttl', keysOf(project).run(run))).toBeGreaterThan(0);
  expect(await conn.command('ttl', keysOf(project).events(run))).toBeGreaterThan(0);
});

test('of a deleted workflow no event is accepted and no run starts, also where its limits are set again, and after the last one', async () => {
  const { conn } = store;
  await events(2);
  expect(await beginDeletion(conn, project, orders)).toEqual({ outcome: 'done', left: 2 });
  const isClosed = async () => {
    await limits();
    expect(await submit(conn, submissionOf(project))).toEqual({ outcome: 'suspended' });
    expect(await claimed(conn, project)).toEqual([]);
  };
  await isClosed();
  await deletePages(2);
  await dropWorkflow(conn, project, UID);
  await isClosed();
  const ttl = Number(await conn.command('ttl', keysOf(project).wf(UID)));
  expect(ttl).toBeGreaterThan(200);
});

test('a deletion that was interrupted is known by name until it has ended', async () => {
  const { conn } = store;
  await beginDeletion(conn, project, orders);
  await beginDeletion(conn, project, { workflowUid: UID, name: '' });
  expect(await deletionsUnderWay(conn, project)).toEqual([orders]);
  await dropWorkflow(conn, project, UID);
  expect(await deletionsUnderWay(conn, project)).toEqual([]);
});

test('a workflow whose summaries have all been removed is deleted, and its project is charged with none', async () => {
  const { conn } = store;
  const run = await event();
  await advance(conn, await claimedOne(conn, project), { end: { phase: 'Succeeded' } });
  await recorded(conn, await stateOf(conn, project, run), 'written');
  expect(await trimSummaries(conn, project, UID, 0)).toEqual({ outcome: 'done' });
  await beginDeletion(conn, project, orders);
  expect(await dropWorkflow(conn, project, UID)).toEqual({ outcome: 'done' });
  expect(await conn.command('hget', keysOf(project).meta, 'summaries')).toBe('0');
});

test('of runs that somebody removed by hand a deletion leaves no entry, wherever they waited', async () => {
  const { conn } = store;
  await limits(2);
  const runs = await events(3);
  await advance(conn, await claimedOne(conn, project), { parkMs: 600_000 });
  await conn.command('unlink', ...runs.map(keysOf(project).run));
  await beginDeletion(conn, project, orders);
  expect(await deletePages(2)).toMatchObject({ left: 0 });
  await dropWorkflow(conn, project, UID);
  expect(await keysLeft()).toEqual(['beats', 'meta', `wf:${UID}`, `wf:${UID}.test`]);
});

test('closed projects go in one scan, and others keep all that they have', async () => {
  const { conn } = store;
  const gone = [project, await newProject(conn)];
  const other = await newProject(conn);
  for (const uid of [...gone, other]) await accepted(conn, submissionOf(uid));
  expect(await closeProjects(conn, gone)).toEqual({ outcome: 'done' });
  for (const uid of gone) expect(await conn.command('keys', `${keysOf(uid).prefix}*`)).toEqual([]);
  expect(await unfinishedRuns(conn, other, UID)).toHaveLength(1);
});

test('a scan that was interrupted goes on with the page that was not visited to its end', async () => {
  const { conn } = store;
  for (let page = 0; page < 4; page += 1) await events(400);
  const scan = newScan();
  const pages: string[][] = [];
  const visit = async (names: string[]) => {
    pages.push(names);
    if (pages.length === 2) throw new Error('broken off');
  };
  await expect(forEachPage(conn, `${keysOf(project).prefix}*`, visit, scan)).rejects.toThrow('broken off');
  await forEachPage(conn, `${keysOf(project).prefix}*`, visit, scan);
  const [first = [], broken, again, ...rest] = pages;
  expect(again).toEqual(broken);
  expect(rest.length).toBeGreaterThan(0);
  const seen = new Set([...first, ...(again ?? []), ...rest.flat()]);
  expect([...seen].toSorted()).toEqual(
    ((await conn.command('keys', `${keysOf(project).prefix}*`)) as string[]).toSorted(),
  );
  expect(rest.flat()).not.toContain(first[0]);
});
