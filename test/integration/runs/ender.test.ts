/** Runs that end in one turn of the event loop end as if they had ended one after the other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunWriter } from '../../../runner/writer.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { createEnder } from '../../../runs/ender.ts';
import { handBack } from '../../../runs/handback.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readCounts } from '../../../runs/read.ts';
import type { Advance } from '../../../runs/types/advance.ts';
import type { Claim } from '../../../runs/types/claim.ts';
import type { WorkflowLimits } from '../../../runs/types/limits.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import { Unanswered } from '../../../store/callErrors.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { startCluster } from '../../support/runStore/cluster.ts';
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

const done = { outcome: 'done', cancelRequested: false };
const reply = { status: 200, headers: {}, body: 'fine', contentType: 'text/plain' };
const lastStep = (text = 'done'): Advance => ({
  checkpoints: [succeededNode('a', text), succeededNode('b')],
  reply,
  end: { phase: 'Succeeded' },
});

/** Runs with the names `run-1`, `run-2` and so on, claimed. */
async function startedRuns(
  conn: RunStoreConnection,
  changes: readonly Partial<Submission>[],
  limits: Partial<WorkflowLimits> = {},
) {
  const project = await newProject(conn, 2 ** 30);
  const uids = new Set(changes.map(({ workflowUid = 'uid-orders' }) => workflowUid));
  for (const workflowUid of uids)
    await setWorkflowLimits(conn, project, { workflowUid, policy: 'Queue', deadlineMs: 60_000, ...limits });
  for (const [index, change] of changes.entries())
    await accepted(conn, submissionOf(project, { run: `run-${index + 1}`, ...change }));
  return { project, claims: await claimed(conn, project, 100) };
}

/** What a runner does: writers of one connection that end runs together, or each by itself. */
function writersOf(conn: RunStoreConnection, claims: readonly Claim[], isTogether = true): RunWriter[] {
  const endTogether = isTogether ? createEnder(conn) : undefined;
  const log = createCollectedLog();
  return claims.map((claim) => new RunWriter(conn, claim, log, { isPlain: true, endTogether }));
}

/** The connection, with how many runs each call of a script ends, and 0 for other scripts. */
function countEnds(conn: RunStoreConnection) {
  const calls: number[] = [];
  const counting: RunStoreConnection = {
    ...conn,
    script: (script, keys, args) => {
      calls.push('ends' in script.lists ? (keys.length - script.keys.length) / 3 : 0);
      return conn.script(script, keys, args);
    },
  };
  return { counting, calls };
}

const plain = (count: number) => Array.from({ length: count }, () => ({}));

/** What the runs and their project are, without times. */
async function contentOf(conn: RunStoreConnection, project: string, claims: readonly Claim[]) {
  const keys = keysOf(project);
  const text = (name: string, ...args: (string | number)[]) => conn.command(name, ...args);
  const runs = await Promise.all(
    claims.map(async ({ state: { run } }) => {
      const {
        accepted: _a,
        started: _s,
        ended,
        epoch: _e,
        deadline: _d,
        ...fields
      } = (await text('hgetall', keys.run(run))) as Record<string, string>;
      const events = (await text('lrange', keys.events(run), 0, -1)) as string[];
      const listed = await text('zscore', keys.unrecorded, run);
      return {
        run,
        fields,
        hasEnded: ended !== undefined,
        events: events.map((line) => line.replace(/ \d+ /, ' ')),
        isListed: listed !== null,
        expires: Number(await text('pttl', keys.events(run))) > 0,
      };
    }),
  );
  const groups = [...new Set(claims.map(({ state }) => state.group))].toSorted();
  const totals = ['active', 'vt', 'Succeeded', 'waiting:Succeeded', 'accepted'];
  return {
    runs: runs.toSorted((a, b) => (a.run < b.run ? -1 : 1)),
    meta: await text('hmget', keys.meta, 'bytes', 'growth', 'ends'),
    totals: await Promise.all(groups.map((group) => text('hmget', keys.wf(group), ...totals))),
    claims: Object.keys((await text('hgetall', keys.claims)) as object).toSorted(),
    sizes: await Promise.all([
      ...[keys.ready, keys.overLimit, keys.replaceable].map((key) => text('zcard', key)),
      text('exists', keys.cancels, keys.replaced),
    ]),
  };
}

type Case = {
  changes: readonly Partial<Submission>[];
  limits?: Partial<WorkflowLimits>;
  texts?: readonly string[];
  cancelled?: string;
};
const ofThree = ['uid-a', 'uid-b', 'uid-a', 'uid-c', 'uid-b'].map((workflowUid) => ({ workflowUid }));
const CASES: [what: string, Case][] = [
  ['runs of one workflow', { changes: plain(6) }],
  ['runs of several workflows, and test runs', { changes: [...ofThree, { test: true }] }],
  ['a limit with runs over it', { changes: plain(7), limits: { concurrency: 3 } }],
  [
    'limits of several workflows with runs over them',
    { changes: [...ofThree, ...ofThree], limits: { concurrency: 1 } },
  ],
  [
    'runs that newer ones could replace',
    { changes: plain(3), limits: { concurrency: 3, policy: 'Replace' } },
  ],
  [
    'large runs and small ones',
    { changes: plain(4), texts: ['x', 'y'.repeat(30_000), '', 'z'.repeat(9_000)] },
  ],
  ['a run that is to be cancelled', { changes: plain(3), cancelled: 'run-2' }],
];

