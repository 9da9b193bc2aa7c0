/** Runs that resume failed ones: what is kept, what is executed again, and with which effect keys. */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { WorkflowRun } from '../../../api/kinds.ts';
import { effectOf } from '../../../nodes/register.ts';
import type { Runner } from '../../../runner/runner.ts';
import { getRevision } from '../../../runs/revisions.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { planResume, readEnded } from '../../../runs/resume.ts';
import { setQuotas } from '../../../runs/limits.ts';
import type { Decision, RunState } from '../../../runs/types/run.ts';
import { keysOf } from '../../../store/keys.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness();
const { conn, project, model, mailbox, credentials } = harness;
let runner: Runner;

beforeEach(() => {
  harness.reset();
  runner = startTestRunner(conn, project.uid, { credentials });
});
afterEach(async () => {
  await setQuotas(conn, project.uid, { quota: 1_000_000_000 });
  await runner.stop(0);
});
afterAll(harness.close);

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const agent = (id: string) => ({ id, agent: { credential: 'llm', model: 'demo', prompt: `${id} says hi` } });
const mail = (id: string, to: string, extra: object = {}) => ({
  id,
  skill: { name: 'send_email', credential: 'smtp', parameters: { to, subject: 'Order', body: 'Thanks' } },
  ...extra,
});

/** Resumes the run as the operator and the gateway do. */
async function resume(run: string, decisions: Decision[] = []): Promise<RunState | { reason: string }> {
  const found = await readEnded(conn, project.uid, run);
  if (!found || 'outcome' in found) throw new Error('the run is gone');
  const { state, items } = found;
  const revision = await getRevision(conn, project.uid, state.revision);
  if (!revision || 'outcome' in revision) throw new Error('the revision is gone');
  const { phase, origin, nodes } = state;
  const isAtMostOnce = (step: Parameters<typeof effectOf>[0]) => effectOf(step) === 'AtMostOnce';
  const resumed = planResume({ run, phase, origin, nodes, items }, revision, decisions, isAtMostOnce);
  if ('reason' in resumed) return resumed;
  const { input } = state;
  return project.ended(await project.send(state.revision, {}, { input, retryOf: run, resumed }));
}

async function failedRun(nodes: object[], body: unknown, edges?: object[]): Promise<RunState> {
  const state = await project.ended(await project.send(await project.deploy(nodes, edges), body));
  expect(state.phase).toBe('Failed');
  return state;
}

/** As a recorder does once the end is recorded: the run leaves the store. */
async function leave(state: RunState): Promise<void> {
  expect(await recorded(conn, await project.ended(state.run), 'written')).toBe('recorded');
  await conn.command('unlink', keysOf(project.uid).run(state.run));
}

const attemptsOf = (state: Awaited<ReturnType<typeof resume>>, id: string) =>
  'nodes' in state ? state.nodes.find((node) => node.id === id)?.attempts : undefined;
const asked = () => model.requests.map(({ body }) => JSON.stringify(body));

test('outputs of succeeded nodes are kept, and the failed node runs again as the next attempt, also after the run has left the store', async () => {
  const nodes = [
    webhook,
    agent('first'),
    { ...agent('second'), agent: { credential: 'gone', model: 'demo', prompt: 'second says hi' } },
    mail('send', 'ada@example.com'),
  ];
  const state = await failedRun(nodes, {});
  await leave(state);
  model.requests.length = 0;
  const table = { ...credentials, gone: credentials.llm };
  await runner.stop(0);
  runner = startTestRunner(conn, project.uid, { credentials: table });
  const resumed = await resume(state.run);
  expect(resumed).toMatchObject({ phase: 'Succeeded', retryOf: state.run, origin: state.run });
  expect(asked()).toEqual([expect.stringContaining('second says hi')]);
  expect(attemptsOf(resumed, 'second')).toBe(2);
  expect(mailbox.messages).toHaveLength(1);
});

