/**
 * `remove_duplicates` in runners: each item passes in one run, whatever repeats, crashes or happens at the
 * same time.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Runner } from '../../../runner/runner.ts';
import { startNode } from '../../support/runStore/calls.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { takeOver } from '../../../runs/takeover.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { keysOf } from '../../../store/keys.ts';
import { openTestProject, startTestRunner, type TestProject } from '../../support/runner/runnerProject.ts';
import { startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

let store: TestStore;
let project: TestProject;
const runners: Runner[] = [];

beforeAll(async () => {
  store = await startRunStore({ appendfsync: 'no' });
  project = await openTestProject(store.conn);
});
afterAll(async () => {
  await Promise.all(runners.map((runner) => runner.stop(0)));
  await store?.stop();
});

const trigger = { id: 'trigger', webhook: { path: 'feed' } };
const unseen = {
  id: 'unseen',
  skill: {
    name: 'remove_duplicates',
    parameters: { items: "{{ $('trigger').data_content.items }}", key: 'id' },
  },
};
const after = { id: 'after', response: { body: "{{ $('unseen').data_content }}" } };

const items = (...ids: number[]) => ({ items: ids.map((id) => ({ id })) });

function passed(state: RunState): number[] {
  const output = state.nodes.find(({ id }) => id === 'unseen')?.output;
  return ((output?.data_content ?? { items: [] }) as ReturnType<typeof items>).items.map(({ id }) => id);
}

function start(): void {
  runners.push(startTestRunner(store.conn, project.uid, { runner: `runner-${runners.length}` }));
}

async function stop(): Promise<void> {
  await Promise.all(runners.splice(0).map((runner) => runner.stop(0)));
}

test('a runner that dies within the step drops no item, and the next run passes none of them again', async () => {
  const revision = await project.deploy([trigger, unseen, after]);
  const run = await project.send(revision, items(1, 2));
  const claimed = await claimRuns(store.conn, { project: project.uid, runner: 'ghost', max: 1 });
  const [claim] = claimed.outcome === 'claimed' ? claimed.claims : [];
  const ref = { project: project.uid, run, token: claim?.token ?? '' };
  await startNode(store.conn, ref, { id: 'unseen', attempt: 1, atMostOnce: false, at: Date.now() });
  expect(await takeOver(store.conn, { ...ref, runner: 'ghost', heartbeat: '0' })).toBe('ready');
  start();
  const state = await project.ended(run);
  expect(passed(state)).toEqual([1, 2]);
  expect(state.reply?.body).toBe('{"items":[{"id":1},{"id":2}],"count":2,"duplicates":0}');
  const next = await project.ended(await project.send(revision, items(2, 3)));
  expect(passed(next)).toEqual([3]);
  await stop();
});

test('of many runs at a time that bring the same items each item passes in one', async () => {
  const revision = await project.deploy([trigger, unseen, after]);
  const runs = await Promise.all(
    Array.from({ length: 40 }, (_, at) => project.send(revision, items(at, at + 1, at + 2, at % 5))),
  );
  start();
  start();
  const states = await Promise.all(runs.map((run) => project.ended(run)));
  expect(states.map(({ phase }) => phase)).toEqual(runs.map(() => 'Succeeded'));
  const all = states.flatMap(passed);
  expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 42 }, (_, at) => at));
  await stop();
});

test('a retry of the run passes its items again, a test run remembers none', async () => {
  const revision = await project.deploy([trigger, unseen, after]);
  start();
  const tried = await project.ended(await project.send(revision, items(1), { test: true }));
  expect(passed(tried)).toEqual([1]);
  const first = await project.send(revision, items(1, 2));
  expect(passed(await project.ended(first))).toEqual([1, 2]);
  const again = await project.ended(await project.send(revision, items(1, 2, 3), { retryOf: first }));
  expect(passed(again)).toEqual([1, 2, 3]);
  const shown = await project.ended(await project.send(revision, items(1, 4), { test: true }));
  expect(passed(shown)).toEqual([4]);
  expect(await store.conn.command('zcard', keysOf(project.uid).seen(revision, 'unseen'))).toBe(3);
  await stop();
});

test('a step that fails remembers nothing', async () => {
  const revision = await project.deploy([trigger, unseen, after]);
  start();
  const failed = await project.ended(await project.send(revision, { items: [{ id: 1 }, {}] }));
  expect(failed).toMatchObject({ phase: 'Failed', reason: 'NodeFailed' });
  expect(failed.message).toContain('the key of items[1] does not exist');
  expect(passed(await project.ended(await project.send(revision, items(1))))).toEqual([1]);
  await stop();
});
