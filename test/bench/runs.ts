/**
 * `runs`: what one runner process executes, with everything real behind it: three-node chains without outside
 * calls to their durable end at saturation, how soon a run begins at half of that, what a backlog of 100,000
 * takes, and whether a neighbour gets its turn beside a flood.
 */
import { readFileSync } from 'node:fs';
import { isUnavailable } from '../../store/connection.ts';
import { readCounts, readRun } from '../../runs/read.ts';
import { PROJECT } from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { emptyProject, submitMany, submitOne, type Workflow } from './chain.ts';
import { latency } from './latency.ts';
import { median, type Figure } from './report.ts';
import { startRunnerProcess } from './runnerProcess.ts';
import { startHarness, type Harness } from './harness.ts';

const BACKLOG = 20_000;
const LARGE_BACKLOG = 100_000;
const FLOOD = 2_000;
/** What a runner holds at once, and as many that take their places before it claims again. */
const CLAIMED_BEFORE = 100;
const MIB = 2 ** 20;
/** What the operator tells Node, in a container with the chart's limit of 512 MiB. */
const NODE_ARGS = ['--max-old-space-size=256', '--max-semi-space-size=16', '--v8-pool-size=1'];

export async function runs(): Promise<Figure[]> {
  const harness = await startHarness({ reply: true });
  try {
    const chain = await drained(harness, 'chain', BACKLOG);
    const begun = await latency(harness, chain.perSecond / 2, NODE_ARGS);
    // Right before and after the large one, since a machine is not equally fast for minutes.
    const before = await drained(harness, 'chain', BACKLOG);
    const large = await drained(harness, 'chain', LARGE_BACKLOG);
    const after = await drained(harness, 'chain', BACKLOG);
    const neighbour = await beside(harness);
    return [
      {
        name: 'three-node runs at saturation',
        value: chain.perSecond,
        unit: 'runs/s',
        goal: { at: 'least', value: 2_000, of: 'value' },
      },
      ...begun,
      {
        name: 'backlog of 100,000: drained',
        value: large.perSecond,
        unit: 'runs/s',
        ratio: {
          to: 'backlog of 20,000',
          value: (2 * large.perSecond) / (before.perSecond + after.perSecond),
        },
        goal: { at: 'least', value: 0.9, of: 'ratio' },
      },
      {
        name: 'backlog of 100,000: runner, most RSS',
        value: large.runnerMiB,
        unit: 'MiB',
        ratio: { to: 'backlog of 20,000', value: large.runnerMiB / chain.runnerMiB },
        goal: { at: 'most', value: 1.1, of: 'ratio' },
      },
      { name: 'backlog of 20,000: runner, most RSS', value: chain.runnerMiB, unit: 'MiB' },
      { name: 'backlog of 100,000: run store, RSS before', value: large.storeMiB, unit: 'MiB' },
      {
        name: 'run of a neighbour behind 2,000: runs that ended before it',
        value: neighbour.before,
        unit: 'runs',
        goal: { at: 'most', value: CLAIMED_BEFORE, of: 'value' },
      },
      { name: 'run of a neighbour behind 2,000: accepted to end', value: neighbour.ms, unit: 'ms' },
    ];
  } finally {
    await harness.close();
  }
}

type Drained = { perSecond: number; runnerMiB: number; storeMiB: number };

/** Runs a second, from the first tenth of the backlog to the last, with nobody sending. */
export async function drained(harness: Harness, workflow: Workflow, backlog: number): Promise<Drained> {
  await emptyProject(harness);
  await submitMany(harness, workflow, backlog);
  const storeMiB = residentMiB(harness.redis.pid(), 'VmRSS');
  const runner = await startRunnerProcess(harness, NODE_ARGS);
  try {
    const from = await ended(harness, workflow, backlog * 0.1);
    const to = await ended(harness, workflow, backlog * 0.9);
    await ended(harness, workflow, backlog);
    const perSecond = (to.runs - from.runs) / ((to.at - from.at) / 1_000);
    console.error(`${workflow}, ${backlog} runs: ${Math.round(perSecond)} runs/s`);
    return { perSecond, runnerMiB: residentMiB(runner.pid, 'VmHWM'), storeMiB };
  } finally {
    await runner.stop();
  }
}

async function ended(
  { runs }: Harness,
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

/** A flood, and in the middle of it one run of another workflow. */
async function beside(harness: Harness): Promise<{ before: number; ms: number }> {
  await emptyProject(harness);
  const runner = await startRunnerProcess(harness, NODE_ARGS);
  try {
    const rounds: { before: number; ms: number }[] = [];
    for (let round = 0; round < 5; round += 1) rounds.push(await besideOnce(harness));
    return { before: median(rounds.map(({ before }) => before)), ms: median(rounds.map(({ ms }) => ms)) };
  } finally {
    await runner.stop();
  }
}

async function besideOnce(harness: Harness): Promise<{ before: number; ms: number }> {
  const counted = async () => {
    const counts = await readCounts(harness.runs, PROJECT, 'uid-chain');
    if (isUnavailable(counts)) throw new Error('The run store is away.');
    return counts;
  };
  const flood = Array.from({ length: FLOOD }, () => submitOne(harness, 'chain'));
  const run = await submitOne(harness, 'neighbour');
  const { succeeded: from } = await counted();
  const state = await pollUntil(
    'the run of the neighbour',
    async () => {
      const found = await readRun(harness.runs, PROJECT, run);
      return found && !isUnavailable(found) && found.endedAt !== undefined && found;
    },
    { timeoutMs: 60_000, everyMs: 1 },
  );
  const { succeeded: to } = await counted();
  await Promise.all(flood);
  await pollUntil('the flood to end', async () => (await counted()).active === 0, { timeoutMs: 60_000 });
  return { before: to - from, ms: (state.endedAt ?? Number.NaN) - state.acceptedAt };
}