test.each(CASES)('runs end together as one by one: %s', async (_what, { changes, texts = [], ...given }) => {
  const { counting, calls } = countEnds(store.conn);
  const ended = async (isTogether: boolean) => {
    const { project, claims } = await startedRuns(store.conn, changes, given.limits);
    if (given.cancelled) await cancelRun(store.conn, project, given.cancelled);
    const end = (writer: RunWriter, index: number) => writer.store(lastStep(texts[index % texts.length]), []);
    const writers = writersOf(counting, claims, isTogether);
    const outcomes: unknown[] = isTogether ? await Promise.all(writers.map(end)) : [];
    if (!isTogether) for (const [index, writer] of writers.entries()) outcomes.push(await end(writer, index));
    expect(outcomes).toEqual(claims.map(() => done));
    return contentOf(store.conn, project, claims);
  };
  const apart = await ended(false);
  expect(Math.max(...calls)).toBe(0);
  calls.splice(0);
  expect(await ended(true)).toEqual(apart);
  expect(calls).toEqual([apart.runs.length]);
});

test('runs that were handed back meanwhile are refused alone, whether another runner has them or nobody', async () => {
  const { conn } = store;
  const { project, claims } = await startedRuns(conn, plain(4));
  const [, lost, ready] = claims;
  if (!lost || !ready) throw new Error('four runs were claimed');
  await handBack(conn, refOf(lost));
  const owner = await claimedOne(conn, project, 'runner-2');
  await handBack(conn, refOf(ready));
  const before = await stateOf(conn, project, owner.run);
  const { counting, calls } = countEnds(conn);
  const writers = writersOf(counting, claims);
  const outcomes = await Promise.all(writers.map((writer) => writer.store(lastStep(), [])));
  expect(outcomes).toEqual([done, { outcome: 'fenced' }, { outcome: 'fenced' }, done]);
  expect(calls[0]).toBe(4);
  expect(await stateOf(conn, project, owner.run)).toEqual(before);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 2, active: 2 });
  expect(await claimed(conn, project)).toMatchObject([{ state: { run: ready.state.run } }]);
});

test('a run whose key is damaged is refused alone', async () => {
  const { conn } = store;
  const { project, claims } = await startedRuns(conn, plain(3));
  await conn.command('set', keysOf(project).events('run-2'), 'of somebody else');
  const writers = writersOf(conn, claims);
  const outcomes = await Promise.all(writers.map((writer) => writer.store(lastStep(), [])));
  expect(outcomes).toMatchObject([done, { outcome: 'unavailable', why: 'damaged' }, done]);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 2, active: 1 });
});

test.each(['overLimit', 'ready', 'replaceable', 'cancels', 'replaced', 'unfinished', 'beyond'] as const)(
  'with %s of a wrong type each run has ended or goes on, with its claim and its slot',
  async (name) => {
    const { conn } = store;
    const project = await newProject(conn, 2 ** 30);
    const limits = { policy: 'Queue', deadlineMs: 60_000 } as const;
    await setWorkflowLimits(conn, project, { workflowUid: 'uid-free', ...limits });
    await setWorkflowLimits(conn, project, { workflowUid: 'uid-tight', ...limits, concurrency: 1 });
    for (const [index, of] of ['free', 'free', 'tight', 'tight'].entries())
      await accepted(conn, submissionOf(project, { run: `run-${index + 1}`, workflowUid: `uid-${of}` }));
    const claims = await claimed(conn, project, 100);
    const keys = keysOf(project);
    await conn.command('set', keys[name], 'of somebody else');
    await Promise.all(writersOf(conn, claims).map((writer) => writer.store(lastStep(), [])));
    const claimedRuns = (await conn.command('hgetall', keys.claims)) as Record<string, string>;
    const active = { free: 0, tight: 0 };
    for (const { state } of claims) {
      const phase = await conn.command('hget', keys.run(state.run), 'phase');
      expect([state.run, phase, state.run in claimedRuns]).toEqual([state.run, phase, phase === 'Running']);
      if (phase === 'Running') active[state.group.startsWith('uid-free') ? 'free' : 'tight'] += 1;
    }
    expect(await conn.command('hget', keys.wf('uid-free'), 'active')).toBe(`${active.free}`);
    // The run over the limit takes the slot of the one that has ended.
    expect(await conn.command('hget', keys.wf('uid-tight'), 'active')).toBe('1');
  },
);

