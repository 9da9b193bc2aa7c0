/**
 * `deletion`: a workflow with 100,000 runs that have not ended is deleted, then a namespace with as many,
 * while neighbours submit: one in the same project, whose runs are executed meanwhile, and one in another.
 * Operator, runners, API server and run store really run.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { isTerminal } from '../../api/phase.ts';
import { workflowRuns, workflows } from '../../operator/shared/resources.ts';
import { isUnavailable } from '../../store/connection.ts';
import { keysOf } from '../../store/keys.ts';
import { forEachPage } from '../../store/scan.ts';
import { readCounts } from '../../runs/read.ts';
import { deleteNamespace } from '../support/operator/projectState.ts';
import { pollUntil } from '../support/time/poll.ts';
import { loadUnfinishedRuns, type Backlog } from './unfinishedRuns.ts';
import { submitAtRate, type Neighbour } from './neighbour.ts';
import type { Figure } from './report.ts';
import { openWhole, type Project, type Whole } from './whole.ts';

/** For trying the script: 0.1 makes a tenth of everything. */
const SCALE = Number(process.env['BENCH_SCALE'] ?? '1');
const RUNS = 100_000 * SCALE;
const OBJECTS = 1_000 * SCALE;
const LONGEST_S = 120;
const SLOWEST_MS = 50;
/**
 * Of all projects: the API server, which elsewhere has machines of its own, takes about 3 ms of a processor
 * for each.
 */
const RECORD_WRITES = '40';
const ALONE_MS = 10_000;
const WITHIN = { timeoutMs: 900_000, everyMs: 100 };

const SPEC: WorkflowSpec = {
  active: true,
  nodes: [
    { id: 'trigger', webhook: { path: 'new' } },
    { id: 'sum', skill: { name: 'set', parameters: { values: { total: '1.2' } } } },
  ],
};

export async function deletion(): Promise<Figure[]> {
  const whole = await openWhole({
    projects: 3,
    workflowsEach: 2,
    spec: SPEC,
    lateRunners: true,
    operatorEnv: { RECORD_WRITES_PER_SECOND: RECORD_WRITES },
  });
  const [first, second, third] = whole.projects;
  if (!first || !second || !third) throw new Error('There are three projects.');
  try {
    console.error(`loading ${RUNS} runs of a workflow, and as many of a namespace`);
    const backlog = await loadUnfinishedRuns(whole, {
      project: first,
      name: 'flow-0',
      runs: RUNS,
      objects: OBJECTS,
    });
    const ofNamespace = await loadUnfinishedRuns(whole, {
      project: third,
      name: 'flow-0',
      runs: RUNS,
      objects: 0,
    });
    await whole.startRunners();
    const neighbours = [
      await neighbourOf(whole, first, 'flow-1'),
      await neighbourOf(whole, second, 'flow-0'),
    ];
    const alone = await beside(whole, neighbours, () => delay(ALONE_MS));
    let gone = Number.NaN;
    let recorded = Number.NaN;
    const during = await beside(whole, neighbours, async () => {
      const startedAt = performance.now();
      await whole.client.delete(workflows, { namespace: first.namespace, name: 'flow-0' });
      await untilGone(whole, first, backlog);
      gone = secondsSince(startedAt);
      await untilRecorded(whole, first);
      recorded = secondsSince(startedAt);
    });
    const counts = await readCounts(whole.conn, first.uid, neighbours[0]?.workflowUid ?? '');
    if (isUnavailable(counts)) throw new Error('The run store is away.');
    let closed = Number.NaN;
    await ofNamespace.stop();
    const closing = await beside(whole, neighbours, async () => {
      const startedAt = performance.now();
      await deleteNamespace(whole.client, third.namespace);
      await untilClosed(whole, third);
      closed = secondsSince(startedAt);
    });
    const total = RUNS.toLocaleString('en-GB');
    return [
      atMost(`${total} runs of a deleted workflow: gone from the run store`, gone, 's', LONGEST_S),
      atMost(`${OBJECTS.toLocaleString('en-GB')} of them as objects: ended`, recorded, 's', LONGEST_S),
      ...latencies('alone', alone),
      ...latencies('beside the deletion', during, SLOWEST_MS),
      {
        name: 'runs of the neighbour in the project that ended meanwhile',
        value: counts.succeeded,
        unit: 'runs',
        ratio: { to: 'its events', value: counts.succeeded / (counts.succeeded + counts.active) },
        goal: { at: 'least', value: 0.99, of: 'ratio' },
      },
      atMost(`${total} runs of a deleted namespace: gone`, closed, 's', LONGEST_S),
      ...latencies('beside the deletion of the namespace', closing, SLOWEST_MS),
    ];
  } finally {
    await whole.close();
  }
}

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1_000;

