/** What the operator puts into the run store of a project, and in which order. */
import type { ProjectStore } from '../../../operator/store/types.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Revision } from '../../../api/revision.ts';
import type { DeletionProgress } from '../../../operator/store/workflowDeletion.ts';
import { createProjectStore } from '../../../operator/store/projects.ts';
import type { ListPosition, ServedWorkflow } from '../../../operator/store/seed.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { keysOf } from '../../../store/keys.ts';
import type { RecordedRun } from '../../../runs/restore.ts';
import { submit } from '../../../runs/submit.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { accepted, startRunStore, submissionOf, type TestStore } from '../../support/runStore/runStore.ts';

const revision = { name: 'orders-1', revision: { steps: [] } as unknown as Revision };
const limits = { workflowUid: 'uid-orders', concurrency: 1, policy: 'Reject', deadlineMs: 60_000 } as const;

let store: TestStore;

beforeAll(async () => {
  store = await startRunStore();
}, 60_000);

afterAll(() => store?.stop());

const recordedRun = (run: string): RecordedRun => ({
  run,
  workflow: 'orders',
  workflowUid: limits.workflowUid,
  uid: `uid-${run}`,
  revision: revision.name,
  trigger: 'webhook',
  test: false,
  input: '{}',
  epoch: 1,
  sequence: 1,
  acceptedAt: 1_700_000_000_000,
  timeoutMs: 60_000,
  nodes: [],
});

/** A project store, and whether the project had its place each time that was read what its routes serve. */
function watched(project: string, routes: ServedWorkflow[]) {
  const hadPlace: boolean[] = [];
  const served = async () => {
    hadPlace.push((await store.conn.command('hexists', keysOf(project).meta, 'id')) === 1);
    return routes;
  };
  const source = { served, keys: () => [], async *unfinished() {} };
  const projects = createProjectStore(store.conn, source, { pageSize: 50 });
  return { projects, hadPlace };
}

const storedOf = async (project: string) => ({
  revision: await store.conn.command('exists', keysOf(project).revision(revision.name)),
  limit: await store.conn.command('hget', keysOf(project).wf(limits.workflowUid), 'limit'),
});

test('a store that was emptied gets the revisions before it opens, and the limits with it', async () => {
  const routes: ServedWorkflow[] = [];
  const { projects, hadPlace } = watched('emptied', routes);
  await projects.putWorkflow('emptied', { name: 'orders', revision, limits });
  routes.push({ revision, limits });
  expect(await projects.check('emptied')).toEqual({ outcome: 'done', lost: false });
  expect(hadPlace).toEqual([false]);
  await store.conn.command('flushall');
  expect(await projects.check('emptied')).toEqual({ outcome: 'done', lost: true });
  expect(hadPlace).toEqual([false, false]);
  expect(await storedOf('emptied')).toEqual({ revision: 1, limit: '1' });
  expect(await projects.check('emptied')).toEqual({ outcome: 'done', lost: false });
});

test('an operator that starts after the store was emptied knows that by the routes', async () => {
  const { projects } = watched('restarted', [{ revision, limits }]);
  expect(await projects.check('restarted')).toEqual({ outcome: 'done', lost: true });
  expect(await storedOf('restarted')).toEqual({ revision: 1, limit: '1' });
  const successor = watched('restarted', [{ revision, limits }]).projects;
  expect(await successor.check('restarted')).toEqual({ outcome: 'done', lost: false });
});

/**
 * Lets the project store delete runs until the condition is met, and answers with what it told at the end of
 * each deletion.
 */
async function deleteUntil(projects: ProjectStore, isMet: () => boolean): Promise<DeletionProgress[]> {
  const stopping = new AbortController();
  const ended: DeletionProgress[] = [];
  const watcher = { log: createCollectedLog(), onProgress: () => undefined };
  const onEnd = (progress: DeletionProgress) => void ended.push(progress);
  const running = projects.deletions.run({ ...watcher, onEnd }, stopping.signal);
  await pollUntil('the deletion', async () => isMet(), { timeoutMs: 40_000, everyMs: 1 });
  stopping.abort();
  await running;
  return ended;
}

test('the runs of a workflow that was noted as gone are deleted in the background', async () => {
  const { projects } = watched('going', []);
  await projects.putWorkflow('going', { name: 'orders', revision, limits });
  await accepted(store.conn, submissionOf('going', { workflowUid: limits.workflowUid }));
  projects.noteDeleted({ project: 'going', workflowUid: limits.workflowUid, name: 'orders' });
  expect(projects.deletions.isUnderWay('going')).toBe(true);
  const ended = await deleteUntil(projects, () => !projects.deletions.isUnderWay('going'));
  expect(ended).toMatchObject([{ name: 'orders', total: 1, left: 0 }]);
  expect(await unfinishedRuns(store.conn, 'going', limits.workflowUid)).toEqual([]);
  expect(await submit(store.conn, submissionOf('going'))).toEqual({ outcome: 'suspended' });
});