test('an Unknown node is executed again with the same effect key, after a decision', async () => {
  mailbox.setFault('drop-after-data');
  const state = await failedRun([webhook, mail('send', 'ada@example.com')], {});
  expect(state).toMatchObject({ reason: 'EffectUnknown' });
  mailbox.setFault(undefined);
  expect(await resume(state.run)).toMatchObject({
    reason: 'DecisionMissing',
    message: expect.stringContaining('AssumeDone'),
  });
  const resumed = await resume(state.run, [{ node: 'send', outcome: 'AssumeNotDone' }]);
  expect(resumed).toMatchObject({ phase: 'Succeeded' });
  expect(attemptsOf(resumed, 'send')).toBe(1);
  const [first, second] = mailbox.messages.map(({ messageId }) => messageId);
  expect(second ?? first).toBe(first);
  const again = await resume(state.run, [{ node: 'send', outcome: 'AssumeNotDone' }]);
  expect(again).toMatchObject({ phase: 'Succeeded' });
  expect(new Set(mailbox.messages.map(({ messageId }) => messageId)).size).toBe(1);
});

test('a node that is assumed to be done is not executed, and later nodes read its output', async () => {
  mailbox.setFault('drop-after-data');
  const text = { name: 'set', parameters: { values: 'nodes.send.data_content.id' } };
  const state = await failedRun([webhook, mail('send', 'ada@example.com'), { id: 'text', skill: text }], {});
  mailbox.setFault(undefined);
  mailbox.messages.length = 0;
  const decision = { node: 'send', outcome: 'AssumeDone', output: { data_content: { id: 'm-1' } } } as const;
  const resumed = await resume(state.run, [decision]);
  expect(resumed).toMatchObject({ phase: 'Succeeded', decisions: [decision] });
  expect('nodes' in resumed && resumed.nodes.find(({ id }) => id === 'text')?.output?.data_content).toBe(
    'm-1',
  );
  expect(mailbox.messages).toEqual([]);
});

test('what was skipped because of the failure is decided again', async () => {
  const check = { id: 'check', agent: { credential: 'gone', model: 'demo', prompt: 'check' } };
  const set = (id: string) => ({ id, skill: { name: 'set', parameters: { values: '1' } } });
  const edges = [
    { from: 'trigger', to: 'check' },
    { from: 'trigger', to: 'other', when: 'nodes.trigger.data_content.other' },
    { from: 'check', to: 'after' },
  ];
  const state = await failedRun([webhook, check, set('other'), set('after')], { other: false }, edges);
  expect(state.nodes.find(({ id }) => id === 'after')?.phase).toBe('Skipped');
  await runner.stop(0);
  runner = startTestRunner(conn, project.uid, { credentials: { ...credentials, gone: credentials.llm } });
  const resumed = await resume(state.run);
  expect('nodes' in resumed && resumed.nodes.map(({ id, phase }) => `${id} ${phase}`).toSorted()).toEqual([
    'after Succeeded',
    'check Succeeded',
    'other Skipped',
    'trigger Succeeded',
  ]);
});

const loop = () => [
  webhook,
  mail('send', '{{ $item }}', { forEach: { items: "{{ $('trigger').data_content.items }}" } }),
  { id: 'count', skill: { name: 'set', parameters: { values: 'size(nodes.send.data_content)' } } },
];
const recipients = () => mailbox.messages.map(({ to }) => to);

/** A loop that sends one mail, and fails with the second. */
async function failedLoop(): Promise<RunState> {
  const state = await failedRun(loop(), { items: ['a@example.com', 'no address', 'c@example.com'] });
  expect(recipients()).toEqual([['a@example.com']]);
  return state;
}

test('a loop keeps the items that succeeded, and sends no mail twice', async () => {
  const state = await failedLoop();
  await leave(state);
  const resumed = await resume(state.run);
  // The second item has no address: it fails again, and the first one was not repeated.
  expect(resumed).toMatchObject({ phase: 'Failed', message: expect.stringContaining('item 1') });
  expect(recipients()).toEqual([['a@example.com']]);
});

