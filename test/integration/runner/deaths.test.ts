/**
 * Runners that are stopped, busy, out of memory or killed by their own work: nothing is done twice, and every
 * run ends.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { keysOf } from '../../../store/keys.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { makeMemoryGroup } from '../../support/process/memoryGroup.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { killRunner, QUICK, spawnRunner, type Order } from '../../support/runner/runnerProcess.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness({ slowDelayMs: 40 });
const { redis, conn, project, model, mailbox, credentials, withSuccessor } = harness;
const children: ChildProcess[] = [];

beforeEach(harness.reset);
afterEach(() => Promise.all(children.splice(0).map(killRunner)));
afterAll(harness.close);

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const agent = (id: string, name = 'demo', extra: object = {}) => ({
  id,
  agent: { credential: 'llm', model: name, prompt: 'one two three four five six seven' },
  ...extra,
});
const mail = {
  id: 'mail',
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: 'ada@example.com', subject: 's', body: 'b' },
  },
};
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const asked = (times: number) =>
  pollUntil(`${times} questions`, () => model.requests.length >= times, { timeoutMs: 10_000, everyMs: 5 });
const keys = () => model.requests.map(({ idempotencyKey = '' }) => idempotencyKey);
const order = (child: ChildProcess, what: Order) => child.send(what);

async function spawned(
  runner: string,
  nodeArgs: string[] = [],
  onStart?: (pid: number) => Promise<void>,
): Promise<ChildProcess> {
  const settings = { url: redis.url, project: project.uid, runner, credentials };
  const child = await spawnRunner(settings, nodeArgs, onStart);
  children.push(child);
  return child;
}

/** All that the store holds of a run, as it lies there. */
async function storedOf(run: string): Promise<unknown> {
  const { run: key, events, unrecorded } = keysOf(project.uid);
  return Promise.all([
    conn.command('hgetall', key(run)),
    conn.command('lrange', events(run), 0, -1),
    conn.command('zscore', unrecorded, run),
  ]);
}

/** More than what the other calls of a runner have, and less than what a step forward has. */
const MARK_BYTES = 1_200;
/** Longer than the run store may take to answer: what comes later is not an answer any more. */
const STALE_MS = 2_500;

/**
 * Whether a connection to this port of ours holds so many bytes that the server has not read
 * (proc_net_tcp(5)).
 */
function hasUnread(port: number, bytes: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return sockets.some(
    ([, address = '', , , queues = '']) =>
      address.endsWith(local) && Number.parseInt(queues.split(':')[1] ?? '0', 16) >= bytes,
  );
}

