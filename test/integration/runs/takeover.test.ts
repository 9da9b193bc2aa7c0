/** Runners that die: their runs go on elsewhere, and a run that kills runners does so three times at most. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { finish } from '../../support/runStore/calls.ts';
import { startHeartbeats, type HeartbeatOptions } from '../../../runs/heartbeat.ts';
import { sendPulse } from '../../../runs/pulse.ts';
import { handBackAll } from '../../../runs/handback.ts';
import { keysOf } from '../../../store/keys.ts';
import { createTakeover, takeOver } from '../../../runs/takeover.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import { pollUntil } from '../../support/time/poll.ts';
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
  startedRun,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const poll = { timeoutMs: 40_000, everyMs: 10 };
const beatOf = async (project: string, runner: string) =>
  (await store.conn.command('hget', keysOf(project).heartbeats, runner)) as string | null;

/** The runner dies, and another takes its run over. */
async function crash({ project, run, token }: ClaimRef, runner = 'runner-1') {
  const seen = (await beatOf(project, runner)) ?? '';
  return takeOver(store.conn, { project, run, token, runner, heartbeat: seen });
}

test('the runs of a runner whose heartbeat stopped are ready again, and its late calls change nothing', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  await accepted(conn, submissionOf(project));
  const [one, two] = await claimed(conn, project, 2, 'dead');
  if (!one || !two) throw new Error('nothing was claimed');
  const stop = new AbortController();
  const takeover = createTakeover({ conn, project, runner: 'alive', deadAfterMs: 60, everyMs: 20 });
  const watching = takeover.run(stop.signal);
  const again: Awaited<ReturnType<typeof claimed>> = [];
  // The runs are taken over one after the other: both need not be ready at the same moment.
  await pollUntil(
    'both runs',
    async () => again.push(...(await claimed(conn, project, 2, 'alive'))) === 2,
    poll,
  );
  await pollUntil('the beat to go', async () => (await beatOf(project, 'dead')) === null, poll);
  stop.abort();
  await watching;
  expect(again.map(({ state }) => state.crashes)).toEqual([1, 1]);
  expect(await finish(conn, refOf(one), { phase: 'Failed' })).toEqual({ outcome: 'fenced' });
});

test('while the store answers and takes no writes no live runner is taken for dead', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  await claimedOne(conn, project, 'alive');
  await sendPulse(conn, project, 'alive');
  const stop = new AbortController();
  const checks: unknown[] = [];
  const counted = {
    ...conn,
    script: async (...args: Parameters<typeof conn.script>) => {
      const answer = conn.script(...args);
      if (args[1].includes(keysOf(project).heartbeats)) checks.push(await answer.catch(String));
      return answer;
    },
  };
  await conn.command('config', 'set', 'min-replicas-to-write', 1);
  const watching = createTakeover({
    conn: counted,
    project,
    runner: 'watcher',
    deadAfterMs: 60,
    everyMs: 20,
  }).run(stop.signal);
  await pollUntil('more checks than kill', () => checks.length > 10, poll);
  expect(await sendPulse(conn, project, 'alive')).toMatchObject({ outcome: 'unavailable' });
  await conn.command('config', 'set', 'min-replicas-to-write', 0);
  expect(await sendPulse(conn, project, 'alive')).toMatchObject({ heartbeat: 2 });
  stop.abort();
  await watching;
  expect(await conn.command('hlen', keysOf(project).claims)).toBe(1);
});

test('a runner that beats keeps its runs, and so does the one that watches', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  await accepted(conn, submissionOf(project));
  const beating = await claimedOne(conn, project, 'beating');
  const watcher = await claimedOne(conn, project, 'watcher');
  const stop = new AbortController();
  const checks = { count: 0 };
  const counted = {
    ...conn,
    script: (...args: Parameters<typeof conn.script>) => {
      if (args[1].includes(keysOf(project).heartbeats)) checks.count += 1;
      return conn.script(...args);
    },
  };
  const watching = createTakeover({
    conn: counted,
    project,
    runner: 'watcher',
    deadAfterMs: 100,
    everyMs: 10,
  }).run(stop.signal);
  await pollUntil(
    'many checks',
    async () => {
      await sendPulse(conn, project, 'beating');
      return checks.count > 40;
    },
    poll,
  );
  stop.abort();
  await watching;
  expect(await finish(conn, beating, { phase: 'Succeeded' })).toMatchObject({ outcome: 'done' });
  expect(await finish(conn, watcher, { phase: 'Succeeded' })).toMatchObject({ outcome: 'done' });
});

test('a runner whose heartbeat resumes at the last moment keeps its runs', async () => {
  const { conn } = store;
  const ref = await startedRun(conn);
  const { project } = ref;
  const seen = (await beatOf(project, 'runner-1')) ?? '';
  await sendPulse(conn, project, 'runner-1');
  expect(await takeOver(conn, { ...ref, runner: 'runner-1', heartbeat: seen })).toBe('alive');
  expect(await finish(conn, ref, { phase: 'Succeeded' })).toMatchObject({ outcome: 'done' });
});

