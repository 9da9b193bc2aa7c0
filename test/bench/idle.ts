/**
 * `idle`: what an awake runner costs that has nothing to do: calls to the run store, processor time of the
 * runner and of Redis, and memory. The program is that of the image with what a pod has mounted, in a project
 * of its own.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { bundledPrograms } from '../../images/bundle.ts';
import { layOut } from '../../images/files.ts';
import { NAMESPACE } from '../support/gateway/gatewayHarness.ts';
import { makeFolder } from '../support/process/folder.ts';
import { mountAccount } from '../support/runner/mountedAccount.ts';
import { startHarness, type Harness } from './harness.ts';
import type { Figure } from './report.ts';
import { startRunnerProcess } from './runnerProcess.ts';
import { processorTicks } from './singles.ts';

/** The time in which the caches of a program that has started come to rest, and it returns memory. */
const REST_MS = 75_000;
const MEASURED_MS = 60_000;
const TICKS_PER_SECOND = 100;
/** As in a pod (`operator/pods/environment.ts`). */
const NODE_ARGS = ['--max-semi-space-size=16', '--v8-pool-size=1', '--expose-gc'];

export async function idle(): Promise<Figure[]> {
  const { path: folder, remove } = await makeFolder('idle');
  const harness = await startHarness({ reply: false });
  try {
    const file = await layOutPrograms(folder);
    const account = await mountAccount(harness.api, harness.client, NAMESPACE);
    const runner = await startRunnerProcess(harness, NODE_ARGS, { file, account });
    try {
      return await measured(harness, runner.pid);
    } finally {
      await runner.stop();
      account.remove();
    }
  } finally {
    await harness.close();
    remove();
  }
}

/** Lays out the files of the image, and answers the path of the runner's program. */
async function layOutPrograms(folder: string): Promise<string> {
  await layOut(await bundledPrograms('windlass'), folder);
  return join(folder, 'app/runner.mjs');
}

async function measured({ redis }: Harness, pid: number): Promise<Figure[]> {
  await delay(REST_MS);
  const before = { runner: await processorTicks(pid), redis: await processorTicks(redis.pid()) };
  const calls = await countCalls(redis.port, MEASURED_MS);
  const seconds = MEASURED_MS / 1_000;
  const percent = (ticks: number) => (100 * ticks) / TICKS_PER_SECOND / seconds;
  return [
    {
      name: 'calls to the run store',
      value: calls / seconds,
      unit: '/s',
      goal: { at: 'most', value: 0.5, of: 'value' },
    },
    {
      name: 'processor of the runner',
      value: percent((await processorTicks(pid)) - before.runner),
      unit: '% of a core',
      goal: { at: 'most', value: 0.2, of: 'value' },
    },
    {
      name: 'processor of Redis',
      value: percent((await processorTicks(redis.pid())) - before.redis),
      unit: '% of a core',
    },
    ...(await memoryOf(pid)),
  ];
}

/** The files are shared by all pods of a node that run the image. */
async function memoryOf(pid: number): Promise<Figure[]> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1_024;
  return [
    {
      name: 'memory of the runner',
      value: mebibytes('VmRSS'),
      unit: 'MiB',
      goal: { at: 'most', value: 100, of: 'value' },
    },
    { name: 'of that, files that it has mapped', value: mebibytes('RssFile'), unit: 'MiB' },
  ];
}

/** How many calls come to Redis in that time, without those that scripts make. */
async function countCalls(port: number, forMs: number): Promise<number> {
  const monitor = spawn('redis-cli', ['-p', String(port), 'monitor'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let calls = 0;
  createInterface({ input: monitor.stdout }).on('line', (line) => {
    if (/^[\d.]+ \[\d+ (?!lua)/.test(line)) calls += 1;
  });
  await delay(forMs);
  monitor.kill();
  return calls;
}
