import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { cancelRun } from '../../../runs/cancel.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { handBackAll } from '../../../runs/handback.ts';
import type { Runner } from '../../../runner/runner.ts';
import { openProject } from '../../../runs/project.ts';
import { restoreRun } from '../../../runs/restore.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { keysOf } from '../../../store/keys.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { copyProject, wipeProject } from '../../support/runStore/projectCopy.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness({ slowDelayMs: 40 });
const { redis, conn, project, model, mailbox, credentials } = harness;
const nodes = [
  { id: 'trigger', webhook: { path: 'orders' } },
  {
    id: 'a',
    agent: {
      credential: 'llm',
      model: 'demo-slow',
      prompt: 'Tell me a story of one two three four five six',
    },
  },
  {
    id: 'mail',
    skill: {
      name: 'send_email',
      credential: 'smtp',
      parameters: { to: 'ada@example.com', subject: 's', body: 'b' },
    },
  },
  { id: 'reply', response: { body: "{{ $('a').text_content }}" } },
];
const revision = await project.deploy(nodes);
const twice = await project.deploy([
  nodes[0]!,
  { id: 'first', agent: { credential: 'llm', model: 'demo-slow', prompt: 'one two three four five six' } },
  ...nodes.slice(1),
]);
const hanging = await project.deploy([
  nodes[0]!,
  { id: 'a', agent: { credential: 'llm', model: 'demo', prompt: 'hi' } },
  nodes[3]!,
]);
let runner: Runner;

beforeEach(() => {
  harness.reset();
  runner = startTestRunner(conn, project.uid, { credentials });
});
afterEach(() => runner.stop(0));
afterAll(harness.close);

const asked = (times: number) =>
  pollUntil(`${times} questions`, () => model.requests.length === times, { timeoutMs: 20_000, everyMs: 5 });

test('a run store that is killed in the middle of an answer and comes back loses nothing and repeats nothing', async () => {
  const run = await project.send(revision, {});
  await asked(1);
  await redis.kill();
  await pollUntil('the answer', () => model.answered() === 1, { timeoutMs: 20_000, everyMs: 5 });
  expect(mailbox.messages).toHaveLength(0);
  await redis.restart();
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded', crashes: 0 });
  expect(model.requests).toHaveLength(1);
  expect(mailbox.messages).toHaveLength(1);
});

test('a run store that is frozen for a while delays the next effect, and nothing else', async () => {
  const before = model.answered();
  const run = await project.send(revision, {});
  await asked(1);
  redis.freeze();
  await pollUntil('the answer', () => model.answered() === before + 1, { timeoutMs: 20_000, everyMs: 5 });
  expect(mailbox.messages).toHaveLength(0);
  redis.thaw();
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  expect(mailbox.messages).toHaveLength(1);
});

