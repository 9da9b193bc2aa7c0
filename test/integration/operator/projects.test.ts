/** What the operator puts into the run store of a project, and in which order. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Revision } from '../../../api/revision.ts';
import { createProjectStore } from '../../../operator/store/projects.ts';
import type { ServedWorkflow } from '../../../operator/store/seed.ts';
import { liveRuns } from '../../../runs/project.ts';
import { keysOf } from '../../../runs/keys.ts';
import { accepted, startRunStore, submissionOf, type TestStore } from '../../support/runStore.ts';

const revision = { name: 'orders-1', revision: { steps: [] } as unknown as Revision };
const limits = { workflowUid: 'uid-orders', concurrency: 1, policy: 'Reject', deadlineMs: 60_000 } as const;

let store: TestStore;

beforeAll(async () => {
  store = await startRunStore();
}, 60_000);

afterAll(() => store?.stop());

/** A project store, and whether the project had its place each time that was read what its routes serve. */
function watched(project: string, routes: ServedWorkflow[]) {
  const hadPlace: boolean[] = [];
  const served = async () => {
    hadPlace.push((await store.conn.command('hexists', keysOf(project).meta, 'id')) === 1);
    return routes;
  };
  const source = { served, keys: () => [], async *unfinished() {} };
  const projects = createProjectStore(store.conn, source);
  return { projects, hadPlace };
}

const held = async (project: string) => ({
  revision: await store.conn.command('exists', keysOf(project).rev(revision.name)),
  limit: await store.conn.command('hget', keysOf(project).wf(limits.workflowUid), 'limit'),
});

test('a store that was emptied gets the revisions before it opens, and the limits with it', async () => {
  const routes: ServedWorkflow[] = [];
  const { projects, hadPlace } = watched('emptied', routes);
  await projects.putWorkflow('emptied', { revision, limits });
  routes.push({ revision, limits });
  expect(await projects.check('emptied')).toEqual({ outcome: 'done', lost: false });
  expect(hadPlace).toEqual([false]);
  await store.conn.command('flushall');
  expect(await projects.check('emptied')).toEqual({ outcome: 'done', lost: true });
  expect(hadPlace).toEqual([false, false]);
  expect(await held('emptied')).toEqual({ revision: 1, limit: '1' });
  expect(await projects.check('emptied')).toEqual({ outcome: 'done', lost: false });
});

test('an operator that starts after the store was emptied knows that by the routes', async () => {
  const { projects } = watched('restarted', [{ revision, limits }]);
  expect(await projects.check('restarted')).toEqual({ outcome: 'done', lost: true });
  expect(await held('restarted')).toEqual({ revision: 1, limit: '1' });
  const successor = watched('restarted', [{ revision, limits }]).projects;
  expect(await successor.check('restarted')).toEqual({ outcome: 'done', lost: false });
});

test('the runs of a workflow that was noted as gone are cancelled by the next look', async () => {
  const { projects } = watched('going', []);
  await projects.putWorkflow('going', { revision, limits });
  await accepted(store.conn, submissionOf('going', { workflowUid: limits.workflowUid }));
  projects.noteGone('going', limits.workflowUid);
  expect(projects.isDraining('going')).toBe(true);
  await projects.check('going');
  expect(projects.isDraining('going')).toBe(false);
  expect(await liveRuns(store.conn, 'going', limits.workflowUid)).toEqual([]);
  expect((await held('going')).limit).toBeNull();
});

test('a project that is new has lost nothing', async () => {
  const { projects } = watched('new', []);
  await projects.putWorkflow('new', { revision, limits });
  expect(await projects.check('new')).toEqual({ outcome: 'done', lost: false });
});

test('a store that was replaced by another one with a place gets everything, too', async () => {
  const { projects } = watched('replaced', [{ revision, limits }]);
  await projects.putWorkflow('replaced', { revision, limits });
  await store.conn.command('flushall');
  await store.conn.command('hset', keysOf('replaced').meta, 'id', 'another');
  expect(await projects.check('replaced')).toEqual({ outcome: 'done', lost: true });
  expect(await held('replaced')).toEqual({ revision: 1, limit: '1' });
});

test('a server that may have lost the end of its log gets everything again, and the project has lost nothing', async () => {
  const routes: ServedWorkflow[] = [];
  const { projects } = watched('cut', routes);
  await projects.putWorkflow('cut', { revision, limits });
  routes.push({ revision, limits });
  const { rev, wf } = keysOf('cut');
  await store.conn.command('unlink', rev(revision.name), wf(limits.workflowUid));
  expect(await projects.check('cut')).toEqual({ outcome: 'done', lost: false });
  expect(await held('cut')).toEqual({ revision: 0, limit: null });
  projects.doubt();
  expect(await projects.check('cut')).toEqual({ outcome: 'done', lost: false });
  expect(await held('cut')).toEqual({ revision: 1, limit: '1' });
});