test.each([
  ['bytes', 'the run has no size'],
  ['evbytes', 'the size of its events is not known'],
  ['limit', 'the limit of its workflow is no number'],
] as const)('a run is sent alone where %s is damaged: %s', async (field, _what) => {
  const { conn } = store;
  const changes = [{}, { workflowUid: 'uid-other' }, {}];
  const { project, claims } = await startedRuns(conn, changes);
  const keys = keysOf(project);
  if (field === 'limit') await conn.command('hset', keys.wf('uid-other'), 'limit', 'many');
  else await conn.command('hdel', keys.run('run-2'), field);
  const writers = writersOf(conn, claims);
  await Promise.allSettled(writers.map((writer) => writer.store(lastStep(), [])));
  const phases = await Promise.all(
    ['run-1', 'run-3'].map(async (run) => (await stateOf(conn, project, run)).phase),
  );
  expect(phases).toEqual(['Succeeded', 'Succeeded']);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 2, active: 0 });
});

test('a call without an answer is repeated, and nothing ends twice', async () => {
  const { conn } = store;
  const { project, claims } = await startedRuns(conn, plain(4));
  let answers = 0;
  const silent: RunStoreConnection = {
    ...conn,
    script: async (...call) => {
      const answer = await conn.script(...call);
      answers += 1;
      if (answers === 1) throw new Unanswered('the answer is lost');
      return answer;
    },
  };
  const writers = writersOf(silent, claims);
  const ask = () => Promise.all(writers.map((writer) => writer.store(lastStep(), [])));
  expect((await ask()).map(({ outcome }) => outcome)).toEqual(claims.map(() => 'unavailable'));
  const first = await contentOf(conn, project, claims);
  expect((await ask()).map(({ outcome }) => outcome)).toEqual(claims.map(() => 'fenced'));
  expect(await contentOf(conn, project, claims)).toEqual(first);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 4, active: 0 });
});

test('a run that the store has in an older state is stored again as a whole, beside others that end', async () => {
  const { conn } = store;
  const { project, claims } = await startedRuns(conn, plain(2));
  const [writer, ...others] = writersOf(conn, claims);
  if (!writer) throw new Error('two runs were claimed');
  const key = keysOf(project).run(claims[0]?.state.run ?? '');
  const before = await conn.command('hget', key, 'sequence');
  await writer.store({ checkpoints: [succeededNode('first')] }, []);
  await conn.command('hset', key, 'sequence', String(before));
  const outcomes = await Promise.all([writer, ...others].map((one) => one.store(lastStep(), [])));
  expect(outcomes).toEqual([done, done]);
  const { nodes } = await stateOf(conn, project, claims[0]?.state.run ?? '');
  expect(nodes.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'first']);
});

test('a call ends a bounded number of runs, with a bounded number of bytes', async () => {
  const { conn } = store;
  const ends = async (count: number, text: string) => {
    const { counting, calls } = countEnds(conn);
    const { claims } = await startedRuns(conn, plain(count));
    const writers = writersOf(counting, claims);
    await Promise.all(writers.map((writer) => writer.store(lastStep(text), [])));
    return calls;
  };
  expect(await ends(35, 'small')).toEqual([16, 16, 3]);
  expect(await ends(5, 'x'.repeat(25_000))).toEqual([2, 2, 0]);
  expect(await ends(2, 'x'.repeat(70_000))).toEqual([0, 0]);
});

test('a step that is more than an end, and a failure, are sent by themselves', async () => {
  const { conn } = store;
  const { counting, calls } = countEnds(conn);
  const { claims } = await startedRuns(conn, plain(3));
  const steps: Advance[] = [
    { end: { phase: 'Failed', reason: 'NodeFailed', message: 'no' } },
    { checkpoints: [succeededNode('a')] },
    { end: { phase: 'Cancelled' } },
  ];
  const writers = writersOf(counting, claims);
  const outcomes = await Promise.all(writers.map((writer, index) => writer.store(steps[index] ?? {}, [])));
  expect(outcomes).toEqual([done, done, done]);
  // A failure needs more keys, and is sent with all of them.
  expect(calls).toEqual([0, 0, 0]);
});

test('runs of a Redis Cluster end together', async () => {
  const cluster = await startCluster({ replicas: 0 });
  const conn = connectRunStore({ url: cluster.url(0), name: 'test' });
  try {
    await conn.ready();
    const { counting, calls } = countEnds(conn);
    const { project, claims } = await startedRuns(conn, plain(5));
    const writers = writersOf(counting, claims);
    const outcomes = await Promise.all(writers.map((writer) => writer.store(lastStep(), [])));
    expect(outcomes).toEqual(claims.map(() => done));
    expect(calls).toEqual([5]);
    expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ succeeded: 5, active: 0 });
  } finally {
    await conn.close();
    await cluster.stop();
  }
});
