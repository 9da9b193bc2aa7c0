/**
 * `waits`: 100,000 runs that wait in one project: bytes of each, and what they cost while nothing happens;
 * how late 1,000 of them end that are due in the same second; and how soon 10,000 recorded ones wait again
 * after the run store has lost its data. All programs really run.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { workflows } from '../../operator/shared/resources.ts';
import { createObject, writeStatus } from '../../runs/record/object.ts';
import { submit } from '../../runs/submit.ts';
import type { RunState } from '../../runs/types/run.ts';
import { keysOf } from '../../store/keys.ts';
import { pollUntil } from '../support/time/poll.ts';
import { inParallel } from './inParallel.ts';
import type { Figure } from './report.ts';
import { processorTicks } from './singles.ts';
import { openWhole, type Project, type Whole } from './whole.ts';

/** For a slow machine: 0.2 parks a fifth of the runs. */
const SCALE = Number(process.env['BENCH_SCALE'] ?? '1');
const RUNS = 100_000 * SCALE;
const TOGETHER = 1_000;
const RECORDED = 10_000;
const WORKFLOWS = 11;
const AT_ONCE = 200;
const HOUR_MS = 3_600_000;
/** More than a run that waits is counted with. */
const RUN_BYTES = 2_500;
/** The time in which recorders and caches settle. */
const REST_MS = 10_000;
const IDLE_MS = 30_000;
const AHEAD_MS = 20_000;
const AGAIN_MS = 100;
const WITHIN = { timeoutMs: 900_000, everyMs: 100 };
const TICKS_PER_SECOND = 100;
/** The API server shares the processors of this machine. */
const RECORD_WRITES = '40';

const SPEC: WorkflowSpec = {
  active: true,
  nodes: [
    { id: 'trigger', webhook: { path: 'new' } },
    { id: 'pause', wait: { until: "{{ $('trigger').data_content.until }}" } },
  ],
};

type Waiting = { name: string; uid: string; revision: string };

export async function waits(): Promise<Figure[]> {
  const whole = await openWhole({
    projects: 1,
    workflowsEach: WORKFLOWS,
    spec: SPEC,
    operatorEnv: { RECORD_WRITES_PER_SECOND: RECORD_WRITES },
  });
  try {
    const [project] = whole.projects;
    if (!project) throw new Error('There is a project.');
    const known = await workflowsOf(whole, project);
    const [many] = known;
    if (!many) throw new Error('There is a workflow.');
    return [
      ...(await parked(whole, project, many)),
      ...(await idle(whole)),
      ...(await together(whole, project, many)),
      await restored(whole, project, known.slice(1)),
    ];
  } finally {
    await whole.close();
  }
}

async function workflowsOf({ client }: Whole, { namespace }: Project): Promise<Waiting[]> {
  const { items } = await client.listAll(workflows, { namespace });
  return items.map(({ metadata, status }) => ({
    name: metadata.name,
    uid: metadata.uid ?? '',
    revision: status?.revision ?? '',
  }));
}

async function send({ conn }: Whole, project: Project, flow: Waiting, until: number): Promise<string> {
  const data = JSON.stringify({ until: new Date(until).toISOString() });
  const event = {
    project: project.uid,
    workflow: flow.name,
    workflowUid: flow.uid,
    revision: flow.revision,
    trigger: 'webhook',
    input: `{"text_content":"","data_content":${data}}`,
    bodyHash: '',
    test: false,
  };
  for (;;) {
    const submitted = await submit(conn, event);
    if (submitted.outcome === 'accepted') return submitted.run;
    if (submitted.outcome !== 'unavailable' || submitted.why !== 'connection')
      throw new Error(`A run was not accepted: ${JSON.stringify(submitted)}`);
    await delay(AGAIN_MS);
  }
}

const parkedRuns = async ({ conn }: Whole, { uid }: Project) =>
  (await conn.command('zcard', keysOf(uid).parked)) as number;

async function usedBytes({ conn }: Whole): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(String(await conn.command('info', 'memory')))?.[1]);
}

/**
 * A project that was just opened has a small quota, which so many runs at once fill before the operator,
 * which updates quotas every few seconds, has replaced it.
 */
async function untilRoom({ conn }: Whole, { uid }: Project): Promise<void> {
  const { meta } = keysOf(uid);
  const hasRoom = async () => Number(await conn.command('hget', meta, 'quota')) > RUNS * RUN_BYTES;
  await pollUntil('the quota', hasRoom, WITHIN);
}

async function parked(whole: Whole, project: Project, flow: Waiting): Promise<Figure[]> {
  await untilRoom(whole, project);
  const before = await usedBytes(whole);
  const startedAt = performance.now();
  const until = Date.now() + 24 * HOUR_MS;
  await inParallel(RUNS, AT_ONCE, async () => void (await send(whole, project, flow, until)));
  await pollUntil('all to wait', async () => (await parkedRuns(whole, project)) >= RUNS, WITHIN);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { conn } = whole;
  const { meta, unrecorded, unfinished, beyond } = keysOf(project.uid);
  await pollUntil(
    'the recorders to rest',
    async () => (await conn.command('zcard', unrecorded)) === 0,
    WITHIN,
  );
  const [records, others] = await Promise.all([unfinished, beyond].map((key) => conn.command('zcard', key)));
  const counted = Number(await conn.command('hget', meta, 'bytes')) / RUNS;
  return [
    { name: 'runs that wait', value: await parkedRuns(whole, project), unit: 'runs' },
    { name: 'runs accepted and parked', value: RUNS / seconds, unit: 'runs/s' },
    { name: 'memory of each', value: ((await usedBytes(whole)) - before) / RUNS, unit: 'bytes' },
    { name: 'counted by the quota of each', value: counted, unit: 'bytes' },
    { name: 'recorded', value: records as number, unit: 'runs' },
    { name: 'in the run store alone', value: others as number, unit: 'runs' },
  ];
}

