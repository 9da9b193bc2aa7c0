import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { cancelRun } from '../../../runs/cancel.ts';
import { readEvents } from '../../../runs/events.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Runner } from '../../../runner/runner.ts';
import { pollUntil } from '../../support/time/poll.ts';
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

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const agent = (id: string, extra: object = {}, fields: object = {}) => ({
  id,
  agent: { credential: 'llm', model: 'demo', prompt: `${id} says hi`, ...fields },
  ...extra,
});
const mail = (id: string, parameters: object = {}, extra: object = {}) => ({
  id,
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: 'ada@example.com', subject: 'Order', body: 'Thanks', ...parameters },
  },
  ...extra,
});
const reply = (id: string, body: unknown) => ({ id, response: { status: 201, body } });
const fastRetry = (limit: number) => ({ retry: { limit, backoff: { initial: '10ms', max: '20ms' } } });
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const phasesOf = (state: RunState) => Object.fromEntries(state.nodes.map(({ id, phase }) => [id, phase]));

const order = { customer: { name: 'Ada', email: 'ada@example.com' }, items: [{ name: 'lamp', quantity: 2 }] };

test('webhook, agent, mail and response: the caller is answered, the mail sent, every output is kept', async () => {
  const revision = await project.deploy([
    webhook,
    agent(
      'agent_1',
      {},
      {
        prompt:
          "Confirm to {{ $('trigger').data_content.customer.name }}: {{ $('trigger').data_content.items }}",
      },
    ),
    mail('mail', {
      to: "{{ $('trigger').data_content.customer.email }}",
      body: "{{ $('agent_1').text_content }}",
    }),
    reply('reply', {
      first: "{{ $('trigger').data_content.items[0].name }}",
      said: "{{ $('agent_1').text_content }}",
    }),
  ]);
  const state = await project.ended(await project.send(revision, order));
  expect(state).toMatchObject({ phase: 'Succeeded', reply: { status: 201 } });
  const said = nodeOf(state, 'agent_1')?.output?.text_content ?? '';
  expect(said).toContain('2 × lamp');
  expect(JSON.parse(state.reply?.body ?? '')).toEqual({ first: 'lamp', said });
  expect(mailbox.messages).toMatchObject([{ to: ['ada@example.com'], subject: 'Order', text: said }]);
  expect(nodeOf(state, 'trigger')?.output).toEqual({ text_content: '', data_content: order });
  expect(nodeOf(state, 'agent_1')).toMatchObject({
    phase: 'Succeeded',
    attempts: 1,
    output: { data_content: { model: 'demo', finish_reason: 'stop', tool_calls: [], json: null } },
    usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
  });
  expect(nodeOf(state, 'mail')?.output?.data_content).toEqual({
    message_id: mailbox.messages[0]?.messageId,
    accepted: ['ada@example.com'],
    rejected: [],
  });
});

test('an event that names several recipients mails nobody, and the run says why', async () => {
  const revision = await project.deploy([
    webhook,
    mail('mail', { to: "{{ $('trigger').data_content.customer.email }}" }),
  ]);
  const sent = mailbox.messages.length;
  for (const email of ['a@example.com, b@example.com', ['a@example.com', 'b@example.com']]) {
    const state = await project.ended(await project.send(revision, { customer: { email } }));
    expect(nodeOf(state, 'mail')).toMatchObject({
      phase: 'Failed',
      reason: 'InvalidParameters',
      message: expect.stringMatching(/^to: \$\('trigger'\)\.data_content\.customer\.email gave /),
    });
  }
  expect(mailbox.messages).toHaveLength(sent);
});

test('those who watch see the text of the agent before its end, and each node once', async () => {
  const revision = await project.deploy([webhook, agent('a'), reply('reply', 'ok')]);
  const run = await project.send(revision, {});
  await project.ended(run);
  const events = await readEvents(conn, project.uid, run, { limit: 100 });
  if ('outcome' in events) throw new Error('the run store is away');
  const text = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
  expect(text).toBe('You said: a says hi');
  const order = events.map((event) =>
    'phase' in event ? `${event.type === 'node' ? event.node : 'run'} ${event.phase}` : event.type,
  );
  expect(order.filter((entry) => entry !== 'text')).toEqual(
    expect.arrayContaining(['a Running', 'a Succeeded', 'reply Succeeded', 'run Succeeded']),
  );
  expect(order.lastIndexOf('text')).toBeLessThan(order.indexOf('a Succeeded'));
});

