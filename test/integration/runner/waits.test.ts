/**
 * Runs that wait for a retry or at a wait node hold no runner and no slot, are visible, and cost nothing of
 * the run's time. No crash ends the wait.
 */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { Runner } from '../../../runner/runner.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
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
  const revision = await project.deploy([trigger, agent('a', '1600ms', 'demo', 2)]);
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

const pause = (wait: object) => [trigger, { id: 'pause', wait }];
const ends = (run: string) => project.ended(run).then(({ phase }) => phase);

test('a wait node ends at its time, at most two seconds late, and its output is that time', async () => {
  const until = new Date(Date.now() + 2_500).toISOString();
  const revision = await project.deploy(pause({ until: "{{ $('trigger').data_content.at }}" }));
  const run = await project.send(revision, { at: until });
  const waiting = await project.until(run, isParked);
  expect(nodeOf(waiting, 'pause')).toMatchObject({ phase: 'Waiting', waitingFor: { time: true } });
  expect(Math.abs((nodeOf(waiting, 'pause')?.nextAttemptAt ?? 0) - Date.parse(until))).toBeLessThan(50);
  expect(await conn.command('hexists', keysOf(project.uid).claims, run)).toBe(0);
  const state = await project.ended(run);
  const lateMs = (state.endedAt ?? Infinity) - Date.parse(until);
  expect([state.phase, lateMs > -50, lateMs < 2_000]).toEqual(['Succeeded', true, true]);
  const node = nodeOf(state, 'pause');
  expect(node).not.toHaveProperty('waitingFor');
  expect(Date.parse(node?.output?.text_content ?? '')).toBeGreaterThanOrEqual(Date.parse(until) - 50);
});

test('a wait of 0 s, and one until a time that is past, are over at once', async () => {
  for (const wait of [{ duration: '0s' }, { until: '2020-01-01T00:00:00Z' }]) {
    const state = await project.ended(await project.send(await project.deploy(pause(wait)), {}));
    expect(state).toMatchObject({ phase: 'Succeeded' });
    expect(state.endedAt! - state.startedAt!).toBeLessThan(1_000);
  }
});

test.each([
  ['tomorrow', 'wait.until is not a time in RFC 3339'],
  ['2020-01-01T00:00:00', 'wait.until is not a time in RFC 3339'],
  ['2020-02-30T00:00:00Z', 'wait.until is not a time in RFC 3339'],
  [new Date(Date.now() + 91 * 86_400_000).toISOString(), 'wait.until is more than 90d ahead'],
])('a wait until %s fails its node, and says how to write it', async (until, message) => {
  const state = await project.ended(await project.send(await project.deploy(pause({ until })), {}));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'NodeFailed' });
  expect(nodeOf(state, 'pause')).toMatchObject({
    phase: 'Failed',
    reason: 'InvalidParameters',
    message: expect.stringContaining(message),
  });
});

test('a test run waits as others do, and cancel ends the wait at once', async () => {
  const revision = await project.deploy(pause({ duration: '90d' }));
  const run = await project.send(revision, {}, { test: true });
  await project.until(run, isParked);
  expect(await cancelRun(conn, project.uid, run)).toEqual({ outcome: 'cancelled' });
  const state = await project.ended(run);
  expect(nodeOf(state, 'pause')).toMatchObject({ phase: 'Cancelled', attempts: 1 });
});

test('items wait side by side: the run is parked while all of them wait, and each item waits once', async () => {
  const nodes = [
    trigger,
    { id: 'each', group: {}, forEach: { items: "{{ $('trigger').data_content }}", maxParallel: 3 } },
    { id: 'pause', within: 'each', wait: { duration: '1500ms' } },
  ];
  const run = await project.send(await project.deploy(nodes), [1, 2, 3]);
  await project.until(run, isParked);
  await runner.stop(0);
  startRunner('runner-2');
  const state = await project.ended(run);
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(state.endedAt! - state.startedAt!).toBeLessThan(2 * 1_500);
  expect(nodeOf(state, 'each')).toMatchObject({ items: { total: 3, succeeded: 3 } });
}, 20_000);

test('a wait outlives runner and run store, and ends at the time that was set', async () => {
  const revision = await project.deploy(pause({ duration: '4s' }));
  const run = await project.send(revision, {});
  const at = nodeOf(await project.until(run, isParked), 'pause')?.nextAttemptAt ?? 0;
  await runner.stop(0);
  await redis.kill();
  await redis.restart();
  await conn.ready();
  startRunner('runner-2');
  expect(await ends(run)).toBe('Succeeded');
  const { endedAt = 0 } = await project.ended(run);
  expect(endedAt).toBeGreaterThanOrEqual(at - 50);
  expect(endedAt).toBeLessThan(at + 2_000);
}, 20_000);