test('a loop of mails whose items are gone is refused before any effect', async () => {
  const state = await failedLoop();
  await setQuotas(conn, project.uid, { quota: 1 });
  const { run } = state;
  expect(await recorded(conn, await project.ended(run), 'written')).toBe('recorded');
  expect(await conn.command('exists', keysOf(project.uid).failed(run))).toBe(0);
  expect(await conn.command('exists', keysOf(project.uid).items(run))).toBe(0);
  // In the seconds in which the run can still be read, its items are gone.
  await conn.command('hdel', keysOf(project.uid).run(run), 'dropped');
  expect(await resume(run)).toMatchObject({ reason: 'DataLost', message: expect.stringContaining('send') });
});

test('an item whose child run failed runs the workflow again, and a child that succeeded is not repeated', async () => {
  const gone = { id: 'last', agent: { credential: 'gone', model: 'demo', prompt: 'last' } };
  const callee = (node: object) => project.deploy([{ id: 'trigger', manual: {} }, node]);
  const call = (id: string, name: string) => ({ id, within: 'each', workflow: { name } });
  const nodes = [
    webhook,
    { id: 'each', group: {} },
    call('succeeds', await callee(agent('child'))),
    call('fails', await callee(gone)),
  ];
  const state = await failedRun(nodes, {});
  expect(asked()).toHaveLength(1);
  await runner.stop(0);
  runner = startTestRunner(conn, project.uid, { credentials: { ...credentials, gone: credentials.llm } });
  expect(await resume(state.run)).toMatchObject({ phase: 'Succeeded' });
  expect(asked()).toEqual([expect.stringContaining('child says hi'), expect.stringContaining('last')]);
});

/** A group that runs a child, and then asks a model. Its first run cannot use the credential `gone`. */
async function groupWithChild(child: object[], body: object[]): Promise<{ nodes: object[]; child: string }> {
  const name = await project.deploy([{ id: 'trigger', manual: {} }, ...child]);
  const inGroup = [{ id: 'call', workflow: { name } }, ...body].map((node) => ({ ...node, within: 'all' }));
  return { nodes: [webhook, { id: 'all', group: {} }, ...inGroup], child: name };
}
const needing = { agent: { credential: 'gone', model: 'demo', prompt: 'says hi' } };

async function restartWithCredential(readRecord?: (run: string) => Promise<WorkflowRun | undefined>) {
  await runner.stop(0);
  const table = { ...credentials, gone: credentials.llm };
  runner = startTestRunner(conn, project.uid, { credentials: table, ...(readRecord && { readRecord }) });
}

test('a failed child of a failed group is another child run when the group is executed again', async () => {
  const { nodes } = await groupWithChild([{ id: 'ask', ...needing }], []);
  const state = await failedRun(nodes, {});
  await restartWithCredential();
  expect(await resume(state.run)).toMatchObject({ phase: 'Succeeded' });
});

test.each([
  ['once only its record is left', false],
  ['once its dedupe key has expired too', true],
])('a child that succeeded in a failed group is not executed again %s', async (_when, isExpired) => {
  const { nodes, child } = await groupWithChild(
    [mail('send', 'ada@example.com')],
    [{ id: 'ask', ...needing }],
  );
  const state = await failedRun(nodes, {});
  const [name] = (await conn.command('zrange', keysOf(project.uid).runs(child), 0, -1)) as string[];
  const ended = await project.ended(name ?? '');
  await leave(ended);
  const key = keysOf(project.uid).dedupe(child, ended.dedupeHash ?? '');
  if (isExpired) await conn.command('unlink', key);
  expect(await conn.command('exists', key)).toBe(isExpired ? 0 : 1);
  const record: WorkflowRun = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowRun',
    metadata: { name: ended.run, namespace: 'shop' },
    spec: { workflow: child, parent: { run: state.run, node: 'call' } },
    status: {
      phase: 'Succeeded',
      nodes: [{ id: 'send', phase: 'Succeeded', output: { text_content: 'sent' } }],
    },
  };
  await restartWithCredential(async (run) => (run === ended.run ? record : undefined));
  expect(await resume(state.run)).toMatchObject({ phase: 'Succeeded' });
  expect(mailbox.messages).toHaveLength(1);
});