test('another operator goes on with a large deletion where the one before it stopped, and a small one does not wait for it', async () => {
  const before = watched('large', []).projects;
  await before.open('large');
  await store.conn.command('hset', keysOf('large').meta, 'quota', 2 ** 30);
  for (let count = 0; count < 2_000; count += 500)
    await Promise.all(Array.from({ length: 500 }, () => accepted(store.conn, submissionOf('large'))));
  await before.deleteWorkflow({ project: 'large', workflowUid: 'uid-orders', name: 'orders' });
  const leftBefore = () => before.deletions.list()[0]?.left ?? 0;
  await deleteUntil(before, () => leftBefore() <= 1_500);
  const left = leftBefore();
  expect(left).toBeGreaterThan(0);
  const after = watched('large', []).projects;
  expect(await after.deletions.resume('large')).toBe(true);
  const small = submissionOf('large', { workflow: 'small', workflowUid: 'uid-small' });
  await accepted(store.conn, small);
  await after.deleteWorkflow({ project: 'large', workflowUid: 'uid-small', name: 'small' });
  const ended = await deleteUntil(after, () => !after.deletions.isUnderWay('large'));
  expect(ended).toMatchObject([
    { name: 'small', total: 1, left: 0 },
    { name: 'orders', total: left, left: 0 },
  ]);
});

test('a seeding that was interrupted goes on where it was, with the limits that workflows have now', async () => {
  const projects = ['first', 'second', 'third', 'fourth'].map((run) => [{ run: recordedRun(run), revision }]);
  const read: number[] = [];
  const source = {
    served: async () => [{ revision, limits: { ...limits, suspended: read.length > 0 } }],
    keys: () => [],
    async *unfinished(_project: string, position: ListPosition) {
      for (let at = Number(position.continue ?? 0); at < projects.length; at += 1) {
        read.push(at);
        if (read.length === 3) throw new Error('the API server is away');
        yield projects[at] ?? [];
        position.continue = String(at + 1);
      }
    },
  };
  const seeded = createProjectStore(store.conn, source);
  await expect(seeded.open('broken-off')).rejects.toThrow('the API server is away');
  expect(await seeded.open('broken-off')).toEqual({ outcome: 'done' });
  expect(read).toEqual([0, 1, 2, 2, 3]);
  const runs = await unfinishedRuns(store.conn, 'broken-off', limits.workflowUid);
  expect(Array.isArray(runs) && runs.toSorted()).toEqual(['first', 'fourth', 'second', 'third']);
  expect(await submit(store.conn, submissionOf('broken-off'))).toEqual({ outcome: 'suspended' });
});

test('a project that is new has lost nothing', async () => {
  const { projects } = watched('new', []);
  await projects.putWorkflow('new', { name: 'orders', revision, limits });
  expect(await projects.check('new')).toEqual({ outcome: 'done', lost: false });
});

test('a store that was replaced by another one with a place gets everything, too', async () => {
  const { projects } = watched('replaced', [{ revision, limits }]);
  await projects.putWorkflow('replaced', { name: 'orders', revision, limits });
  await store.conn.command('flushall');
  await store.conn.command('hset', keysOf('replaced').meta, 'id', 'another');
  expect(await projects.check('replaced')).toEqual({ outcome: 'done', lost: true });
  expect(await storedOf('replaced')).toEqual({ revision: 1, limit: '1' });
});

test('a server that may have lost the end of its log gets everything again, and the project has lost nothing', async () => {
  const routes: ServedWorkflow[] = [];
  const { projects } = watched('cut', routes);
  await projects.putWorkflow('cut', { name: 'orders', revision, limits });
  routes.push({ revision, limits });
  const keys = keysOf('cut');
  await store.conn.command('unlink', keys.revision(revision.name), keys.wf(limits.workflowUid));
  expect(await projects.check('cut')).toEqual({ outcome: 'done', lost: false });
  expect(await storedOf('cut')).toEqual({ revision: 0, limit: null });
  projects.invalidateAll();
  expect(await projects.check('cut')).toEqual({ outcome: 'done', lost: false });
  expect(await storedOf('cut')).toEqual({ revision: 1, limit: '1' });
});
