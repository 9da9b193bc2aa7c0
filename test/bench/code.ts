/**
 * What code steps cost: executions of the sandbox by itself, the time that an empty step adds to a run, what
 * other runs notice of a script in an endless loop, and the memory of an idle sandbox.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createSandbox } from '../../nodes/code/sandbox.ts';
import { type CodeSandbox } from '../../nodes/contract/code.ts';
import { createReplyWaiter, type ReplyWaiter } from '../../runs/reply.ts';
import { connectRunStore } from '../../store/connection.ts';
import { startRedis } from '../support/runStore/redis.ts';
import { openTestProject, startTestRunner, type TestProject } from '../support/runner/runnerProject.ts';
import { idleMemory } from './codeMemory.ts';
import { median, type Figure } from './report.ts';

const EXECUTIONS = 5_000;
const IN_FLIGHT = 50;
const ROUNDS = 5;
const RUNS = 400;
const BESIDE_RUNS = 500;
const BESIDE_EVERY_MS = 20;
const WAIT_MS = 60_000;

const EMPTY = 'return null;';
const never = new AbortController().signal;
const webhook = { id: 'trigger', webhook: { path: 'new' } };
const reply = { id: 'reply', response: { body: 'ok' } };

export async function code(): Promise<Figure[]> {
  const idle = await idleMemory();
  const sandbox = createSandbox();
  const redis = await startRedis();
  const conn = connectRunStore({ url: redis.url, name: 'bench' });
  try {
    const perSecond = median(await oneByOne(ROUNDS, () => executionsPerSecond(sandbox)));
    const project = await openTestProject(conn);
    const runner = startTestRunner(conn, project.uid, { sandbox });
    const waiter = createReplyWaiter(conn);
    try {
      const runs = { project, waiter };
      const without = await project.deploy([webhook, reply]);
      const withCode = await project.deploy([webhook, { id: 'code', code: { source: EMPTY } }, reply]);
      await oneByOne(100, () => timeOfRun(runs, withCode));
      const plain: number[] = [];
      const coded: number[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        plain.push(await timeOfRun(runs, without));
        coded.push(await timeOfRun(runs, withCode));
      }
      const uncoded = await paced(runs, without);
      const alone = await paced(runs, withCode);
      const stop = new AbortController();
      const endless = executeForEver(sandbox, stop.signal);
      const beside = await paced(runs, withCode);
      stop.abort();
      await endless;
      return figures({
        idle,
        perSecond,
        added: median(coded) - median(plain),
        plain: median(plain),
        uncoded,
        alone,
        beside,
      });
    } finally {
      waiter.close();
      await runner.stop(0);
    }
  } finally {
    await sandbox.close();
    await conn.close();
    await redis.stop();
  }
}

type Found = {
  idle: number;
  perSecond: number;
  added: number;
  plain: number;
  uncoded: number;
  alone: number;
  beside: number;
};

function figures({ idle, perSecond, added, plain, uncoded, alone, beside }: Found): Figure[] {
  const most = (value: number, of: 'value' | 'ratio' = 'value') => ({ at: 'most' as const, value, of });
  return [
    { name: 'memory of an idle sandbox', value: idle, unit: 'MiB', goal: most(40) },
    {
      name: 'executions of an empty step',
      value: perSecond,
      unit: '/s',
      goal: { at: 'least', value: 1_000, of: 'value' },
    },
    { name: 'submit to reply without code, p50', value: plain, unit: 'ms' },
    { name: 'added by an empty code step, p50', value: added, unit: 'ms', goal: most(1.5) },
    { name: 'submit to reply without code at 50/s, p99', value: uncoded, unit: 'ms' },
    { name: 'submit to reply with code at 50/s, p99', value: alone, unit: 'ms' },
    {
      name: 'the same beside a script in an endless loop, p99',
      value: beside,
      unit: 'ms',
      ratio: { to: 'alone', value: beside / alone },
      goal: most(2, 'ratio'),
    },
  ];
}

async function oneByOne<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < times) results.push(await work());
  return results;
}

async function execute(sandbox: CodeSandbox, source = EMPTY, signal = never): Promise<void> {
  const request = { source, nodes: [], values: [], clockMs: 0, seed: '', timeoutMs: 60_000, memoryMiB: 64 };
  await sandbox.execute(request, signal);
}

async function executionsPerSecond(sandbox: CodeSandbox): Promise<number> {
  const begin = performance.now();
  let left = EXECUTIONS;
  const client = async () => {
    while ((left -= 1) >= 0) await execute(sandbox);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return (EXECUTIONS / (performance.now() - begin)) * 1_000;
}

async function executeForEver(sandbox: CodeSandbox, signal: AbortSignal): Promise<void> {
  await execute(sandbox, 'for (;;);', signal).catch(() => undefined);
}

type Runs = { project: TestProject; waiter: ReplyWaiter };

/** From the submission to the reply, in milliseconds. */
async function timeOfRun({ project, waiter }: Runs, revision: string): Promise<number> {
  const begin = performance.now();
  const run = await project.send(revision, {});
  const waited = await waiter.wait(project.uid, run, { timeoutMs: WAIT_MS, signal: never });
  if (waited.kind !== 'reply') throw new Error(`a run was not answered: ${waited.kind}`);
  return performance.now() - begin;
}

/** The 99th percentile of runs that come one by one, whatever becomes of those before. */
async function paced(runs: Runs, revision: string): Promise<number> {
  const times: Promise<number>[] = [];
  const begin = performance.now();
  while (times.length < BESIDE_RUNS) {
    const due = Math.min(BESIDE_RUNS, Math.floor((performance.now() - begin) / BESIDE_EVERY_MS));
    while (times.length < due) times.push(timeOfRun(runs, revision));
    await delay(1);
  }
  const sorted = (await Promise.all(times)).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}