test('a runner whose claim was taken drops the run without a word', async () => {
  model.setFault('hang', 1);
  const run = await project.send(hanging, {});
  await asked(1);
  await handBackAll(conn, { project: project.uid, runner: 'runner-1' });
  await asked(2);
  const state = await project.ended(run);
  expect(state).toMatchObject({ phase: 'Succeeded', reply: { body: 'You said: hi' } });
  expect(state.nodes.find(({ id }) => id === 'a')).toMatchObject({ attempts: 1 });
  expect(new Set(model.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
});

test('a claim whose answer was lost with the connection is handed back and executed', async () => {
  await runner.stop(0);
  const run = await project.send(hanging, {});
  const claimed = await claimRuns(conn, { project: project.uid, runner: 'runner-1', max: 1 });
  expect(claimed).toMatchObject({ outcome: 'claimed', claims: [{ state: { run } }] });
  runner = startTestRunner(conn, project.uid, { credentials });
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded', crashes: 0 });
});

test('a run store that is put back to an older state gets again what it lost, and nothing is done twice', async () => {
  const run = await project.send(twice, {});
  await asked(1);
  const putBack = await copyProject(conn, project.uid);
  await asked(2);
  await putBack();
  const state = await project.ended(run);
  expect(state).toMatchObject({ phase: 'Succeeded', crashes: 0 });
  expect(state.nodes.map(({ id }) => id)).toEqual(['trigger', 'first', 'a', 'mail', 'reply']);
  expect(model.requests).toHaveLength(2);
  expect(mailbox.messages).toHaveLength(1);
});

test.each([
  ['has room', 50],
  ['has no room', 1],
])(
  'a run store that lost the claim of a runner that %s does not have its run done again',
  async (_room, concurrency) => {
    await runner.stop(0);
    const run = await project.send(twice, {});
    const putBack = await copyProject(conn, project.uid);
    runner = startTestRunner(conn, project.uid, { credentials, concurrency });
    await asked(2);
    await putBack();
    expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded', crashes: 0 });
    expect(model.requests).toHaveLength(2);
    expect(mailbox.messages).toHaveLength(1);
  },
);

/** A connection for runners, and a function that tells them of a failover. */
function withFailovers() {
  const listeners = new Set<() => void>();
  const onFailover = (_project: string, listener: () => void) => {
    listeners.add(listener);
    return { end: () => undefined };
  };
  return { ofRunners: { ...conn, onFailover }, failOver: () => listeners.forEach((listener) => listener()) };
}

test('after a failover that lost a child run, its parent learns it at once', async () => {
  await runner.stop(0);
  model.setFault('hang', 1);
  const manual = { id: 'trigger', manual: {} };
  const callee = await project.deploy([manual, { id: 'pause', wait: { duration: '1h' } }]);
  const call = { id: 'call', workflow: { name: callee } };
  const agent = { id: 'a', agent: { credential: 'llm', model: 'demo', prompt: 'hi' } };
  const edges = ['call', 'a'].map((to) => ({ from: 'trigger', to }));
  const run = await project.send(await project.deploy([nodes[0]!, call, agent], edges), {});
  const putBack = await copyProject(conn, project.uid);
  const { ofRunners, failOver } = withFailovers();
  runner = startTestRunner(ofRunners, project.uid, { credentials });
  const isCall = (phase: string) => (state: RunState) =>
    state.nodes.some((node) => node.id === 'call' && node.phase === phase);
  await project.until(run, isCall('Waiting'));
  await asked(1);
  await putBack();
  failOver();
  const { nodes: known } = await project.until(run, isCall('Failed'));
  expect(known.find(({ id }) => id === 'call')).toMatchObject({
    reason: 'ChildFailed',
    message: expect.stringContaining('DataLost') as string,
  });
  await cancelRun(conn, project.uid, run);
  await project.ended(run);
});

test('after a failover that lost the claim of a run, its runner has it back before another one may claim it', async () => {
  await runner.stop(0);
  model.setFault('hang', 1);
  const run = await project.send(hanging, {});
  const putBack = await copyProject(conn, project.uid);
  const { ofRunners, failOver } = withFailovers();
  // The only one that may have the run has no room, so that it does not claim it again.
  runner = startTestRunner(ofRunners, project.uid, { credentials, concurrency: 1 });
  await asked(1);
  const other = startTestRunner(ofRunners, project.uid, { credentials, runner: 'runner-2' });
  failOver();
  await putBack();
  failOver();
  const claim = async () => (await conn.command('hget', keysOf(project.uid).claims, run)) ?? false;
  const token = await pollUntil('a claim', claim, { timeoutMs: 20_000, everyMs: 5 });
  expect(token).toMatch(/^runner-1\//);
  await other.stop(0);
  await cancelRun(conn, project.uid, run);
  expect(await project.ended(run)).toMatchObject({ phase: 'Cancelled', crashes: 0 });
});

test('a run whose end the run store lost is ended again as it was, and not executed', async () => {
  await runner.stop(0);
  const run = await project.send(hanging, {});
  const putBack = await copyProject(conn, project.uid);
  runner = startTestRunner(conn, project.uid, { credentials });
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  await putBack();
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  expect(model.requests).toHaveLength(1);
});

test('a run that a store without data got back from its record goes on with the runner that has it', async () => {
  const run = await project.send(revision, {});
  await asked(1);
  const state = await project.until(run, ({ nodes: known }) => known.some(({ id }) => id === 'a'));
  await wipeProject(conn, project.uid);
  await openProject(conn, project.uid);
  const { epoch, acceptedAt, input } = state;
  const head = { workflow: revision, workflowUid: revision, revision, trigger: 'webhook', test: false };
  const recorded = { ...head, run, uid: 'u', input, epoch, acceptedAt, timeoutMs: 60_000 };
  await restoreRun(conn, project.uid, { ...recorded, sequence: state.sequence, nodes: [] });
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  expect(model.requests).toHaveLength(1);
  expect(mailbox.messages).toHaveLength(1);
});

test('a claim that reaches the run store late is handed back, also by a runner that has no room for long', async () => {
  await runner.stop(0);
  model.setFault('hang', 1);
  await project.send(hanging, {});
  runner = startTestRunner(conn, project.uid, { credentials, concurrency: 1, releaseOrphansEveryMs: 50 });
  await asked(1);
  const run = await project.send(hanging, {});
  const late = await claimRuns(conn, { project: project.uid, runner: 'runner-1', max: 1 });
  expect(late).toMatchObject({ outcome: 'claimed', claims: [{ state: { run } }] });
  await harness.withSuccessor('runner-2', async () => {
    expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded', crashes: 0 });
  });
});