test('a runner that was stopped until another had finished writes nothing when it wakes, and goes on working', async () => {
  const revision = await project.deploy([trigger, agent('a', 'demo-slow'), mail]);
  const zombie = await spawned('zombie-1');
  const run = await project.send(revision, {});
  await asked(1);
  zombie.kill('SIGSTOP');
  const state = await withSuccessor('successor-1', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Succeeded' });
  const before = await storedOf(run);
  zombie.kill('SIGCONT');
  const next = await project.send(revision, {});
  expect(await project.ended(next)).toMatchObject({ phase: 'Succeeded' });
  expect(await storedOf(run)).toEqual(before);
  expect(keys().filter((key) => key.includes(`/${run}/`))).toHaveLength(2);
  expect(new Set(keys().filter((key) => key.includes(`/${run}/`))).size).toBe(1);
  expect(mailbox.messages).toHaveLength(2);
  expect(new Set(mailbox.messages.map(({ messageId }) => messageId)).size).toBe(2);
});

test('a runner that was stopped between a mark and its effect has no effect when the run is another’s by then', async () => {
  const revision = await project.deploy([trigger, agent('a', 'demo-slow'), agent('b')]);
  const zombie = await spawned('zombie-2');
  const answered = model.answered();
  const run = await project.send(revision, {});
  await asked(1);
  redis.freeze();
  await pollUntil('the answer', () => model.answered() > answered, { timeoutMs: 20_000, everyMs: 5 });
  await pollUntil('the mark being asked for', () => hasUnread(redis.port, MARK_BYTES), {
    timeoutMs: 20_000,
    everyMs: 5,
  });
  zombie.kill('SIGSTOP');
  const stoppedAt = performance.now();
  redis.thaw();
  await conn.ready();
  const state = await withSuccessor('successor-2', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Succeeded' });
  const before = await storedOf(run);
  await pollUntil('an answer to be stale', () => performance.now() - stoppedAt > STALE_MS, {
    timeoutMs: 20_000,
  });
  zombie.kill('SIGCONT');
  const next = await project.send(revision, {});
  expect(await project.ended(next)).toMatchObject({ phase: 'Succeeded' });
  expect(await storedOf(run)).toEqual(before);
  expect(keys().filter((key) => key.endsWith(`/${run}/b/1`))).toHaveLength(1);
});

test('the runs of a runner whose event loop is busy for long are not taken over', async () => {
  const revision = await project.deploy([trigger, agent('a', 'demo-slow')]);
  const busy = await spawned('busy-1');
  const run = await project.send(revision, {});
  await asked(1);
  order(busy, { busyMs: QUICK.deadAfterMs * 3 });
  const state = await withSuccessor('idle-1', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Succeeded', crashes: 0 });
  expect(new Set(keys()).size).toBe(keys().length);
});

test('a runner that runs out of memory dies, and its run goes on elsewhere', async () => {
  const revision = await project.deploy([trigger, agent('a', 'demo-slow'), mail]);
  const child = await spawned('greedy-1', ['--max-old-space-size=48']);
  const run = await project.send(revision, {});
  await asked(1);
  const died = once(child, 'exit');
  order(child, 'exhaust-memory');
  expect((await died)[1]).toBe('SIGABRT');
  const state = await withSuccessor('successor-3', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Succeeded', crashes: 1 });
  expect(mailbox.messages).toHaveLength(1);
});

test('attempts are counted over deaths: a crash neither adds one nor takes one back, and keys follow them', async () => {
  const retry = { retry: { limit: 2, backoff: { initial: '10ms', max: '10ms' } } };
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'a', to: 'rescue', after: 'Failure' },
    { from: 'rescue', to: 'reply' },
  ];
  const reply = { id: 'reply', response: { body: "{{ $('a').error.reason }}" } };
  const nodes = [trigger, agent('a', 'demo', retry), agent('rescue'), reply];
  const revision = await project.deploy(nodes, edges);
  model.setFault('error-500', 1);
  const first = await spawned('first-4');
  const run = await project.send(revision, {});
  await asked(1);
  model.setFault('hang', 1);
  await asked(2);
  await killRunner(first);
  model.setFault('error-500', 2);
  const state = await withSuccessor('second-4', () => project.ended(run));
  expect(keys().map((key) => key.split('/').slice(-2).join('/'))).toEqual([
    'a/1',
    'a/2',
    'a/2',
    'a/3',
    'rescue/1',
  ]);
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Failed', attempts: 3, reason: 'UpstreamError' });
  expect(state).toMatchObject({ phase: 'Succeeded', reply: { body: 'UpstreamError' } });
});

test('a step that kills its runner does so three times: then its run is Poison, and its neighbours are unharmed', async () => {
  const poison = await project.deploy([
    trigger,
    { ...agent('a'), agent: { ...agent('a').agent, credential: 'deadly' } },
  ]);
  const harmless = await project.deploy([trigger, agent('a', 'demo-slow'), mail]);
  const run = await project.send(poison, {});
  const neighbours = await Promise.all([1, 2, 3].map(() => project.send(harmless, {})));
  let deaths = 0;
  for (let life = 1; deaths < 3; life += 1) {
    const child = await spawned(`victim-${life}`);
    await once(child, 'exit');
    deaths += 1;
  }
  const state = await withSuccessor('survivor', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'Poison', crashes: 3 });
  await withSuccessor('survivor-2', async () => {
    for (const neighbour of neighbours)
      expect(await project.ended(neighbour)).toMatchObject({ phase: 'Succeeded' });
  });
  expect(mailbox.messages).toHaveLength(3);
}, 60_000);

test('a step for which the kernel kills its runner three times makes its run Poison; with enough memory it can be repeated', async () => {
  const group = await makeMemoryGroup(256);
  onTestFinished(() => group.remove());
  const { agent: parameters } = agent('a');
  const revision = await project.deploy([
    trigger,
    { id: 'a', agent: { ...parameters, credential: 'hungry' } },
    mail,
  ]);
  const event = { item: 'desk' };
  const run = await project.send(revision, event);
  for (const life of [1, 2, 3]) {
    const child = await spawned(`hungry-${life}`, [], (pid) => group.add(pid));
    expect(child.signalCode ?? (await once(child, 'exit'))[1]).toBe('SIGKILL');
  }
  expect(await group.kills()).toBe(3);
  const enough = { ...credentials, hungry: credentials.llm };
  await withSuccessor(
    'careful',
    async () => {
      expect(await project.ended(run)).toMatchObject({ phase: 'Failed', reason: 'Poison', crashes: 3 });
      const again = await project.send(revision, event, { retryOf: run });
      expect(await project.ended(again)).toMatchObject({ phase: 'Succeeded', retryOf: run });
    },
    enough,
  );
  expect(mailbox.messages).toHaveLength(1);
}, 60_000);

test('on SIGTERM a runner claims nothing more and ends what it can within its grace', async () => {
  const revision = await project.deploy([trigger, agent('a', 'demo-slow')]);
  const runner = startTestRunner(conn, project.uid, { runner: 'leaving', credentials });
  const run = await project.send(revision, {});
  await asked(1);
  const stopped = runner.stop(10_000);
  const later = await project.send(revision, {});
  await stopped;
  expect(await project.until(run, () => true)).toMatchObject({ phase: 'Succeeded' });
  expect(await project.until(later, () => true)).toMatchObject({ phase: 'Pending' });
  await withSuccessor('next', () => project.ended(later));
});
