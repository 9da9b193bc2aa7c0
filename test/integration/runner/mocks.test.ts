/** Test runs with mocks: no request leaves the runner unless the run says that it is real. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Mock, Testing } from '../../../api/mock.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness();
const { project, model, mailbox, withSuccessor } = harness;

beforeEach(() => harness.reset());
afterAll(() => harness.close());

const trigger = { id: 'trigger', manual: {} };
const mail = (to = "{{ $('trigger').data_content.to }}") => ({
  id: 'mail',
  skill: { name: 'send_email', credential: 'smtp', parameters: { to, subject: 'Hi', body: 'Hello' } },
});
const refund = {
  name: 'refund',
  skill: 'send_email',
  credential: 'smtp',
  parameters: { to: 'shop@example.com', subject: 'Refund' },
};
const agent = (prompt: string, tools: object[] = [refund]) => ({
  id: 'a',
  agent: { credential: 'llm', model: 'demo', prompt, tools },
});

const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);

async function runOf(
  nodes: object[],
  testing: Testing | undefined,
  to = 'ada@example.com',
): Promise<RunState> {
  const revision = await project.deploy([trigger, ...nodes]);
  const run = await project.send(revision, { to }, { test: true, ...(testing && { testing }) });
  return withSuccessor('mocks', () => project.ended(run));
}

test('a mock takes the place of the mail, and the record shows what would have been sent', async () => {
  const output = { text_content: 'Sent.', data_content: { id: 7 } };
  const state = await runOf([mail()], { mocks: [{ node: 'mail', output }] });
  expect(nodeOf(state, 'mail')).toMatchObject({
    phase: 'Succeeded',
    attempts: 1,
    output,
    mocked: { parameters: { to: [{ address: 'ada@example.com' }], subject: 'Hi', body: 'Hello' } },
  });
  expect(mailbox.messages).toHaveLength(0);
});

test('a run with an empty list of mocks sends nothing: the node fails and says what to add', async () => {
  const state = await runOf([mail()], { mocks: [] });
  expect(nodeOf(state, 'mail')).toMatchObject({
    phase: 'Failed',
    reason: 'NotMocked',
    message: expect.stringMatching(/add \{node: mail, output: .*real: true/) as string,
  });
  expect(mailbox.messages).toHaveLength(0);
});

test.each<[string, Testing | undefined]>([
  ['without mocks', undefined],
  ['with real: true', { mocks: [{ node: 'mail', real: true }] }],
  ['that executes what has no mock', { mocks: [], unmocked: 'Execute' }],
])('a test run %s sends the mail', async (_what, testing) => {
  const state = await runOf([mail()], testing);
  expect(state.phase).toBe('Succeeded');
  expect(mailbox.messages).toHaveLength(1);
});

test('parameters that the skill would refuse fail the node in spite of its mock', async () => {
  const state = await runOf([mail()], { mocks: [{ node: 'mail', output: {} }] }, 'nobody');
  expect(nodeOf(state, 'mail')).toMatchObject({ phase: 'Failed', reason: 'InvalidParameters' });
});

test('a mock fails its node with reason and message', async () => {
  const error = { reason: 'Refused', message: 'no such mailbox' } as const;
  const state = await runOf([mail()], { mocks: [{ node: 'mail', error }] });
  expect(nodeOf(state, 'mail')).toMatchObject({
    phase: 'Failed',
    ...error,
    mocked: expect.anything() as object,
  });
});

test('an agent whose tool has no mock fails before the model is asked', async () => {
  const state = await runOf([agent('call refund {"body":"x"}')], { mocks: [] });
  expect(nodeOf(state, 'a')).toMatchObject({
    reason: 'NotMocked',
    message: expect.stringContaining('{node: a, tool: refund, output') as string,
  });
  expect(model.requests).toHaveLength(0);
});

test.each<[string, Omit<Mock, 'node'>, string, boolean]>([
  ['output', { output: { data_content: { refunded: 12 } } }, '{"refunded":12}', false],
  ['error', { error: { reason: 'Refused', message: 'too late' } }, 'Refused: too late', true],
])('the model gets the %s of the mock of a tool', async (_what, given, text, isError) => {
  const state = await runOf([agent('call refund {"body":"x"}')], {
    mocks: [{ node: 'a', tool: 'refund', ...given }],
  });
  expect(state.phase).toBe('Succeeded');
  expect(nodeOf(state, 'a')?.transcript?.entries.find(({ tool }) => tool === 'refund')).toMatchObject({
    text,
  });
  expect(nodeOf(state, 'a')?.output?.data_content).toMatchObject({
    tool_calls: [{ name: 'refund', arguments: '{"body":"x"}', error: isError }],
  });
  expect(mailbox.messages).toHaveLength(0);
});

test('a mock of the agent itself asks no model, and needs no mocks of its tools', async () => {
  const state = await runOf([agent('call refund {"body":"x"}')], {
    mocks: [{ node: 'a', output: { text_content: 'Refunded.' } }],
  });
  expect(nodeOf(state, 'a')?.output).toEqual({ text_content: 'Refunded.', data_content: null });
  expect(model.requests).toHaveLength(0);
});

test('a mock ends the wait of a node and stands for a child run', async () => {
  const nodes = [
    { id: 'pause', wait: { duration: '24h' } },
    { id: 'child', workflow: { name: 'nobody', input: { a: 1 } } },
  ];
  const state = await runOf(nodes, {
    mocks: [
      { node: 'pause', output: {} },
      { node: 'child', output: { data_content: 5 } },
    ],
  });
  expect(state.phase).toBe('Succeeded');
  expect(nodeOf(state, 'child')).toMatchObject({
    output: { data_content: 5 },
    mocked: { parameters: { input: { a: 1 } } },
  });
});

test('a child run has the mocks of its parent that name its workflow', async () => {
  const child = await project.deploy([trigger, mail('ada@example.com')]);
  const nodes = [{ id: 'child', workflow: { name: child } }];
  const sent = { node: 'mail', output: { text_content: 'Sent.' } };
  const mocked = await runOf(nodes, { mocks: [{ ...sent, workflow: child }] });
  expect(mocked.phase).toBe('Succeeded');
  const missing = await runOf(nodes, { mocks: [sent] });
  expect(nodeOf(missing, 'child')).toMatchObject({
    reason: 'ChildFailed',
    message: expect.stringContaining('NotMocked') as string,
  });
  expect(mailbox.messages).toHaveLength(0);
});

test('a test run asks another model, without its workflow being changed', async () => {
  const state = await runOf([agent('hello', [])], { model: { model: 'demo-2' } });
  expect(state.phase).toBe('Succeeded');
  expect(model.requests.map(({ body }) => (body as { model: string }).model)).toEqual(['demo-2']);
});
