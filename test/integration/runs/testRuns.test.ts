/** Test runs beside live runs of the same workflow: limits, totals, summaries and history of their own. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { beginDeletion, deletePage, dropWorkflow } from '../../../runs/deletion.ts';
import { groupsOf } from '../../../store/groups.ts';
import { keysOf } from '../../../store/keys.ts';
import { knownRuns, listRuns } from '../../../runs/list.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { hasUnfinishedRuns, readCounts, readSummary } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { createSummarizer } from '../../../runs/record/summarize.ts';
import { submit } from '../../../runs/submit.ts';
import type { WorkflowLimits } from '../../../runs/types/limits.ts';
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
const [LIVE, TEST] = groupsOf(UID);

let store: TestStore;
let project: string;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());
beforeEach(async () => {
  project = await newProject(store.conn);
});

const limits = (changes: Partial<WorkflowLimits> = {}) =>
  setWorkflowLimits(store.conn, project, {
    workflowUid: UID,
    policy: 'Queue',
    deadlineMs: 60_000,
    ...changes,
  });
const live = (changes: Partial<Submission> = {}) => accepted(store.conn, submissionOf(project, changes));
const trial = (changes: Partial<Submission> = {}) => live({ test: true, ...changes });
const phaseOf = async (run: string) => (await stateOf(store.conn, project, run)).phase;

/** Executes all runs that are ready to their end. */
async function endAll(): Promise<void> {
  for (const claim of await claimed(store.conn, project, 50))
    await advance(store.conn, refOf(claim), { end: { phase: 'Succeeded' } });
}

test('with Replace a test run replaces a test run and no live run, and the other way round', async () => {
  await limits({ policy: 'Replace', concurrency: 1 });
  const run = await live();
  const first = await trial();
  const second = await trial();
  expect(await phaseOf(run)).toBe('Pending');
  expect(await phaseOf(first)).toBe('Cancelled');
  const newer = await live();
  expect(await phaseOf(run)).toBe('Cancelled');
  const ready = await claimed(store.conn, project);
  expect(ready.map(({ state }) => state.run)).toEqual(expect.arrayContaining([second, newer]));
});

test('a live run that waits delays no test run, and test runs have the same limit among themselves', async () => {
  await limits({ policy: 'Reject', concurrency: 1 });
  await live();
  await trial();
  expect(await submit(store.conn, submissionOf(project, { test: true }))).toEqual({
    outcome: 'rejected',
    limit: 1,
  });
  expect(await claimed(store.conn, project)).toHaveLength(2);
});

test('totals count test runs apart, and they are runs of the same workflow', async () => {
  const run = await trial();
  const claim = await claimedOne(store.conn, project);
  expect(await stateOf(store.conn, project, run)).toMatchObject({ workflowUid: UID, test: true });
  expect(await hasUnfinishedRuns(store.conn, project, UID)).toBe(true);
  await advance(store.conn, claim, { end: { phase: 'Succeeded' } });
  expect(await hasUnfinishedRuns(store.conn, project, UID)).toBe(false);
  expect(await readCounts(store.conn, project, LIVE)).toMatchObject({ succeeded: 0, active: 0 });
  expect(await readCounts(store.conn, project, TEST)).toMatchObject({ succeeded: 1, active: 0 });
});

test('a suspension refuses live runs and test runs', async () => {
  await limits({ suspended: true });
  for (const test of [false, true])
    expect(await submit(store.conn, submissionOf(project, { test }))).toEqual({ outcome: 'suspended' });
});

test('a key that came with a test run is known when it comes with a live run', async () => {
  const run = await trial({ dedupeKey: 'delivery-1' });
  const again = submissionOf(project, { dedupeKey: 'delivery-1' });
  expect(await submit(store.conn, again)).toMatchObject({ outcome: 'accepted', run, duplicate: true });
  expect(await submit(store.conn, { ...again, bodyHash: 'another' })).toMatchObject({
    outcome: 'conflict',
    run,
  });
});

test('twelve test runs that cannot be recorded take the place of no live run', async () => {
  await limits({ history: { succeeded: 2, failed: 2 } });
  const runs = [await live(), await live()];
  await endAll();
  for (let count = 0; count < 12; count += 1) await trial();
  await endAll();
  // Only runs that ended more than a second ago need no record.
  const trimmer = createSummarizer(store.conn, project);
  let gone = 0;
  await expect.poll(async () => (gone += await trimmer.trim()), { timeout: 10_000 }).toBe(10);
  for (const run of runs) expect(await phaseOf(run)).toBe('Succeeded');
});

test('lists show live runs and test runs together, newest first, also when only summaries are left', async () => {
  const runs = [await live(), await trial(), await live(), await trial()].toReversed();
  const [newest = ''] = runs;
  await endAll();
  for (const run of runs.slice(2))
    await recorded(store.conn, await stateOf(store.conn, project, run), 'written');
  const all = await listRuns(store.conn, project, UID, { limit: 10 });
  expect(all).toMatchObject(runs.map((run, at) => ({ run, test: at % 2 === 0, isSummary: at >= 2 })));
  const [first, second] = all as Exclude<typeof all, { outcome: 'unavailable' }>;
  const page = await listRuns(store.conn, project, UID, { limit: 1, after: first?.position });
  expect(page).toEqual([second]);
  expect(await knownRuns(store.conn, project, UID, [...runs, 'unknown'])).toEqual(new Set(runs));
  expect(newest).toBe(first?.run);
  for (const run of runs.slice(2))
    expect(await readSummary(store.conn, project, UID, run)).toMatchObject({ run });
});

test('the deletion of a workflow removes its live runs and its test runs, also those that wait', async () => {
  await limits({ concurrency: 1 });
  for (let count = 0; count < 3; count += 1) await live();
  for (let count = 0; count < 3; count += 1) await trial();
  expect(await beginDeletion(store.conn, project, { workflowUid: UID, name: 'orders' })).toEqual({
    outcome: 'done',
    left: 6,
  });
  for (const test of [false, true])
    expect(await submit(store.conn, submissionOf(project, { test }))).toEqual({ outcome: 'suspended' });
  const pages = [];
  for (let page = 0; page < 4; page += 1)
    pages.push(await deletePage(store.conn, project, UID, { skip: 0, size: 2 }));
  expect(pages).toMatchObject([
    { seen: 2, left: 4 },
    { seen: 1, left: 3 },
    { seen: 2, left: 1 },
    { seen: 1, left: 0 },
  ]);
  await dropWorkflow(store.conn, project, UID);
  for (const group of [LIVE, TEST]) expect(await unfinishedRuns(store.conn, project, group)).toEqual([]);
  for (const key of [keysOf(project).runs(LIVE), keysOf(project).runs(TEST)])
    expect(await store.conn.command('exists', key)).toBe(0);
});

test('a deletion passes over test runs that a runner holds, behind live runs that it holds', async () => {
  await live();
  await trial();
  await claimed(store.conn, project);
  await trial();
  await beginDeletion(store.conn, project, { workflowUid: UID, name: 'orders' });
  const seen = [];
  let skip = 0;
  for (let page = 0; page < 4; page += 1) {
    const found = await deletePage(store.conn, project, UID, { skip, size: 1 });
    if (found.outcome !== 'done') throw new Error(JSON.stringify(found));
    seen.push([found.seen, found.running, found.left]);
    skip += found.running;
  }
  expect(seen).toEqual([
    [1, 1, 3],
    [1, 1, 3],
    [1, 0, 2],
    [0, 0, 2],
  ]);
});
