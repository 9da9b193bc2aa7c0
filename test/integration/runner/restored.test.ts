/**
 * Runs that were put back into a run store that lost its data: runners go on with them from what was
 * recorded.
 */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { restoreRun, type RecordedRun } from '../../../runs/restore.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { Runner } from '../../../runner/runner.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness();
const { conn, project, model, mailbox, credentials } = harness;
let runner: Runner;

beforeEach(() => {
  harness.reset();
  runner = startTestRunner(conn, project.uid, { credentials });
});
afterEach(() => runner.stop(0));
afterAll(harness.close);

const parameters = { to: 'ada@example.com', subject: 'Order', body: "{{ $('second').text_content }}" };
const agent = (id: string) => ({ id, agent: { credential: 'llm', model: 'demo', prompt: `${id} says hi` } });
const nodes = [
  { id: 'trigger', webhook: { path: 'orders' } },
  agent('first'),
  agent('second'),
  { id: 'mail', skill: { name: 'send_email', credential: 'smtp', parameters } },
];
const done = (id: string): NodeState => ({
  id,
  phase: 'Succeeded',
  attempts: 1,
  output: { text_content: `${id} from the record`, data_content: null },
});
const begun = (id: string, atMostOnce: boolean): NodeState => ({
  id,
  phase: 'Running',
  attempts: 1,
  mark: { attempt: 1, atMostOnce },
});

async function restored(run: string, changes: Partial<RecordedRun>) {
  const revision = await project.deploy(nodes);
  const recorded: RecordedRun = {
    run,
    uid: `uid-${run}`,
    workflow: revision,
    workflowUid: revision,
    revision,
    trigger: 'webhook',
    test: false,
    input: '{"text_content":"","data_content":{}}',
    epoch: 1,
    sequence: 1,
    acceptedAt: 1_700_000_000_000,
    timeoutMs: 60_000,
    nodes: [],
    ...changes,
  };
  expect(await restoreRun(conn, project.uid, recorded)).toEqual({ outcome: 'restored' });
  return project.ended(run);
}

test('what is recorded as done is not done again, what had begun and may be repeated is', async () => {
  const nodes = [done('first'), begun('second', false)];
  const state = await restored('goes-on', { nodes });
  expect(state.nodes.find(({ id }) => id === 'second')).toMatchObject({ phase: 'Succeeded', attempts: 1 });
  expect(model.requests.map(({ body }) => JSON.stringify(body))).toEqual([
    expect.stringContaining('second says hi'),
  ]);
});

test('an effect that may have begun after the record and must not be repeated is Unknown, and fails the run', async () => {
  const before = mailbox.messages.length;
  const state = await restored('in-doubt', { nodes: [done('first'), done('second')] });
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(state.nodes.find(({ id }) => id === 'mail')).toMatchObject({ phase: 'Unknown' });
  expect(mailbox.messages).toHaveLength(before);
});

test('of a run that only waited nothing is in doubt: it goes on as if nothing had happened', async () => {
  const before = mailbox.messages.length;
  const waits: NodeState = { id: 'second', phase: 'Waiting', attempts: 1, reason: 'UpstreamError' };
  const at = Date.now() + 1_000;
  const nodes = [done('first'), { ...waits, nextAttemptAt: at }];
  const state = await restored('waited', { nodes, idleUntil: at });
  expect(state.phase).toBe('Succeeded');
  expect(mailbox.messages).toHaveLength(before + 1);
});

test('the wait of a run in doubt does not end the doubt', async () => {
  const before = mailbox.messages.length;
  const waits: NodeState = { id: 'second', phase: 'Waiting', attempts: 1, reason: 'UpstreamError' };
  const at = Date.now() + 1_000;
  const nodes = [done('first'), { ...waits, nextAttemptAt: at }];
  const state = await restored('still-in-doubt', { nodes, idleUntil: at, isInDoubt: true });
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown', doubt: true });
  expect(mailbox.messages).toHaveLength(before);
});

test('an effect that had begun and must not be repeated is Unknown, and fails the run', async () => {
  const before = mailbox.messages.length;
  const state = await restored('unknown', { nodes: [done('first'), done('second'), begun('mail', true)] });
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(state.nodes.find(({ id }) => id === 'mail')).toMatchObject({ phase: 'Unknown' });
  expect(mailbox.messages).toHaveLength(before);
});

test('a run whose time has passed meanwhile fails with that, and begins nothing', async () => {
  const nodes = [done('first'), begun('second', false)];
  const state = await restored('late', {
    nodes,
    startedAt: 1_700_000_000_000,
    deadlineAt: 1_700_000_060_000,
  });
  expect(state).toMatchObject({ phase: 'Failed', reason: 'RunTimeout' });
  expect(model.requests).toEqual([]);
  expect(state.nodes.filter(({ phase }) => phase === 'Running')).toEqual([]);
});
