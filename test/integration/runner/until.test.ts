/**
 * Test runs that go only as far as one node, also when a runner dies with them or the run store loses its
 * data.
 */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { restoreRun } from '../../../runs/restore.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness({ slowDelayMs: 40 });
const { redis, conn, project, model, mailbox, credentials, withSuccessor } = harness;

beforeEach(harness.reset);
afterAll(harness.close);

const agent = (id: string) => ({
  id,
  agent: { credential: 'llm', model: 'demo-slow', prompt: `${id} says one two three four five` },
});
const parameters = { to: 'ada@example.com', subject: 's', body: "{{ $('second').text_content }}" };
const nodes = [
  { id: 'trigger', webhook: { path: 'orders' } },
  agent('first'),
  agent('second'),
  { id: 'mail', skill: { name: 'send_email', credential: 'smtp', parameters } },
];
const asFarAs = (until: string) => ({ test: true, until });
const phasesOf = (state: RunState) => Object.fromEntries(state.nodes.map(({ id, phase }) => [id, phase]));
const TO_SECOND = { trigger: 'Succeeded', first: 'Succeeded', second: 'Succeeded', mail: 'Skipped' };

test('a run as far as a node executes what comes before it, and nothing behind it', async () => {
  const revision = await project.deploy(nodes);
  const run = await project.send(revision, {}, asFarAs('first'));
  const state = await withSuccessor('whole', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Succeeded', until: 'first' });
  expect(phasesOf(state)).toEqual({ ...TO_SECOND, second: 'Skipped' });
  expect(state.nodes.find(({ id }) => id === 'mail')).toMatchObject({ reason: 'NotAsked' });
  expect(model.requests).toHaveLength(1);
  expect(mailbox.messages).toEqual([]);
});

test('a run as far as a node that its revision does not have fails, and does nothing', async () => {
  const revision = await project.deploy(nodes);
  const run = await project.send(revision, {}, asFarAs('third'));
  const state = await withSuccessor('nowhere', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'NodeMissing' });
  expect(state.message).toContain('no node third');
  expect(model.requests).toEqual([]);
});

test('a runner that takes over the run executes no node beyond until', async () => {
  const revision = await project.deploy(nodes);
  const child = await spawnRunner({ url: redis.url, project: project.uid, runner: 'first-1', credentials });
  const run = await project.send(revision, {}, asFarAs('second'));
  await pollUntil('a question', () => model.requests.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  const state = await withSuccessor('second-1', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(phasesOf(state)).toEqual(TO_SECOND);
  expect(mailbox.messages).toEqual([]);
});

test('a run that is put back from its record goes no further', async () => {
  const revision = await project.deploy(nodes);
  const output = { text_content: 'from the record', data_content: null };
  const restored = await restoreRun(conn, project.uid, {
    ...asFarAs('second'),
    run: 'put-back',
    uid: 'uid-put-back',
    workflow: revision,
    workflowUid: revision,
    revision,
    trigger: 'webhook',
    input: '{"text_content":"","data_content":{}}',
    epoch: 1,
    sequence: 1,
    acceptedAt: 1_700_000_000_000,
    timeoutMs: 60_000,
    nodes: [{ id: 'first', phase: 'Succeeded', attempts: 1, output }],
  });
  expect(restored).toEqual({ outcome: 'restored' });
  const state = await withSuccessor('after-wipe', () => project.ended('put-back'));
  expect(state).toMatchObject({ phase: 'Succeeded', until: 'second' });
  expect(phasesOf(state)).toEqual(TO_SECOND);
  expect(model.requests).toHaveLength(1);
  expect(mailbox.messages).toEqual([]);
});