/** What each program takes of one processor while all wait. */
async function idle({ programs, redis }: Whole): Promise<Figure[]> {
  await delay(REST_MS);
  const all = [...programs.map(({ name, pid }) => ({ name, pid })), { name: 'Redis', pid: redis.pid() }];
  const taken = () => Promise.all(all.map(({ pid }) => processorTicks(pid)));
  const before = await taken();
  const startedAt = performance.now();
  await delay(IDLE_MS);
  const after = await taken();
  const seconds = (performance.now() - startedAt) / 1_000;
  return all.map(({ name }, index) => ({
    name: `${name.startsWith('runner') ? 'runner' : name}, processor while all wait`,
    value: (((after[index] ?? 0) - (before[index] ?? 0)) / TICKS_PER_SECOND / seconds) * 100,
    unit: '% of a core',
    ...((name === 'Redis' || name.startsWith('runner')) && {
      goal: { at: 'most', value: 2, of: 'value' } as const,
    }),
  }));
}

/** How late the runs end whose waits end at the same time. */
async function together(whole: Whole, project: Project, flow: Waiting): Promise<Figure[]> {
  const { conn } = whole;
  const until = Date.now() + AHEAD_MS;
  const names: string[] = [];
  await inParallel(TOGETHER, AT_ONCE, async () => void names.push(await send(whole, project, flow, until)));
  await pollUntil('all to wait', async () => (await parkedRuns(whole, project)) >= RUNS + TOGETHER, WITHIN);
  if (Date.now() > until) throw new Error('The runs were sent too slowly.');
  const late = new Map<string, number>();
  const run = keysOf(project.uid).run;
  await pollUntil(
    'the ends',
    async () => {
      const open = names.filter((name) => !late.has(name));
      const ends = await Promise.all(open.map((name) => conn.command('hget', run(name), 'ended')));
      for (const [index, name] of open.entries())
        if (typeof ends[index] === 'string') late.set(name, Number(ends[index]) - until);
      return late.size === names.length;
    },
    { timeoutMs: 120_000, everyMs: 500 },
  );
  const sorted = [...late.values()].toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN) / 1_000;
  const words = `late, ${TOGETHER.toLocaleString('en-GB')} at once`;
  return [
    { name: `${words}, p50`, value: at(0.5), unit: 's' },
    { name: `${words}, p99`, value: at(0.99), unit: 's', goal: { at: 'most', value: 2, of: 'value' } },
  ];
}

/** From the loss of all data until all recorded runs wait again. */
async function restored(whole: Whole, project: Project, flows: readonly Waiting[]): Promise<Figure> {
  const { client: kube, conn, redis } = whole;
  await redis.kill();
  const target = { kube, namespace: project.namespace, store: 'an-earlier-one' };
  await inParallel(RECORDED, 16, async (index) => {
    const flow = flows[index % flows.length];
    if (!flow) throw new Error('There are workflows.');
    const state = waitingRun(`${flow.name}-${index}`, project.uid, flow);
    const uid = await createObject(target, state);
    if (uid === undefined) throw new Error(`The record ${state.run} cannot be made.`);
    await writeStatus(target, state, uid, ['trigger', 'pause']);
  });
  const startedAt = performance.now();
  await redis.replace();
  const { parked: key } = keysOf(project.uid);
  const isBack = async () => Number(await conn.command('zcard', key).catch(() => 0)) >= RECORDED;
  await pollUntil('the recorded runs to wait', isBack, WITHIN);
  return {
    name: `${RECORDED.toLocaleString('en-GB')} recorded waits restored`,
    value: (performance.now() - startedAt) / 1_000,
    unit: 's',
    goal: { at: 'most', value: 60, of: 'value' },
  };
}

function waitingRun(run: string, project: string, { name, uid, revision }: Waiting): RunState {
  const at = Date.now();
  const until = at + 24 * HOUR_MS;
  return {
    run,
    project,
    workflow: name,
    workflowUid: uid,
    group: uid,
    revision,
    trigger: 'webhook',
    test: false,
    phase: 'Waiting',
    epoch: 1,
    sequence: 3,
    acceptedAt: at,
    startedAt: at,
    cancelRequested: false,
    crashes: 0,
    input: JSON.stringify({ text_content: '', data_content: { until: new Date(until).toISOString() } }),
    nodes: [
      { id: 'trigger', phase: 'Succeeded', attempts: 1, startedAt: at, endedAt: at, outputIsInput: true },
      {
        id: 'pause',
        phase: 'Waiting',
        attempts: 1,
        startedAt: at,
        nextAttemptAt: until,
        waitingFor: { time: true },
      },
    ],
  };
}