async function neighbourOf({ client }: Whole, { namespace, uid }: Project, name: string): Promise<Neighbour> {
  const { metadata, status } = await client.get(workflows, { namespace, name });
  return { project: uid, name, workflowUid: metadata.uid ?? '', revision: status?.revision ?? '' };
}

/** The times of the neighbours' submits, in order of `neighbours`, while the work lasts. */
async function beside(
  { conn }: Whole,
  neighbours: Neighbour[],
  work: () => Promise<unknown>,
): Promise<number[][]> {
  const over = new AbortController();
  const sending = neighbours.map((neighbour) => submitAtRate(conn, neighbour, over.signal));
  try {
    await work();
  } finally {
    over.abort();
  }
  return Promise.all(sending);
}

/** Nothing is left but what expires: no run in the index, none in the queues, no key of a run. */
async function untilGone({ conn }: Whole, { uid }: Project, { workflowUid, stop }: Backlog): Promise<void> {
  const keys = keysOf(uid);
  await pollUntil(
    'the end of the deletion',
    async () => (await conn.command('hexists', keys.deleting, workflowUid)) === 0 && (await isMarked()),
    WITHIN,
  );
  await stop();
  // Objects that are to be recorded keep their runs; all others are gone ten seconds after their end.
  await pollUntil(
    'the last keys',
    async () => (await countKeys(conn, keys.run('flow-0'))) <= OBJECTS,
    WITHIN,
  );

  async function isMarked(): Promise<boolean> {
    return (await conn.command('hexists', keys.wf(workflowUid), 'accepted')) === 0;
  }
}

async function untilRecorded({ client }: Whole, { namespace }: Project): Promise<void> {
  const haveEnded = async () => {
    const { items } = await client.listAll(workflowRuns, { namespace });
    return items.every(({ spec, status }) => spec.workflow !== 'flow-0' || isTerminal(status?.phase));
  };
  await pollUntil('all objects having ended', haveEnded, { ...WITHIN, everyMs: 2_000 });
}

async function untilClosed({ conn }: Whole, { uid }: Project): Promise<void> {
  const { prefix } = keysOf(uid);
  await pollUntil('the keys of the namespace', async () => (await countKeys(conn, prefix)) === 0, {
    ...WITHIN,
    everyMs: 1_000,
  });
}

async function countKeys(conn: Whole['conn'], prefix: string): Promise<number> {
  let count = 0;
  await forEachPage(conn, `${prefix}*`, async (names) => {
    count += names.length;
  });
  return count;
}

function atMost(name: string, value: number, unit: string, goal: number): Figure {
  return { name, value, unit, goal: { at: 'most', value: goal, of: 'value' } };
}

function latencies(when: string, times: number[][], goal?: number): Figure[] {
  return ['in the project', 'in another project'].flatMap((where, at) => {
    const sorted = times[at]?.toSorted((a, b) => a - b) ?? [];
    const of = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    const p99 = `submit of a neighbour ${where}, ${when}: p99`;
    return [
      { name: `submit of a neighbour ${where}, ${when}: p50`, value: of(0.5), unit: 'ms' },
      goal === undefined ? { name: p99, value: of(0.99), unit: 'ms' } : atMost(p99, of(0.99), 'ms', goal),
    ];
  });
}
