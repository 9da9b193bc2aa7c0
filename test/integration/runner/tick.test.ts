/** The program of a CronJob's pod, as a process, with a real run store. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { keysOf } from '../../../store/keys.ts';
import { readRun } from '../../../runs/read.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { programFile } from '../../support/process/programFiles.ts';
import { openTestProject, type TestProject } from '../../support/runner/runnerProject.ts';
import { startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

const program = programFile('tick');

let store: TestStore;
let project: TestProject;
let revision: string;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());
beforeEach(async () => {
  project = await openTestProject(store.conn);
  revision = await project.deploy([{ id: 'tick', schedule: { cron: '* * * * *' } }]);
});

/** The Job of the minute that was so many minutes ago. */
const jobOf = (minutesAgo = 0) => `report-1-${Math.floor(Date.now() / 60_000) - minutesAgo}`;

type Ended = { status: number | null; log: Record<string, unknown>[] };

const tick = (job: string, more: Record<string, string> = {}): Promise<Ended> => startTick(job, more).ended;

/** `waits` resolves when it has found no run store. */
type Running = { stop: () => void; waits: Promise<void>; ended: Promise<Ended> };

function startTick(job: string, more: Record<string, string> = {}): Running {
  const env = {
    PROJECT_UID: project.uid,
    WORKFLOW: 'report',
    WORKFLOW_UID: revision,
    REVISION: revision,
    CRON_JOB: 'report-1',
    JOB_NAME: job,
    JOB_UID: job,
    TIME_ZONE: 'Europe/Berlin',
    LATEST_SECONDS: '300',
    REDIS_URL: store.redis.url,
    ...more,
  };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const waits = Promise.withResolvers<void>();
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line);
    if (line.includes('retrying')) waits.resolve();
  });
  const ended = once(child, 'close').then(() => ({
    status: child.exitCode,
    log: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  }));
  return { stop: () => void child.kill('SIGTERM'), waits: waits.promise, ended };
}

async function runs(): Promise<string[]> {
  return (await store.conn.command('zrange', keysOf(project.uid).runs(revision), 0, -1)) as string[];
}

async function inputOf(run: string): Promise<unknown> {
  const state = await readRun(store.conn, project.uid, run);
  if (state === undefined || isUnavailable(state)) throw new Error('the run is not there');
  return JSON.parse(state.input);
}

test('a tick starts one run, and executed again or at the same time it is the same one', async () => {
  const job = jobOf();
  const ended = await Promise.all([tick(job), tick(job), tick(job)]);
  ended.push(await tick(job));
  expect(ended.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
  const [run = '', ...others] = await runs();
  expect(others).toEqual([]);
  const scheduled = new Date(Number(job.split('-').at(-1)) * 60_000).toISOString().replace('.000Z', 'Z');
  expect(await inputOf(run)).toMatchObject({
    text_content: scheduled,
    data_content: { scheduled_time: scheduled, time_zone: 'Europe/Berlin' },
  });
  const said = ended.flatMap(({ log }) => log.map(({ msg }) => msg));
  expect(said.filter((msg) => msg === 'run started')).toHaveLength(1);
  expect(said.filter((msg) => msg === 'run already started')).toHaveLength(3);
});

test('ticks of other times, and Jobs made by hand, are events of their own, also under a name that was used before', async () => {
  for (const job of [jobOf(), jobOf(1), 'by-hand-1', 'by-hand-2']) await tick(job);
  await tick('by-hand-1', { JOB_UID: 'another' });
  expect(await runs()).toHaveLength(5);
});

test('a tick that comes too late starts nothing, unless the latest time is to be made up for', async () => {
  const { status, log } = await tick(jobOf(6));
  // The Job fails, so that it is seen, and is not tried again.
  expect(status).toBe(3);
  expect(log.at(-1)?.['msg']).toBe('too late, no run started');
  expect(await runs()).toEqual([]);
  await tick(jobOf(60), { LATEST_SECONDS: '' });
  expect(await runs()).toHaveLength(1);
});

test('above the limit of a workflow that rejects no run is started, and that is no failure', async () => {
  revision = await project.deploy([{ id: 'tick', schedule: { cron: '* * * * *' } }], undefined, undefined, {
    policy: 'Reject',
    concurrency: 1,
  });
  await project.send(revision, {});
  const { status, log } = await tick(jobOf());
  expect(status).toBe(0);
  expect(log.at(-1)?.['msg']).toBe('event rejected by concurrency limit');
  expect(await runs()).toHaveLength(1);
});

test('a time whose key another run has is lost, and its Job says so', async () => {
  const job = jobOf();
  const time = new Date(Number(job.split('-').at(-1)) * 60_000).toISOString().replace('.000Z', 'Z');
  const run = await project.send(
    revision,
    {},
    { trigger: 'schedule', dedupeKey: `schedule/${time}`, bodyHash: 'another' },
  );
  const { status, log } = await tick(job);
  expect(status).toBe(3);
  expect(log.at(-1)).toMatchObject({ msg: 'event key belongs to another run', run });
});

test('while the run store is away a tick waits for as long as its time counts, and starts its run when it is back', async () => {
  await store.redis.kill();
  const waiting = tick(jobOf(60), { LATEST_SECONDS: '' });
  const early = tick('by-hand', { LATEST_SECONDS: '2' });
  expect(await early).toMatchObject({ status: 3 });
  expect((await early).log.at(-1)).toMatchObject({
    level: 'error',
    msg: 'run store unavailable, no run started',
    why: 'unreachable',
    connectionError: expect.stringContaining('ECONNREFUSED') as unknown,
  });
  await store.redis.restart();
  expect(await waiting).toMatchObject({ status: 0 });
  await store.conn.ready();
  expect(await runs()).toHaveLength(1);
});

test('a tick that is told to stop ends at once and starts nothing, also when the run store comes back', async () => {
  await store.redis.kill();
  const { stop, waits, ended } = startTick(jobOf(), { LATEST_SECONDS: '' });
  await waits;
  stop();
  const { status, log } = await ended;
  expect(status).toBe(1);
  expect(log.at(-1)?.['msg']).toBe('stopped, no run started');
  await store.redis.restart();
  await store.conn.ready();
  expect(await runs()).toEqual([]);
});

test('what is missing in its environment is named', async () => {
  const child = spawn(process.execPath, [program], {
    env: { PROJECT_UID: 'x' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [complaint] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(child.exitCode).not.toBe(0);
  expect(complaint).toContain(
    'Invalid environment of the tick: missing WORKFLOW, WORKFLOW_UID, REVISION, JOB_NAME, JOB_UID, CRON_JOB, TIME_ZONE, REDIS_URL',
  );
});
