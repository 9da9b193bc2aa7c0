/**
 * What loops and child runs cost: items per second with their checkpoints, HTTP calls in parallel, the memory
 * of a loop of 10,000 items, what a neighbour's run waits beside it, and chains of child runs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RunState } from '../../runs/types/run.ts';
import { connectRunStore } from '../../store/connection.ts';
import { listen } from '../support/network/listen.ts';
import { openTestProject, type TestProject } from '../support/runner/runnerProject.ts';
import { startRedis } from '../support/runStore/redis.ts';
import { median, type Figure } from './report.ts';

const ROUNDS = 5;
const ITEMS = 1_000;
const CALLS = 100;
const IN_PARALLEL = 10;
const CALL_MS = 100;
const MANY = 10_000;
/** Child runs in a chain, and how often each chain is executed. */
const CHILDREN = 10;
const CHAINS = 20;
const NEIGHBOUR_EVERY_MS = 50;
const MIB = 2 ** 20;
/** What the operator tells Node, in a container with the chart's limit of 512 MiB. */
const NODE_ARGS = ['--max-old-space-size=256', '--max-semi-space-size=16', '--v8-pool-size=1'];
const MEMORY_LIMIT_MIB = 512;

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const forEach = { items: "{{ $('trigger').data_content.items }}" };
const set = (id: string, extra: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values: { id: 'item.id', total: 'item.price * 2.0' } } },
  ...extra,
});
const short = { id: 'short', skill: { name: 'set', parameters: { values: '1' } } };
const itemsOf = (length: number) => ({ items: Array.from({ length }, (_, id) => ({ id, price: 2.5 })) });

export async function loops(): Promise<Figure[]> {
  const redis = await startRedis();
  const conn = connectRunStore({ url: redis.url, name: 'bench' });
  let inServerMs = 0;
  const server = await listen(async (_request, response) => {
    const begin = performance.now();
    await delay(CALL_MS);
    response.end('ok');
    inServerMs += performance.now() - begin;
  });
  try {
    const project = await openTestProject(conn);
    const runner = await startRunnerOf(redis.url, project.uid);
    try {
      const loop = await project.deploy([webhook, set('each', { forEach })]);
      await timeOf(project, loop, itemsOf(ITEMS));
      const perSecond: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        perSecond.push((ITEMS / (await timeOf(project, loop, itemsOf(ITEMS)))) * 1_000);
      const calls = await project.deploy([
        webhook,
        {
          id: 'call',
          skill: { name: 'http_request', parameters: { url: server.url } },
          forEach: { ...forEach, maxParallel: IN_PARALLEL },
        },
      ]);
      await timeOf(project, calls, itemsOf(CALLS));
      inServerMs = 0;
      const callsMs = await timeOf(project, calls, itemsOf(CALLS));
      const chains = await chainsOfChildren(project);
      const waits = await besideLoop(project);
      return figures({
        perSecond: median(perSecond),
        callsMs,
        idealMs: inServerMs / IN_PARALLEL,
        memoryMiB: runner.mostMiB(),
        ...chains,
        ...waits,
      });
    } finally {
      await runner.stop();
    }
  } finally {
    await server.close();
    await conn.close();
    await redis.stop();
  }
}

type Found = {
  perSecond: number;
  callsMs: number;
  idealMs: number;
  memoryMiB: number;
  manyPerSecond: number;
  neighbourMs: number;
  callMs: number;
  levelMs: number;
};