test('independent branches run at the same time, and what joins them sees both', async () => {
  const edges = [
    { from: 'trigger', to: 'a' },
    { from: 'trigger', to: 'b' },
    { from: 'a', to: 'reply' },
    { from: 'b', to: 'reply' },
  ];
  const stalled = { model: 'stall' };
  const revision = await project.deploy(
    [webhook, agent('a', {}, stalled), agent('b', {}, stalled), reply('reply', 'ok')],
    edges,
  );
  const run = await project.send(revision, {});
  await pollUntil('both questions', () => model.requests.length === 2, { timeoutMs: 20_000, everyMs: 10 });
  await cancelRun(conn, project.uid, run);
  expect(phasesOf(await project.ended(run))).toMatchObject({
    a: 'Cancelled',
    b: 'Cancelled',
    reply: 'Skipped',
  });
});

test('conditions decide which branch is taken', async () => {
  const edges = [
    { from: 'trigger', to: 'large', when: 'nodes.trigger.data_content.total > 100.0' },
    { from: 'trigger', to: 'small', when: 'nodes.trigger.data_content.total <= 100.0' },
  ];
  const revision = await project.deploy([webhook, reply('large', 'large'), reply('small', 'small')], edges);
  const state = await project.ended(await project.send(revision, { total: 20 }));
  expect(phasesOf(state)).toEqual({ trigger: 'Succeeded', large: 'Skipped', small: 'Succeeded' });
  expect(state.reply?.body).toBe('small');
});

test('a failure fails the run, says why, and what comes after is skipped', async () => {
  const revision = await project.deploy([
    webhook,
    agent('a', {}, { model: 'not-found' }),
    reply('reply', 'ok'),
  ]);
  const state = await project.ended(await project.send(revision, {}));
  expect(state).toMatchObject({
    phase: 'Failed',
    reason: 'NodeFailed',
    message: expect.stringContaining('node a: Refused'),
  });
  expect(phasesOf(state)).toEqual({ trigger: 'Succeeded', a: 'Failed', reply: 'Skipped' });
  expect(state.reply).toBeUndefined();
});

test('a failure that is let pass is an error that later nodes can read', async () => {
  const revision = await project.deploy([
    webhook,
    agent('a', { onError: 'Continue' }, { model: 'not-found' }),
    reply('reply', "{{ $('a').error.reason }}"),
  ]);
  const state = await project.ended(await project.send(revision, {}));
  expect(state).toMatchObject({ phase: 'Succeeded', reply: { body: 'Refused' } });
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Failed', reason: 'Refused' });
});

test('what is worth trying again is, each attempt with an effect key of its own', async () => {
  model.setFault('error-500', 2);
  const revision = await project.deploy([webhook, agent('a', fastRetry(3)), reply('reply', 'ok')]);
  const state = await project.ended(await project.send(revision, {}));
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Succeeded', attempts: 3 });
  const keys = model.requests.map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(3);
  expect(keys[0]).toContain(`${state.run}/a/1`);
});

test('retries end at their limit, with the last error', async () => {
  model.setFault('error-500');
  const revision = await project.deploy([webhook, agent('a', fastRetry(1))]);
  const state = await project.ended(await project.send(revision, {}));
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Failed', reason: 'UpstreamError', attempts: 2 });
});

test('Retry-After is honoured', async () => {
  model.setFault('rate-limit', 1);
  const revision = await project.deploy([webhook, agent('a', fastRetry(1))]);
  const state = await project.ended(await project.send(revision, {}));
  const { startedAt = 0, endedAt = 0 } = nodeOf(state, 'a') ?? {};
  expect(state.phase).toBe('Succeeded');
  expect(endedAt - startedAt).toBeGreaterThanOrEqual(1_000);
});

test('a step that takes longer than its timeout fails with Timeout', async () => {
  const revision = await project.deploy([webhook, agent('a', { timeout: '50ms' }, { model: 'hang' })]);
  const state = await project.ended(await project.send(revision, {}));
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Failed', reason: 'Timeout' });
});

test('a run that takes longer than its timeout fails with RunTimeout', async () => {
  const revision = await project.deploy([webhook, agent('a', {}, { model: 'hang' })], undefined, {
    timeout: '100ms',
  });
  const state = await project.ended(await project.send(revision, {}));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'RunTimeout' });
});

