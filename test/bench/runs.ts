/**
 * `runs`: what one runner process executes, with everything real behind it: three-node chains without outside calls to their
 * durable end at saturation, how soon a run begins at half of that, what a backlog of 100,000 takes, and whether a neighbour
 * gets its turn beside a flood.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { revisionOf } from '../../api/revision.ts';
import { isUnavailable } from '../../runs/connection.ts';
import { keysOf } from '../../runs/keys.ts';
import { putRevision } from '../../runs/project.ts';
import { readCounts, readRun } from '../../runs/read.ts';
import { submit } from '../../runs/submit.ts';
import type { NodeState } from '../../runs/types.ts';
import { PROJECT } from '../support/door.ts';
import { pollUntil } from '../support/poll.ts';
import { EVENT } from './accept.ts';
import { median, type Figure } from './report.ts';
import { startRunnerProcess } from './runnerProcess.ts';
import { setStage, type Stage } from './stage.ts';

const BACKLOG = 20_000;
const LARGE_BACKLOG = 100_000;
const FLOOD = 2_000;
const SUBMITTED_AT_ONCE = 500;
const PACED_SECONDS = 8;
const PACE_MS = 10;
const READ_AFTER_MS = 1_500;
const MIB = 2 ** 20;
/** What Node takes for itself in a container with the chart's limit of 512 MiB. */
const NODE_ARGS = ['--max-old-space-size=256'];

/** A trigger and two steps without outside calls, and the least that a run can be. */
const WORKFLOWS = {
  chain: [
    {
      id: 'sum',
      skill: { name: 'set', parameters: { values: { total: 'nodes.trigger.data_content.total * 1.2' } } },
    },
    { id: 'reply', response: { body: { total: "{{ $('sum').data_content.total }}" } } },
  ],
  neighbour: [{ id: 'reply', response: { body: 'ok' } }],
};
type Workflow = keyof typeof WORKFLOWS;

export async function runs(): Promise<Figure[]> {
  const stage = await setStage({ reply: true });
  try {
    const chain = await drained(stage, 'chain', BACKLOG);
    const latency = await pacedLatency(stage, chain.perSecond / 2);
    const large = await drained(stage, 'chain', LARGE_BACKLOG);
    const neighbour = await beside(stage);
    return [
      {
        name: 'three-node runs at saturation',
        value: chain.perSecond,
        unit: 'runs/s',
        goal: { at: 'least', value: 2_000, of: 'value' },
      },
      ...latency,
      { name: 'backlog of 100,000: drained', value: large.perSecond, unit: 'runs/s' },
      { name: 'backlog of 100,000: runner, most RSS', value: large.runnerMiB, unit: 'MiB' },
      { name: 'backlog of 20,000: runner, most RSS', value: chain.runnerMiB, unit: 'MiB' },
      { name: 'backlog of 100,000: run store, RSS before', value: large.storeMiB, unit: 'MiB' },
      {
        name: 'run of a neighbour behind 2,000: runs that ended before it',
        value: neighbour.before,
        unit: 'runs',
      },
      { name: 'run of a neighbour behind 2,000: accepted to end', value: neighbour.ms, unit: 'ms' },
    ];
  } finally {
    await stage.close();
  }
}

async function emptyProject(stage: Stage): Promise<void> {
  await stage.emptyStore();
  for (const [name, steps] of Object.entries(WORKFLOWS)) {
    const nodes = [{ id: 'trigger', webhook: { path: 'new' } }, ...steps];
    await putRevision(stage.runs, PROJECT, name, revisionOf({ active: true, nodes }));
  }
}

async function submitMany(stage: Stage, workflow: Workflow, total: number): Promise<void> {
  for (let done = 0; done < total; done += SUBMITTED_AT_ONCE) {
    const count = Math.min(SUBMITTED_AT_ONCE, total - done);
    await Promise.all(Array.from({ length: count }, () => submitOne(stage, workflow)));
  }
}

async function submitOne({ runs }: Stage, workflow: Workflow): Promise<string> {
  const submitted = await submit(runs, {
    project: PROJECT,
    workflow,
    workflowUid: `uid-${workflow}`,
    revision: workflow,
    trigger: 'webhook',
    input: `{"text_content":"","data_content":${EVENT}}`,
    bodyHash: '',
    test: false,
  });
  if (submitted.outcome !== 'accepted') throw new Error(`A run was not accepted: ${submitted.outcome}`);
  return submitted.run;
}

type Drained = { perSecond: number; runnerMiB: number; storeMiB: number };

/** Runs a second, from the first tenth of the backlog to the last, with nobody sending. */
async function drained(stage: Stage, workflow: Workflow, backlog: number): Promise<Drained> {
  await emptyProject(stage);
  await submitMany(stage, workflow, backlog);
  const storeMiB = residentMiB(stage.redis.pid(), 'VmRSS');
  const runner = await startRunnerProcess(stage, NODE_ARGS);
  try {
    const from = await ended(stage, workflow, backlog * 0.1);
    const to = await ended(stage, workflow, backlog * 0.9);
    await ended(stage, workflow, backlog);
    const perSecond = (to.runs - from.runs) / ((to.at - from.at) / 1_000);
    console.error(`${workflow}, ${backlog} runs: ${Math.round(perSecond)} runs/s`);
    return { perSecond, runnerMiB: residentMiB(runner.pid, 'VmHWM'), storeMiB };
  } finally {
    await runner.stop();
  }
}