function figures(found: Found): Figure[] {
  const { perSecond, callsMs, idealMs, memoryMiB, manyPerSecond, neighbourMs, callMs, levelMs } = found;
  return [
    {
      name: '1,000 items of a set, checkpoints included',
      value: perSecond,
      unit: 'items/s',
      goal: { at: 'least', value: 3_000, of: 'value' },
    },
    {
      name: '100 HTTP calls, maxParallel 10',
      value: callsMs,
      unit: 'ms',
      ratio: { to: 'the calls alone', value: callsMs / idealMs },
      goal: { at: 'most', value: 1.3, of: 'ratio' },
    },
    { name: '10,000 items of a set in a group', value: manyPerSecond, unit: 'items/s' },
    {
      name: '10,000 items: runner, most RSS',
      value: memoryMiB,
      unit: 'MiB',
      goal: { at: 'most', value: MEMORY_LIMIT_MIB, of: 'value' },
    },
    {
      name: 'run of a neighbour beside them: accepted to end, p99',
      value: neighbourMs,
      unit: 'ms',
      goal: { at: 'most', value: 100, of: 'value' },
    },
    {
      name: `${CHILDREN} child runs one after another, each`,
      value: callMs,
      unit: 'ms',
      goal: { at: 'most', value: 5, of: 'value' },
    },
    {
      name: `child runs on ${CHILDREN} levels, each`,
      value: levelMs,
      unit: 'ms',
      goal: { at: 'most', value: 5, of: 'value' },
    },
  ];
}

/** The time of one child run: in a run that calls ten one after another, and where each calls the next. */
async function chainsOfChildren(project: TestProject): Promise<Pick<Found, 'callMs' | 'levelMs'>> {
  const leaf = await project.deploy([webhook, short]);
  const calls = Array.from({ length: CHILDREN }, (_, index) => ({
    id: `call-${index}`,
    workflow: { name: leaf },
  }));
  const sequence = await project.deploy([webhook, ...calls]);
  let nested = leaf;
  for (let level = 0; level < CHILDREN; level += 1)
    nested = await project.deploy([webhook, { id: 'call', workflow: { name: nested } }]);
  return { callMs: await timeOfChild(project, sequence), levelMs: await timeOfChild(project, nested) };
}

async function timeOfChild(project: TestProject, revision: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < CHAINS; round += 1) times.push(await timeOf(project, revision, {}));
  return median(times) / CHILDREN;
}

/** From the claim to the end, in milliseconds. */
async function timeOf(project: TestProject, revision: string, body: unknown): Promise<number> {
  return durationOf(await project.ended(await project.send(revision, body), 120_000));
}

function durationOf({ run, phase, message, startedAt, endedAt }: RunState): number {
  if (phase !== 'Succeeded') throw new Error(`run ${run} ended ${phase}: ${message}`);
  return (endedAt ?? Number.NaN) - (startedAt ?? Number.NaN);
}

/** Short runs of another workflow, one by one, while a loop of 10,000 items is executed. */
async function besideLoop(project: TestProject): Promise<Pick<Found, 'manyPerSecond' | 'neighbourMs'>> {
  const many = await project.deploy([
    webhook,
    { id: 'each', group: {}, forEach: { ...forEach, maxParallel: 100, collect: 'None' } },
    set('first', { within: 'each' }),
    set('second', { within: 'each' }),
  ]);
  const neighbour = await project.deploy([webhook, short]);
  const loop = project.send(many, itemsOf(MANY)).then((run) => project.ended(run, 120_000));
  const progress = { hasEnded: false };
  void loop.finally(() => (progress.hasEnded = true));
  const ended: Promise<RunState>[] = [];
  while (!progress.hasEnded) {
    ended.push(project.ended(await project.send(neighbour, {}), 120_000));
    await delay(NEIGHBOUR_EVERY_MS);
  }
  const times = (await Promise.all(ended)).map(
    ({ acceptedAt, endedAt = Number.NaN }) => endedAt - acceptedAt,
  );
  const sorted = times.toSorted((a, b) => a - b);
  return {
    manyPerSecond: (MANY / durationOf(await loop)) * 1_000,
    neighbourMs: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
  };
}

type RunnerOf = { mostMiB(): number; stop(): Promise<void> };

async function startRunnerOf(url: string, project: string): Promise<RunnerOf> {
  const script = fileURLToPath(new URL('loopsProcess.ts', import.meta.url));
  const child = spawn(process.execPath, [...NODE_ARGS, script, url, project], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  await once(child.stdout, 'data');
  return {
    mostMiB: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return (Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024) / MIB;
    },
    stop: async () => {
      process.removeListener('exit', killWithUs);
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
