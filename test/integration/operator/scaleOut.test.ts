/**
 * Runners that come with a backlog and go without it, each as its program: what a kubelet would start and
 * end, the test does.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deployments } from '../../../kube/resource.ts';
import { projectSettings } from '../../../operator/shared/resources.ts';
import { claimsOf } from '../../../runs/handback.ts';
import { readRun } from '../../../runs/read.ts';
import { holderOf } from '../../../runs/claimToken.ts';
import { keysOf } from '../../../store/keys.ts';
import { addBacklog } from '../../support/operator/backlog.ts';
import type { RunnerProgram } from '../../support/runner/runnerProgram.ts';
import { startWholeSystem, type WholeSystem } from '../../support/system/wholeSystem.ts';
import { pollUntil } from '../../support/time/poll.ts';

/** As in the goal for scaling out. */
const BACKLOG = 10_000;
/** Runs that a runner executes at a time. */
const CONCURRENCY = 50;

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
}, 600_000);
afterAll(() => system?.stop());

const claimed = async () => {
  const tokens = (await system.harness.conn.command('hvals', keysOf(system.uid).claims)) as string[];
  return tokens.length;
};

/** Those that have not succeeded without a crash. One that is recorded has left the run store. */
async function unfinished(runs: readonly string[]): Promise<string[]> {
  const { harness, uid } = system;
  const states = await Promise.all(runs.map((run) => readRun(harness.conn, uid, run)));
  return runs.filter((_run, index) => {
    const state = states[index];
    if (state === undefined) return false;
    return 'outcome' in state || state.phase !== 'Succeeded' || state.crashes > 0;
  });
}

test('a backlog of 10,000 runs brings four runners within 30 seconds, and one that goes hands its runs back without a crash', async () => {
  const { harness, namespace, uid, effects } = system;
  const release = effects.hold();
  await harness.client.create(projectSettings, {
    metadata: { namespace, name: 'default' },
    spec: { runners: { autoscaling: { engine: 'Builtin', max: 4 } } },
  });
  await addBacklog(harness, { namespace, uid, workflow: 'orders', trigger: 'webhook' }, BACKLOG);
  const replicas = async () => {
    const pool = await harness.client.get(deployments, { namespace, name: 'windlass-runner' });
    return pool.spec?.replicas;
  };
  await pollUntil('four runners', async () => (await replicas()) === 4, { timeoutMs: 30_000, everyMs: 50 });
  const others: RunnerProgram[] = [];
  for (const name of ['runner-1', 'runner-2', 'runner-3']) others.push(await system.startRunner({ name }));
  await pollUntil('full runners', async () => (await claimed()) === 4 * CONCURRENCY, { timeoutMs: 60_000 });
  const tokens = (await harness.conn.command('hgetall', keysOf(uid).claims)) as Record<string, string>;
  const last = Object.values(tokens)
    .map(holderOf)
    .find((holder) => holder.startsWith('runner-3'));
  const runs = (await claimsOf(harness.conn, uid, last ?? '')).map(([run]) => run);
  expect(runs).toHaveLength(CONCURRENCY);
  expect(await others.at(-1)?.stop('SIGTERM')).toBe(0);
  const states = await Promise.all(runs.map((run) => readRun(harness.conn, uid, run)));
  expect(states).toEqual(runs.map((run) => expect.objectContaining({ run, crashes: 0 }) as object));
  expect(await claimed()).toBe(3 * CONCURRENCY);
  release();
  // They are the next to be claimed.
  await pollUntil(
    'the end of the runs that were handed back',
    async () => (await unfinished(runs)).length === 0,
    { timeoutMs: 60_000, everyMs: 250 },
  );
}, 300_000);
