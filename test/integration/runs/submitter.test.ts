/** Events that come in one turn of the event loop are accepted as if they came one after the other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readCounts } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { createSubmitter } from '../../../runs/submitter.ts';
import type { WorkflowLimits } from '../../../runs/types/limits.ts';
import type { Submission, Submitted } from '../../../runs/types/submission.ts';
import { setQuota } from '../../support/runStore/calls.ts';
import {
  accepted,
  claimed,
  newProject,
  startRunStore,
  stateOf,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore()));
afterAll(() => store?.stop());

/** The number of an event is its input, which distinguishes its run. */
function eventsOf(project: string, changes: readonly Partial<Submission>[]): Submission[] {
  return changes.map((change, index) =>
    submissionOf(project, {
      input: `{"text_content":"","data_content":${index}}`,
      bodyHash: `body-${index}`,
      ...change,
    }),
  );
}

const keyed = (key: string, body = 'same') => ({ dedupeKey: key, bodyHash: body });
const plain = (count: number) => Array.from({ length: count }, () => ({}));

test('an event whose dedupe key is damaged is refused alone, and the others of its call are stored and counted', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const first = await accepted(conn, submissionOf(project, keyed('broken')));
  const { dedupeHash = '' } = await stateOf(conn, project, first);
  await conn.command('set', keysOf(project).dedupe('uid-orders', dedupeHash), 'damaged');
  const events = eventsOf(project, [{}, keyed('broken'), {}]);
  const outcomes = await Promise.all(events.map(createSubmitter(conn)));
  expect(outcomes).toMatchObject([
    { outcome: 'accepted' },
    { outcome: 'unavailable', why: 'damaged' },
    { outcome: 'accepted' },
  ]);
  expect(await readCounts(conn, project, 'uid-orders')).toMatchObject({ active: 3 });
});

test('refused events take no acceptance time: it is that of no later call', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project, keyed('known')));
  const events = eventsOf(project, [{ run: 'first' }, keyed('known'), keyed('known'), { run: 'second' }]);
  await Promise.all(events.map(createSubmitter(conn)));
  const times = ['first', 'second'].map((run) => conn.command('hget', keysOf(project).run(run), 'accepted'));
  const [first, second] = (await Promise.all(times)).map(Number);
  expect(Number(second) - Number(first)).toBe(1);
});

type Case = {
  events: readonly Partial<Submission>[];
  limits?: Partial<WorkflowLimits>;
  /** Bytes of all runs. */
  quota?: number;
};

const CASES: [what: string, Case][] = [
  ['events without a key', { events: plain(20) }],
  [
    'a repeated key, and one with another body',
    { events: [keyed('a'), keyed('b'), keyed('a'), keyed('a', 'other'), {}, keyed('b')] },
  ],
  ['a quota that is used up between them', { events: plain(6), quota: 5_000 }],
  ['a limit beyond which events wait', { events: plain(5), limits: { concurrency: 2, policy: 'Queue' } }],
  ['a limit that refuses', { events: plain(5), limits: { concurrency: 2, policy: 'Reject' } }],
  [
    'a limit at which newer runs replace',
    { events: plain(5), limits: { concurrency: 2, policy: 'Replace' } },
  ],
  ['a suspended workflow', { events: [...plain(2), keyed('a')], limits: { suspended: true } }],
  ['names that callers chose', { events: [{ run: 'mine' }, { run: 'mine' }, { run: 'other' }] }],
  ['test runs beside live ones', { events: [{}, { test: true }, {}, { test: true }] }],
];

