/**
 * Waiting for a retry: it holds no runner and no slot, is visible, costs nothing of the run's time, and no
 * crash ends it.
 */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { Runner } from '../../../runner/runner.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import type { NodeState, RunState } from '../../../runs/types.ts';
import { startModelServer } from '../../support/providers/model/modelServer.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRedis } from '../../support/runStore/redis.ts';
import { openTestProject, startTestRunner } from '../../support/runner/runnerProject.ts';

const redis = await startRedis();
const model = await startModelServer();
const conn = connectRunStore({ url: redis.url, name: 'test' });
const project = await openTestProject(conn);
const credentials = {
  llm: { spec: { openai: { baseURL: model.baseURL, apiKeyRef: { name: 's', key: 'apiKey' } } } },
};
let runner: Runner;
const startRunner = (name: string) =>
  (runner = startTestRunner(conn, project.uid, { runner: name, credentials, concurrency: 4 }));

beforeEach(() => {
  model.requests.length = 0;
  model.setFault(undefined);
  startRunner('runner-1');
});
afterEach(() => runner.stop(0));
afterAll(async () => {
  await conn.close();
  await Promise.all([model.close(), redis.stop()]);
});

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const agent = (id: string, initial: string, name = 'demo', limit = 3) => ({
  id,
  agent: { credential: 'llm', model: name, prompt: 'hi' },
  retry: { limit, backoff: { initial, max: initial } },
});
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const isParked = ({ phase }: RunState) => phase === 'Waiting';

/** Lets the time pass until all that wait are due. */
async function letTimePass(): Promise<void> {
  const { parked, run } = keysOf(project.uid);
  const entries = (await conn.command('zrange', parked, 0, -1)) as string[];
  const names = entries.map((entry) => entry.slice(entry.lastIndexOf(' ') + 1));
  await Promise.all(names.map((name) => conn.command('hset', run(name), 'w:a', 0)));
  await conn.command('zadd', parked, ...entries.flatMap((entry) => [0, entry]));
}

test('200 runs that wait for their next attempt do not hold up the 201st, and each has its next attempt', async () => {
  const limits = { concurrency: 4 };
  const revision = await project.deploy([trigger, agent('a', '1h')], undefined, {}, limits);
  model.setFault('error-500', 200);
  const failing = await Promise.all(Array.from({ length: 200 }, () => project.send(revision, {})));
  const { parked, wf, ready, overLimit } = keysOf(project.uid);
  const count = (key: string) => conn.command('zcard', key);
  const soon = { timeoutMs: 25_000, everyMs: 20 };
  await pollUntil('all to wait', async () => (await count(parked)) === 200, soon);
  expect([
    await conn.command('hget', wf(revision), 'active'),
    await count(ready),
    await count(overLimit),
  ]).toEqual(['0', 0, 0]);
  expect(await project.ended(await project.send(revision, {}))).toMatchObject({ phase: 'Succeeded' });
  expect(await count(parked)).toBe(200);
  await letTimePass();
  await pollUntil('all to be ready', async () => (await count(parked)) === 0, soon);
  for (const run of failing) {
    const state = await project.ended(run);
    expect([state.phase, nodeOf(state, 'a')?.attempts]).toEqual(['Succeeded', 2]);
  }
  expect(new Set(model.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(401);
}, 60_000);

test('the time that a run waits is not of its timeout', async () => {
  model.setFault('error-500', 1);
  const revision = await project.deploy([trigger, agent('a', '4s')], undefined, { timeout: '3s' });
  const state = await project.ended(await project.send(revision, {}));
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(state.endedAt! - state.startedAt!).toBeGreaterThan(3_000);
});

test('a run whose time is over when it is claimed again ends Failed with its reason', async () => {
  model.setFault('error-500', 1);
  const revision = await project.deploy([trigger, agent('a', '1h')]);
  const run = await project.send(revision, {});
  await project.until(run, isParked);
  await conn.command('hset', keysOf(project.uid).run(run), 'timeout', 0);
  await letTimePass();
  const state = await project.ended(run);
  expect(state).toMatchObject({ phase: 'Failed', reason: 'RunTimeout' });
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Failed', reason: 'UpstreamError', attempts: 1 });
  expect(model.requests).toHaveLength(1);
});

test('as long as another branch runs, a run is not parked', async () => {
  model.setFault('error-500', 1);
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'a', to: 'b', after: 'Failure' },
    { from: 'trigger', to: 'slow' },
  ];
  const nodes = [trigger, agent('a', '1h'), agent('b', '1h'), agent('slow', '1h', 'hang')];
  const revision = await project.deploy(nodes, edges);
  const run = await project.send(revision, {});
  const state = await project.until(run, ({ nodes }) => nodes.some(({ phase }) => phase === 'Waiting'));
  expect(state.phase).toBe('Running');
  expect(await conn.command('hexists', keysOf(project.uid).claims, run)).toBe(1);
  await cancelRun(conn, project.uid, run);
  const ended = await project.ended(run);
  expect(ended.phase).toBe('Cancelled');
  expect(new Set(ended.nodes.map(({ id, phase }) => `${id} ${phase}`))).toEqual(
    new Set(['trigger Succeeded', 'a Cancelled', 'b Skipped', 'slow Cancelled']),
  );
});

test('a parked run outlives its runner and the run store, and its attempts go on being counted', async () => {
  model.setFault('error-500', 2);
  const revision = await project.deploy([trigger, agent('a', '1200ms', 'demo', 2)]);
  const run = await project.send(revision, {});
  await project.until(run, isParked);
  await runner.stop(0);
  await redis.kill();
  await redis.restart();
  await conn.ready();
  startRunner('runner-2');
  const state = await project.ended(run);
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Succeeded', attempts: 3 });
  expect(model.requests.map(({ idempotencyKey }) => idempotencyKey?.split('/').at(-1))).toEqual([
    '1',
    '2',
    '3',
  ]);
});

test('cancel ends a parked run at once', async () => {
  model.setFault('error-500');
  const revision = await project.deploy([trigger, agent('a', '1h'), agent('b', '1h')]);
  const run = await project.send(revision, {});
  await project.until(run, isParked);
  expect(await cancelRun(conn, project.uid, run)).toEqual({ outcome: 'cancelled' });
  const state = await project.ended(run);
  expect(state.phase).toBe('Cancelled');
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Cancelled', attempts: 1 });
});
