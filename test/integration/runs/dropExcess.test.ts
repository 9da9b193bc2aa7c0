/** Ended runs that need no record are dropped together as if they were dropped one after the other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { dropExcess } from '../../../runs/record/dropExcess.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { RunEnd } from '../../../runs/types/result.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { finish } from '../../support/runStore/calls.ts';
import {
  accepted,
  claimed,
  newProject,
  refOf,
  startRunStore,
  stateOf,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const KEPT = 3;

/** Runs that ended two seconds ago, in the order in which they were accepted. */
async function endedRuns(changes: readonly Partial<Submission>[], end: RunEnd) {
  const { conn } = store;
  const project = await newProject(conn, 2 ** 30);
  const history = { succeeded: KEPT, failed: KEPT };
  await setWorkflowLimits(conn, project, {
    workflowUid: 'uid-orders',
    policy: 'Queue',
    deadlineMs: 60_000,
    history,
  });
  const names: string[] = [];
  for (const change of changes) names.push(await accepted(conn, submissionOf(project, change)));
  for (const claim of await claimed(conn, project, 100)) await finish(conn, refOf(claim), end);
  const { run } = keysOf(project);
  for (const name of names) await conn.command('hincrby', run(name), 'ended', -2_000);
  return { project, states: await Promise.all(names.map((name) => stateOf(conn, project, name))) };
}

/** What is left of the runs and their project. */
async function contentOf(project: string, states: readonly RunState[]) {
  const { conn } = store;
  const keys = keysOf(project);
  const { wf, runs, summarized, summaries } = keys;
  const group = 'uid-orders';
  const places = states.map(async ({ run }) => [
    await conn.command('hget', keys.run(run), 'dropped'),
    Number(await conn.command('pttl', keys.run(run))) > 0,
    typeof (await conn.command('zscore', keys.unrecorded, run)),
    typeof (await conn.command('zscore', runs(group), run)),
    typeof (await conn.command('zscore', summarized(group), run)),
    typeof (await conn.command('hget', summaries(group), run)),
  ]);
  const names = ['waiting:Succeeded', 'waiting:Failed', 'waiting:Cancelled', 'summaries'];
  return {
    places: await Promise.all(places),
    meta: await conn.command('hmget', keys.meta, 'bytes', 'summaries', 'keys'),
    totals: await conn.command('hmget', wf(group), ...names),
  };
}

const plain = (count: number) => Array.from({ length: count }, () => ({}));

test.each<[what: string, changes: Partial<Submission>[], end: RunEnd]>([
  ['more than the history keeps', plain(8), { phase: 'Succeeded' }],
  ['no more than it keeps', plain(KEPT), { phase: 'Cancelled' }],
  ['some with dedupe keys', [{}, { dedupeKey: 'a' }, {}, {}, { dedupeKey: 'b' }, {}], { phase: 'Succeeded' }],
  ['failed ones', plain(6), { phase: 'Failed', reason: 'NodeFailed', message: 'no' }],
])('runs are dropped together as one by one: %s', async (_what, changes, end) => {
  const [apart, together] = [await endedRuns(changes, end), await endedRuns(changes, end)];
  const expected = [];
  for (const state of apart.states.filter(isSimple))
    expected.push(await recorded(store.conn, state, 'excess'));
  for (const state of apart.states.filter((one) => !isSimple(one)))
    expected.push(await recorded(store.conn, state, 'excess'));
  const found = await dropExcess(store.conn, together.states);
  expect(countsOf(found)).toEqual(countsOf(expected));
  const content = await contentOf(together.project, together.states);
  expect(content).toEqual(await contentOf(apart.project, apart.states));
});

/** How often each outcome occurs. */
function countsOf(outcomes: readonly unknown[]) {
  const groups = Object.groupBy(outcomes, String);
  return Object.fromEntries(Object.entries(groups).map(([what, all]) => [what, all?.length]));
}

function isSimple({ dedupeHash }: RunState): boolean {
  return dedupeHash === undefined;
}

test('a run that has advanced since it was read, or has begun to be recorded, is not dropped', async () => {
  const { conn } = store;
  const { project, states } = await endedRuns(plain(8), { phase: 'Succeeded' });
  const { run } = keysOf(project);
  const [advanced, begun] = states.map((state) => run(state.run));
  await conn.command('hincrby', advanced ?? '', 'sequence', 1);
  await conn.command('hset', begun ?? '', 'creating', 'an attempt');
  const found = await dropExcess(conn, states);
  expect(countsOf(found)).toEqual({ recorded: 5, kept: 3 });
});

test('a run whose end the store has lost is kept, beside others that are dropped', async () => {
  const { conn } = store;
  const { project, states } = await endedRuns(plain(8), { phase: 'Succeeded' });
  const { run } = keysOf(project);
  const lost = states[0]?.run ?? '';
  await conn.command('hdel', run(lost), 'ended');
  await conn.command('hset', run(lost), 'phase', 'Running');
  const known = await Promise.all(states.map((state) => stateOf(conn, project, state.run)));
  expect(countsOf(await dropExcess(conn, known))).toEqual({ recorded: 5, kept: 3 });
  expect(await conn.command('hget', run(lost), 'dropped')).toBeNull();
});

test('a call drops a bounded number of runs', async () => {
  const calls: number[] = [];
  const counting: RunStoreConnection = {
    ...store.conn,
    script: (script, keys, args) => {
      calls.push(keys.length - script.keys.length);
      return store.conn.script(script, keys, args);
    },
  };
  const { states } = await endedRuns(plain(60), { phase: 'Succeeded' });
  expect(await dropExcess(counting, states)).toHaveLength(60);
  expect(calls).toEqual([50, 10]);
});