test.each(CASES)(
  'events are accepted together as one by one: %s',
  async (_what, { events, limits, quota }) => {
    const { conn } = store;
    const arrange = async () => {
      const project = await newProject(conn);
      if (limits)
        await setWorkflowLimits(conn, project, {
          workflowUid: 'uid-orders',
          policy: 'Queue',
          deadlineMs: 60_000,
          ...limits,
        });
      if (quota !== undefined) await setQuota(conn, project, quota);
      return project;
    };
    const [apart, together] = [await arrange(), await arrange()];
    const expected: Submitted[] = [];
    for (const event of eventsOf(apart, events)) expected.push(await submit(conn, event));
    const submitter = createSubmitter(conn);
    const found = await Promise.all(eventsOf(together, events).map(submitter));
    expect(withoutNames(found)).toEqual(withoutNames(expected));
    expect(await contentOf(conn, together)).toEqual(await contentOf(conn, apart));
  },
);

/** The outcomes, with the place of a run among them in place of its name. */
function withoutNames(outcomes: readonly Submitted[]) {
  const names = outcomes.flatMap((outcome) => ('run' in outcome ? [outcome.run] : []));
  return outcomes.map((outcome) =>
    'run' in outcome ? { ...outcome, run: names.indexOf(outcome.run) } : outcome,
  );
}

/** The counts of a project, and the inputs of its runs in the order in which they are claimed. */
async function contentOf(conn: RunStoreConnection, project: string) {
  const counts = await readCounts(conn, project, 'uid-orders');
  if (isUnavailable(counts)) throw new Error('the run store is away');
  const { lastAcceptedAt, ...totals } = counts;
  const bytes = await conn.command('hmget', keysOf(project).meta, 'bytes', 'keys');
  const claims = await claimed(conn, project, 100);
  return {
    totals,
    isDated: lastAcceptedAt !== undefined,
    bytes,
    inputs: claims.map(({ state }) => state.input),
  };
}

/** The connection, with how many events each call of a script has: the rows name their run twice. */
function countCalls(conn: RunStoreConnection) {
  const calls: number[] = [];
  const counting: RunStoreConnection = {
    ...conn,
    script: (script, keys, args) => {
      calls.push(keys.filter((key) => key.includes(':run:')).length / 2);
      return conn.script(script, keys, args);
    },
  };
  return { counting, calls };
}

test('events of one group in one turn are one call, and those of another group and of the next turn are not', async () => {
  const { conn } = store;
  const [project, other] = [await newProject(conn), await newProject(conn)];
  const { counting, calls } = countCalls(conn);
  const submitter = createSubmitter(counting);
  const outcomes = [...eventsOf(project, plain(3)), ...eventsOf(other, plain(1))].map(submitter);
  await Promise.all(outcomes);
  await submitter(submissionOf(project));
  expect(calls).toEqual([3, 1, 1]);
});

test('many events are submitted before their turn ends', async () => {
  const { conn } = store;
  const { counting, calls } = countCalls(conn);
  const outcomes = eventsOf(await newProject(conn), plain(17)).map(createSubmitter(counting));
  expect(calls).toEqual([16]);
  await Promise.all(outcomes);
  expect(calls).toEqual([16, 1]);
});

test('a call has a bounded number of events, and of bytes', async () => {
  const { conn } = store;
  const project = await newProject(conn, 2 ** 30);
  const { counting, calls } = countCalls(conn);
  const submitter = createSubmitter(counting);
  await Promise.all(eventsOf(project, plain(150)).map(submitter));
  expect(calls.splice(0)).toEqual([...Array.from({ length: 9 }, () => 16), 6]);
  const input = JSON.stringify({ text_content: 'x'.repeat(100_000), data_content: null });
  await Promise.all(Array.from({ length: 5 }, () => submitter(submissionOf(project, { input }))));
  expect(calls).toEqual([2, 2, 1]);
});

test('events that are sent during an outage are all answered as unavailable', async () => {
  const own = await startRunStore();
  try {
    const project = await newProject(own.conn);
    const submitter = createSubmitter(own.conn);
    await own.redis.kill();
    const outcomes = await Promise.all(eventsOf(project, plain(3)).map(submitter));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['unavailable', 'unavailable', 'unavailable']);
  } finally {
    await own.stop();
  }
});