async function ended(
  { runs }: Stage,
  workflow: Workflow,
  atLeast: number,
): Promise<{ runs: number; at: number }> {
  return pollUntil(
    `${atLeast} runs being executed`,
    async () => {
      const counts = await readCounts(runs, PROJECT, `uid-${workflow}`);
      if (isUnavailable(counts)) return undefined;
      if (counts.failed > 0) throw new Error(`${counts.failed} runs failed`);
      return counts.succeeded >= atLeast && { runs: counts.succeeded, at: performance.now() };
    },
    { timeoutMs: 300_000, everyMs: 20 },
  );
}

function residentMiB(pid: number, line: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1_024) / MIB;
}

/** From the acceptance, by the run store's clock, to the first step, by the runner's, which is the same machine's. */
async function pacedLatency(stage: Stage, perSecond: number): Promise<Figure[]> {
  await emptyProject(stage);
  const runner = await startRunnerProcess(stage, NODE_ARGS);
  try {
    await paced(stage, perSecond, 2);
    const found = await paced(stage, perSecond, PACED_SECONDS);
    const at = (share: number) =>
      found.toSorted((a, b) => a - b)[Math.floor(found.length * share)] ?? Number.NaN;
    const load = `at ${Math.round(perSecond)} runs/s`;
    return [
      {
        name: `accepted to first step, p50, ${load}`,
        value: at(0.5),
        unit: 'ms',
        goal: { at: 'most', value: 3, of: 'value' },
      },
      {
        name: `accepted to first step, p99, ${load}`,
        value: at(0.99),
        unit: 'ms',
        goal: { at: 'most', value: 20, of: 'value' },
      },
    ];
  } finally {
    await runner.stop();
  }
}

/** Submits at that rate, whatever happens, and gives the latency of every tenth run. */
async function paced(stage: Stage, perSecond: number, seconds: number): Promise<number[]> {
  const begin = performance.now();
  const total = Math.round(perSecond * seconds);
  const sampled: Promise<number>[] = [];
  const sent: Promise<string>[] = [];
  while (sent.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - begin) / 1_000) * perSecond));
    while (sent.length < due) {
      const run = submitOne(stage, 'chain');
      sent.push(run);
      if (sent.length % 10 === 0) sampled.push(run.then((name) => latencyOf(stage, name)));
    }
    await delay(PACE_MS);
  }
  await Promise.all(sent);
  return Promise.all(sampled);
}

/** Read a while later, so that asking does not add to the load that is measured, and before the run is gone. */
async function latencyOf({ runs }: Stage, run: string): Promise<number> {
  const key = keysOf(PROJECT).run(run);
  await delay(READ_AFTER_MS);
  return pollUntil(
    'the first step of a run',
    async () => {
      const fields = await runs.command('hmget', key, 'accepted', 'n:sum');
      const [accepted, first] = fields as [string | null, string | null];
      if (accepted === null || first === null) return undefined;
      const { startedAt = Number.NaN } = JSON.parse(first) as NodeState;
      return startedAt - Number(accepted) / 1_000;
    },
    { timeoutMs: 20_000, everyMs: 500 },
  );
}

/** A flood, and in the middle of it one run of another workflow. */
async function beside(stage: Stage): Promise<{ before: number; ms: number }> {
  await emptyProject(stage);
  const runner = await startRunnerProcess(stage, NODE_ARGS);
  try {
    const rounds: { before: number; ms: number }[] = [];
    for (let round = 0; round < 5; round += 1) rounds.push(await besideOnce(stage));
    return { before: median(rounds.map(({ before }) => before)), ms: median(rounds.map(({ ms }) => ms)) };
  } finally {
    await runner.stop();
  }
}

async function besideOnce(stage: Stage): Promise<{ before: number; ms: number }> {
  const counted = async () => {
    const counts = await readCounts(stage.runs, PROJECT, 'uid-chain');
    if (isUnavailable(counts)) throw new Error('The run store is away.');
    return counts;
  };
  const flood = Array.from({ length: FLOOD }, () => submitOne(stage, 'chain'));
  const run = await submitOne(stage, 'neighbour');
  const { succeeded: from } = await counted();
  const state = await pollUntil(
    'the run of the neighbour',
    async () => {
      const found = await readRun(stage.runs, PROJECT, run);
      return found && !isUnavailable(found) && found.endedAt !== undefined && found;
    },
    { timeoutMs: 60_000, everyMs: 1 },
  );
  const { succeeded: to } = await counted();
  await Promise.all(flood);
  await pollUntil('the flood to end', async () => (await counted()).active === 0, { timeoutMs: 60_000 });
  return { before: to - from, ms: (state.endedAt ?? Number.NaN) - state.acceptedAt };
}