test('only one of two concurrent takeovers succeeds', async () => {
  const ref = await startedRun(store.conn);
  const outcomes = await Promise.all([crash(ref), crash(ref)]);
  expect(new Set(outcomes)).toEqual(new Set(['ready', 'fenced']));
});

test('after two crashes a run is executed alone, after the third it fails as Poison', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const run = await accepted(conn, submissionOf(project));
  expect(await crash(await claimedOne(conn, project))).toBe('ready');
  expect(await crash(await claimedOne(conn, project))).toBe('ready');
  await accepted(conn, submissionOf(project));
  const [alone, ...others] = await claimed(conn, project, 2);
  expect(alone).toMatchObject({ alone: true, state: { run, crashes: 2 } });
  expect(others).toEqual([]);
  if (!alone) throw new Error('nothing was claimed');
  expect(await crash(refOf(alone))).toBe('poison');
  expect(await stateOf(conn, project, run)).toMatchObject({ phase: 'Failed', reason: 'Poison' });
  const [next] = await claimed(conn, project, 2);
  expect(next?.alone).toBe(false);
});

test('progress between two crashes resets the count', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  expect(await crash(await claimedOne(conn, project))).toBe('ready');
  expect(await crash(await claimedOne(conn, project))).toBe('ready');
  const ref = await claimedOne(conn, project);
  await advance(conn, ref, { checkpoints: [succeededNode('a')] });
  expect(await crash(ref)).toBe('ready');
  const [claim] = await claimed(conn, project, 1);
  expect(claim).toMatchObject({ alone: false, state: { crashes: 1, nodes: [succeededNode('a')] } });
});

test('who hands everything back has no crash counted', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  await accepted(conn, submissionOf(project));
  await claimed(conn, project, 1, 'leaving');
  const other = await claimedOne(conn, project, 'staying');
  expect(await handBackAll(conn, { project, runner: 'leaving' })).toMatchObject({ outcome: 'done' });
  const [claim, ...rest] = await claimed(conn, project);
  expect(claim?.state.crashes).toBe(0);
  expect(rest).toEqual([]);
  expect(await finish(conn, other, { phase: 'Succeeded' })).toMatchObject({ outcome: 'done' });
});

test('the beat goes on while the event loop is busy, and goes when it is stopped', async () => {
  const { conn, redis } = store;
  const project = await newProject(conn);
  const beats = startHeartbeats({ url: redis.url, project, runner: 'busy', everyMs: 20 });
  await pollUntil('the first beat', async () => (await beatOf(project, 'busy')) !== null, poll);
  const before = Number(await beatOf(project, 'busy'));
  // To wait for another program like this keeps the event loop from turning.
  const ask = ['-p', String(redis.port), 'hget', keysOf(project).heartbeats, 'busy'];
  const end = performance.now() + 10_000;
  let now = before;
  while (now <= before + 3 && performance.now() < end) now = Number(spawnSync('redis-cli', ask).stdout);
  expect(now).toBeGreaterThan(before + 3);
  await beats.stop();
  expect(await beatOf(project, 'busy')).toBeNull();
});

/** A process that sends heartbeats and counts as stuck after 1.5 s, with this code in it. */
function processWithHeartbeats(
  url: string,
  code: string,
  other: Partial<HeartbeatOptions> = {},
): ChildProcess {
  const module = new URL('../../../runs/heartbeat.ts', import.meta.url).href;
  const options = { url, project: 'p', runner: 'stuck', everyMs: 20, stuckAfterMs: 1_500, ...other };
  const program = `
    const { startHeartbeats } = await import(${JSON.stringify(module)});
    const beats = startHeartbeats(${JSON.stringify(options)});
    ${code}
  `;
  return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
}

test('a process whose event loop does not turn any more is ended', async () => {
  const child = processWithHeartbeats(store.redis.url, 'setTimeout(() => { for (;;); }, 500);');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a runner that is idle and alone is ended as well, although it sends few heartbeats', async () => {
  const code = 'beats.setBusy(false); setTimeout(() => { for (;;); }, 500);';
  // A wait that counted as one between the heartbeats of others would end the process after minutes.
  const rare = { project: await newProject(store.conn), everyMs: 1, aloneEveryMs: 400 };
  const [, signal] = (await once(processWithHeartbeats(store.redis.url, code, rare), 'exit')) as unknown[];
  expect(signal).toBe('SIGKILL');
});

test('a process whose event loop turns goes on, also while the run store is away', async () => {
  const away = 'redis://127.0.0.1:1';
  const [code] = (await once(
    processWithHeartbeats(away, 'setTimeout(() => process.exit(7), 4_000);'),
    'exit',
  )) as [number | null];
  expect(code).toBe(7);
});