test('cancel stops a running node, and the run ends Cancelled', async () => {
  const revision = await project.deploy([webhook, agent('a', {}, { model: 'hang' }), reply('reply', 'ok')]);
  const run = await project.send(revision, {});
  await pollUntil('the question', () => model.requests.length === 1, { timeoutMs: 20_000, everyMs: 10 });
  await cancelRun(conn, project.uid, run);
  const state = await project.ended(run);
  expect(state).toMatchObject({ phase: 'Cancelled' });
  expect(phasesOf(state)).toEqual({ trigger: 'Succeeded', a: 'Cancelled', reply: 'Skipped' });
});

test('cancel ends a wait for the next attempt at once', async () => {
  model.setFault('error-500');
  const revision = await project.deploy([
    webhook,
    agent('a', { retry: { limit: 1, backoff: { initial: '1h', max: '1h' } } }),
  ]);
  const run = await project.send(revision, {});
  await project.until(run, (state) => nodeOf(state, 'a')?.phase === 'Waiting');
  await cancelRun(conn, project.uid, run);
  expect(phasesOf(await project.ended(run))).toMatchObject({ a: 'Cancelled' });
});

test('a mail whose fate is not known makes the node Unknown, fails the run, and is not sent again', async () => {
  const revision = await project.deploy([
    webhook,
    mail('mail', { to: 'drop-after-data@example.com' }, fastRetry(3)),
  ]);
  const state = await project.ended(await project.send(revision, {}));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(nodeOf(state, 'mail')).toMatchObject({ phase: 'Unknown', reason: 'EffectUnknown', attempts: 1 });
  expect(mailbox.messages).toHaveLength(1);
});

test('a mail that was refused for now is sent again', async () => {
  mailbox.setFault('defer');
  const revision = await project.deploy([webhook, mail('mail', {}, fastRetry(20))]);
  const run = await project.send(revision, {});
  await project.until(run, (state) => (nodeOf(state, 'mail')?.attempts ?? 0) >= 2);
  mailbox.setFault(undefined);
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  expect(mailbox.messages).toHaveLength(1);
});

test('a credential that is not there fails the node with what to do', async () => {
  const revision = await project.deploy([webhook, agent('a', {}, { credential: 'nobody' })]);
  const state = await project.ended(await project.send(revision, {}));
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Failed', reason: 'CredentialMissing' });
});

test('a test run without an event takes the test data of its revision', async () => {
  const trigger = { id: 'trigger', manual: { testData: { name: 'Ada' } } };
  const revision = await project.deploy([trigger, reply('reply', "{{ $('trigger').data_content.name }}")]);
  const state = await project.ended(await project.send(revision, undefined, { input: '', test: true }));
  expect(state.reply?.body).toBe('Ada');
  expect(nodeOf(state, 'trigger')?.output).toEqual({ text_content: '', data_content: { name: 'Ada' } });
});

test('a run whose revision is gone fails with RevisionMissing', async () => {
  const state = await project.ended(await project.send('no-such-revision', {}));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'RevisionMissing' });
});

test('an output that is too large for the run store fails the run', async () => {
  const revision = await project.deploy([
    webhook,
    reply('reply', ["{{ $('trigger').data_content }}", "{{ $('trigger').data_content }}"]),
  ]);
  const state = await project.ended(await project.send(revision, 'ä'.repeat(200_000)));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'OutputTooLarge' });
  expect(nodeOf(state, 'reply')).toMatchObject({ phase: 'Failed', reason: 'OutputTooLarge' });
});

test('the same event with a key runs once, and its run keeps the reply', async () => {
  const revision = await project.deploy([webhook, mail('mail'), reply('reply', 'once')]);
  const first = await project.send(revision, {}, { dedupeKey: 'event-1' });
  const second = await project.send(revision, {}, { dedupeKey: 'event-1' });
  expect(second).toBe(first);
  expect(await project.ended(first)).toMatchObject({ phase: 'Succeeded', reply: { body: 'once' } });
  expect(mailbox.messages).toHaveLength(1);
});

test('a runner that leaves hands back what it cannot end, and the next one does it', async () => {
  const revision = await project.deploy([webhook, agent('a', {}, { model: 'demo' }), reply('reply', 'ok')]);
  model.setFault('hang', 1);
  const run = await project.send(revision, {});
  await pollUntil('the question', () => model.requests.length === 1, { timeoutMs: 20_000, everyMs: 10 });
  await runner.stop(0);
  const state = await project.until(run, (state) => nodeOf(state, 'a')?.phase === 'Pending');
  expect(state.phase).not.toBe('Failed');
  runner = startTestRunner(conn, project.uid, {
    runner: 'runner-2',
    credentials,
  });
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded', crashes: 0 });
  expect(new Set(model.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
});
