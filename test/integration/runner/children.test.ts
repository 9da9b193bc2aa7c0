/** Workflow nodes: a run starts other workflows as child runs, and waits for them without a runner. */
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { WorkflowRun } from '../../../api/kinds.ts';
import type { RunStatus } from '../../../api/run.ts';
import { advance } from '../../../runs/advance.ts';
import { putCallee } from '../../../runs/callees.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { handBackAll } from '../../../runs/handback.ts';
import { childName } from '../../../runs/names.ts';
import { readRun } from '../../../runs/read.ts';
import { restoreRun, type RecordedRun } from '../../../runs/restore.ts';
import { submitChild } from '../../../runs/submit.ts';
import type { Claim } from '../../../runs/types/claim.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Runner } from '../../../runner/runner.ts';
import { keysOf } from '../../../store/keys.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness();
const { conn, project, mailbox, model, credentials } = harness;
const keys = keysOf(project.uid);
let runner: Runner | undefined;

const start = () => (runner = startTestRunner(conn, project.uid, { credentials }));
beforeEach(() => {
  harness.reset();
  start();
});
afterEach(async () => {
  await runner?.stop(0);
  runner = undefined;
});
afterAll(harness.close);

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const manual = { id: 'trigger', manual: {} };
const shape = (id: string, values: string, extra: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values } },
  ...extra,
});
const call = (name: string, workflow: object = {}, extra: object = {}) => ({
  id: 'call',
  workflow: { name, input: "{{ $('trigger').data_content }}", ...workflow },
  ...extra,
});
const failing = { id: 'stop', fail: { reason: 'OutOfStock', message: 'nothing is left' } };
const pause = { id: 'pause', wait: { duration: '1h' } };
const mail = {
  id: 'send',
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: 'ada@example.com', subject: 's', body: 'b' },
  },
};
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const dataOf = (state: RunState, id: string) => nodeOf(state, id)?.output?.data_content;

async function execute(nodes: object[], body: unknown = {}): Promise<RunState> {
  return project.ended(await project.send(await project.deploy(nodes), body));
}

/** The run of a node that waits for a child, once both are parked. */
async function waitingForChild(nodes: object[]): Promise<{ run: string; child: string }> {
  const run = await project.send(await project.deploy(nodes), {});
  const state = await project.until(run, ({ phase }) => phase === 'Waiting');
  const child = nodeOf(state, 'call')?.run ?? '';
  await project.until(child, ({ phase }) => phase === 'Waiting');
  return { run, child };
}

/** Claims a new run of the workflow for a runner that dies, and stores the start mark of its node `call`. */
async function marked(own: string): Promise<{ run: string; claim: Claim }> {
  const run = await project.send(own, {});
  const claimed = await claimRuns(conn, { project: project.uid, runner: 'dead', max: 50 });
  const claims = claimed.outcome === 'claimed' ? claimed.claims : [];
  const claim = claims.find(({ state }) => state.run === run);
  if (!claim) throw new Error('the run was not claimed');
  const ref = { project: project.uid, run, token: claim.token };
  await advance(conn, ref, { starts: [{ id: 'call', attempt: 1, atMostOnce: false, at: Date.now() }] });
  return { run, claim };
}

const releaseClaims = () => handBackAll(conn, { project: project.uid, runner: 'dead' });

/** Submits the child of the node `call` as the runner with that claim would. */
function submitAs({ state, token }: Claim, callee: string) {
  const { run, group, workflow } = state;
  return submitChild(
    conn,
    {
      project: project.uid,
      workflow: callee,
      workflowUid: callee,
      revision: callee,
      run: childName(callee, `${project.uid}/${run}/call/1`),
      trigger: 'workflow',
      input: '{"text_content":"","data_content":{}}',
      bodyHash: '',
      test: false,
      parent: { run, node: 'call', group, root: run, path: [workflow], waits: true },
    },
    { token, isInDoubt: false },
  );
}

test('the output of a workflow node is that of the last node of the child run', async () => {
  const callee = await project.deploy([manual, shape('double', 'nodes.trigger.data_content.n * 2.0')]);
  const state = await execute([webhook, call(callee), shape('after', 'nodes.call.data_content + 1.0')], {
    n: 4,
  });
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'after')).toBe(9);
  // Also where another claim has continued the run after its wait.
  expect(nodeOf(state, 'call')?.sent).toEqual({ parameters: { input: { n: 4 } } });
  const child = await project.ended(nodeOf(state, 'call')?.run ?? '');
  expect(child).toMatchObject({
    phase: 'Succeeded',
    trigger: 'workflow',
    parent: { run: state.run, node: 'call', root: state.run, path: [state.workflow], waits: true },
  });
  expect(await conn.command('exists', keys.children(state.run), keys.signals(state.run))).toBe(0);
});

test('the output of a child with a response node is its reply', async () => {
  const reply = { id: 'reply', response: { status: 201, body: { ok: '{{ $run.test }}' } } };
  const callee = await project.deploy([manual, reply, shape('after', '1')]);
  const state = await execute([webhook, call(callee)]);
  expect(dataOf(state, 'call')).toEqual({ status: 201, body: { ok: false } });
});

test('a run that waits for a child holds no slot of its workflow', async () => {
  const callee = await project.deploy([manual, pause]);
  const own = await project.deploy([webhook, call(callee)], undefined, {}, { concurrency: 1 });
  const first = await project.send(own, {});
  await project.until(first, ({ phase }) => phase === 'Waiting');
  const second = await project.send(own, {});
  expect(await project.until(second, ({ phase }) => phase === 'Waiting')).toMatchObject({ crashes: 0 });
});

test('wait: false continues at once with the name of the child, which outlives its parent', async () => {
  const callee = await project.deploy([manual, pause]);
  const state = await execute([webhook, call(callee, { wait: false })]);
  expect(state).toMatchObject({ phase: 'Succeeded' });
  const { run } = dataOf(state, 'call') as { run: string };
  expect(await project.until(run, ({ phase }) => phase === 'Waiting')).toMatchObject({
    cancelRequested: false,
  });
});

test('a failed child fails its node, which names run, node and reason', async () => {
  const callee = await project.deploy([manual, failing]);
  const state = await execute([webhook, call(callee)]);
  const child = nodeOf(state, 'call')?.run ?? '';
  expect(state).toMatchObject({ phase: 'Failed', reason: 'NodeFailed' });
  expect(nodeOf(state, 'call')).toMatchObject({
    reason: 'ChildFailed',
    message: `run ${child} of workflow ${callee} failed: OutOfStock: nothing is left`,
  });
});

test('a retry of the node is another child run', async () => {
  const callee = await project.deploy([manual, failing]);
  const retry = { limit: 1, backoff: { initial: '0s' } };
  const state = await execute([webhook, call(callee, {}, { retry, onError: 'Continue' })]);
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(nodeOf(state, 'call')).toMatchObject({ phase: 'Failed', attempts: 2, reason: 'ChildFailed' });
  const key = (attempt: number) => `${project.uid}/${state.run}/call/${attempt}`;
  for (const attempt of [1, 2])
    expect(await readRun(conn, project.uid, childName(callee, key(attempt)))).toMatchObject({
      phase: 'Failed',
    });
});

test('each item of a loop has a child of its own, and no signal is left', async () => {
  const callee = await project.deploy([manual, shape('name', 'nodes.trigger.data_content.name')]);
  const forEach = { items: "{{ $('trigger').data_content.items }}", maxParallel: 3 };
  const items = Array.from({ length: 12 }, (_, index) => ({ name: `n${index}` }));
  const state = await execute([webhook, call(callee, { input: '{{ $item }}' }, { forEach })], { items });
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'call')).toEqual(items.map(({ name }) => name));
  const key = `${project.uid}/${state.run}/call.11.0.1/call/1`;
  expect(await readRun(conn, project.uid, childName(callee, key))).toMatchObject({
    parent: { node: 'call', item: 11 },
  });
});

test('the child of a test run is a test run', async () => {
  const callee = await project.deploy([manual, shape('is', 'run.test')]);
  const own = await project.deploy([webhook, call(callee)]);
  const state = await project.ended(await project.send(own, {}, { test: true }));
  expect(dataOf(state, 'call')).toBe(true);
});

test('the cancel of a parent cancels the children that it waits for', async () => {
  const callee = await project.deploy([manual, pause]);
  const { run, child } = await waitingForChild([webhook, call(callee)]);
  expect(await cancelRun(conn, project.uid, run)).toEqual({ outcome: 'cancelled' });
  expect(await project.ended(child)).toMatchObject({ phase: 'Cancelled' });
  const isEmpty = async () => (await conn.command('scard', keys.cancels)) === 0;
  await pollUntil('no run is left to cancel', isEmpty, { timeoutMs: 10_000, everyMs: 10 });
});

test('the failure of another branch cancels the child', async () => {
  const callee = await project.deploy([manual, pause]);
  const own = await project.deploy(
    [webhook, call(callee), { id: 'wait', wait: { duration: '1s' } }, failing],
    [
      { from: 'trigger', to: 'call' },
      { from: 'trigger', to: 'wait' },
      { from: 'wait', to: 'stop' },
    ],
  );
  const state = await project.ended(await project.send(own, {}));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'OutOfStock' });
  expect(await project.ended(nodeOf(state, 'call')?.run ?? '')).toMatchObject({ phase: 'Cancelled' });
});

test('a cancelled child fails its node', async () => {
  const callee = await project.deploy([manual, pause]);
  const { run, child } = await waitingForChild([webhook, call(callee)]);
  await cancelRun(conn, project.uid, child);
  const message = `run ${child} of workflow ${callee} was cancelled: Cancelled: The run was cancelled.`;
  expect(nodeOf(await project.ended(run), 'call')).toMatchObject({ reason: 'ChildFailed', message });
});

test('the timeout of a child reaches its parent', async () => {
  model.setFault('hang');
  const ask = { id: 'ask', agent: { credential: 'llm', model: 'demo', prompt: 'Hello' } };
  const callee = await project.deploy([manual, ask], undefined, { timeout: '1s' });
  const state = await execute([webhook, call(callee)]);
  expect(nodeOf(state, 'call')?.message).toContain('failed: RunTimeout: ');
});

test('a workflow that does not exist fails the node', async () => {
  const state = await execute([webhook, call('nobody')]);
  expect(nodeOf(state, 'call')).toMatchObject({
    reason: 'WorkflowMissing',
    message: expect.stringContaining('there is no valid workflow nobody in this namespace'),
  });
});

test('a cycle that no check at apply has seen ends at its second workflow', async () => {
  const late = await project.deploy([manual, shape('a', '1')]);
  const first = await project.deploy([manual, call(late)]);
  await project.deployAs(late, [manual, call(first)]);
  const state = await project.ended(await project.send(first, {}));
  expect(nodeOf(state, 'call')?.message).toContain('WorkflowCycle');
  expect(nodeOf(state, 'call')?.message).toContain(`${first} → ${late} → ${first}`);
});

test('child runs are nested at most 10 levels deep', async () => {
  let name = await project.deploy([manual, shape('last', "'bottom'")]);
  for (let level = 1; level <= 10; level += 1) name = await project.deploy([manual, call(name)]);
  expect(dataOf(await project.ended(await project.send(name, {})), 'call')).toBe('bottom');
  const state = await project.ended(await project.send(await project.deploy([manual, call(name)]), {}));
  expect(nodeOf(state, 'call')?.message).toContain('TooDeep');
});

test('a root with 10,000 descendants starts no further child', async () => {
  const callee = await project.deploy([manual, shape('a', '1')]);
  const own = await project.deploy([webhook, { id: 'before', wait: { duration: '1s' } }, call(callee)]);
  const run = await project.send(own, {});
  await conn.command('set', keys.descendants(run), 10_000);
  expect(nodeOf(await project.ended(run), 'call')).toMatchObject({ reason: 'TooManyChildren' });
});

test('a suspended workflow refuses the child', async () => {
  const callee = await project.deploy([manual, shape('a', '1')], undefined, {}, { suspended: true });
  const state = await execute([webhook, call(callee)]);
  expect(nodeOf(state, 'call')).toMatchObject({ reason: 'Suspended' });
});

test('the policy Reject is an error of the node that a retry can pass', async () => {
  const limits = { concurrency: 1, policy: 'Reject' } as const;
  const callee = await project.deploy(
    [manual, { id: 'wait', wait: { duration: '900ms' } }],
    undefined,
    {},
    limits,
  );
  const first = await project.send(callee, {});
  const refused = await execute([webhook, call(callee)]);
  expect(nodeOf(refused, 'call')).toMatchObject({ reason: 'ConcurrencyLimit' });
  await project.ended(first);
  await project.send(callee, {});
  const retry = { limit: 10, backoff: { initial: '200ms', factor: 1 } };
  const state = await execute([webhook, call(callee, {}, { retry })]);
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(nodeOf(state, 'call')?.attempts).toBeGreaterThan(1);
});

test('after a takeover between start mark and submission the node starts one child', async () => {
  await runner?.stop(0);
  const callee = await project.deploy([manual, mail]);
  const { run } = await marked(await project.deploy([webhook, call(callee)]));
  await releaseClaims();
  start();
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  expect(mailbox.messages).toHaveLength(1);
});

test('after a takeover between submission and park the node gets the same child', async () => {
  await runner?.stop(0);
  const callee = await project.deploy([manual, mail]);
  const { run, claim } = await marked(await project.deploy([webhook, call(callee)]));
  expect(await submitAs(claim, callee)).toMatchObject({ outcome: 'accepted', duplicate: false });
  await releaseClaims();
  expect(await submitAs(claim, callee)).toEqual({ outcome: 'fenced' });
  start();
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
  expect(mailbox.messages).toHaveLength(1);
});

test('a child that ends before its parent waits is not missed', async () => {
  await runner?.stop(0);
  const callee = await project.deploy([manual, shape('a', '7')]);
  const own = await project.deploy([webhook, call(callee), shape('b', 'nodes.call.data_content')]);
  const { run, claim } = await marked(own);
  const submitted = await submitAs(claim, callee);
  start();
  await project.ended('run' in submitted ? submitted.run : '');
  await releaseClaims();
  const state = await project.ended(run);
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'b')).toBe(7);
});

test('a parent whose child was removed by hand fails when it reads the child', async () => {
  const callee = await project.deploy([manual, pause]);
  const { run, child } = await waitingForChild([webhook, call(callee)]);
  await conn.command('del', keys.run(child));
  const group = (await readRun(conn, project.uid, run)) as RunState;
  await runner?.stop(0);
  const entries = (await conn.command('zrange', keys.parked, 0, -1)) as string[];
  const entry = entries.find((it) => it.endsWith(` ${run}`)) ?? '';
  expect(entry.startsWith(group.group)).toBe(true);
  await conn.command('hset', keys.run(run), 'w:call', 0);
  await conn.command('zadd', keys.parked, 1, entry);
  start();
  expect(nodeOf(await project.ended(run), 'call')).toMatchObject({
    reason: 'ChildFailed',
    message: expect.stringContaining('DataLost'),
  });
});

test('effects of a child of a restored parent that must not be repeated do not begin', async () => {
  await runner?.stop(0);
  const callee = await project.deploy([manual, mail]);
  const own = await project.deploy([webhook, call(callee)]);
  const run = await project.send(own, {});
  await conn.command('hset', keys.run(run), 'doubt', 1);
  start();
  expect(nodeOf(await project.ended(run), 'call')?.message).toContain('EffectUnknown');
  expect(mailbox.messages).toHaveLength(0);
});

test('a parent that shall be cancelled starts no child', async () => {
  await runner?.stop(0);
  const callee = await project.deploy([manual, shape('a', '1')]);
  const { run, claim } = await marked(await project.deploy([webhook, call(callee)]));
  await cancelRun(conn, project.uid, run);
  expect(await submitAs(claim, callee)).toEqual({ outcome: 'stopped' });
  await releaseClaims();
});

/** A parent that was restored while its record says that it waits for the run `child-of-NAME`. */
async function restoredParent(name: string): Promise<string> {
  const callee = await project.deploy([manual, shape('a', '1')]);
  const own = await project.deploy([webhook, call(callee)]);
  const recorded: RecordedRun = {
    run: name,
    uid: `uid-${name}`,
    workflow: own,
    workflowUid: own,
    revision: own,
    trigger: 'webhook',
    test: false,
    input: '{"text_content":"","data_content":{}}',
    epoch: 1,
    sequence: 1,
    acceptedAt: 1_700_000_000_000,
    timeoutMs: 60_000,
    nodes: [{ id: 'call', phase: 'Waiting', attempts: 1, run: `child-of-${name}` }],
  };
  expect(await restoreRun(conn, project.uid, recorded)).toEqual({ outcome: 'restored' });
  return name;
}

const recordOf = (parent: string, status: RunStatus): WorkflowRun => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'WorkflowRun',
  metadata: { name: `child-of-${parent}`, namespace: 'shop' },
  spec: { workflow: 'callee', parent: { run: parent, node: 'call' } },
  status,
});
const nodes = [
  { id: 'a', phase: 'Succeeded', output: { text_content: 'from the record', data_content: 3 } },
  { id: 'b', phase: 'Skipped' },
] as RunStatus['nodes'];

test('after a loss of the run store a parent gets the result of its child from the record', async () => {
  await runner?.stop(0);
  const records = new Map([
    ['child-of-done', recordOf('done', { phase: 'Succeeded', nodes })],
    ['child-of-failed', recordOf('failed', { phase: 'Failed', reason: 'RunTimeout', message: 'too long' })],
    [
      'child-of-cut',
      recordOf('cut', { phase: 'Succeeded', nodes: [{ id: 'a', phase: 'Succeeded', truncated: true }] }),
    ],
    ['child-of-foreign', recordOf('other', { phase: 'Succeeded', nodes })],
    ['child-of-waiting', recordOf('waiting', { phase: 'Running' })],
  ]);
  const readRecord = async (run: string) => records.get(run);
  runner = startTestRunner(conn, project.uid, { credentials, readRecord });
  expect(dataOf(await project.ended(await restoredParent('done')), 'call')).toBe(3);
  const messageOf = async (name: string) =>
    nodeOf(await project.ended(await restoredParent(name)), 'call')?.message;
  expect(await messageOf('failed')).toContain('failed: RunTimeout: too long');
  expect(await messageOf('cut')).toContain('DataLost: the run store lost its data, and its record does not');
  expect(await messageOf('foreign')).toContain(
    'DataLost: the run store lost its data, and the run has no record',
  );
  // Its record will be restored.
  const waiting = await restoredParent('waiting');
  await project.until(waiting, ({ phase }) => phase === 'Waiting');
});

test('a restored child tells its parent', async () => {
  await runner?.stop(0);
  const callee = await project.deploy([manual, shape('a', "'again'")]);
  const { run, claim } = await marked(await project.deploy([webhook, call(callee)]));
  const submitted = await submitAs(claim, callee);
  const child = 'run' in submitted ? submitted.run : '';
  const state = (await readRun(conn, project.uid, child)) as RunState;
  const lost = [keys.run(child), keys.children(run), keys.dedupe(callee, state.dedupeHash ?? '')];
  await conn.command('del', ...lost);
  const entries = (await conn.command('zrange', keys.ready, 0, -1)) as string[];
  const own = entries.filter((entry) => entry.endsWith(` ${child}`));
  if (own.length > 0) await conn.command('zrem', keys.ready, ...own);
  const recorded: RecordedRun = {
    ...state,
    uid: 'uid-child',
    epoch: 1,
    timeoutMs: 60_000,
    dedupe: { hash: state.dedupeHash ?? '', body: '' },
  };
  expect(await restoreRun(conn, project.uid, recorded)).toEqual({ outcome: 'restored' });
  await releaseClaims();
  start();
  expect(dataOf(await project.ended(run), 'call')).toBe('again');
});

test('the nightly report mails a line for each customer, and names how many failed', async () => {
  const specOf = async (file: string) => {
    const path = new URL(`../../../examples/nightly-report/${file}`, import.meta.url);
    const text = (await readFile(path, 'utf8')).replaceAll('nightly-report-smtp', 'smtp');
    return (parse(text) as { spec: { nodes: object[] } }).spec.nodes;
  };
  const callee = await project.deploy(await specOf('customer-report.yaml'));
  await putCallee(conn, project.uid, { name: 'customer-report', workflowUid: callee, revision: callee });
  const own = await project.deploy(await specOf('workflow.yaml'));
  const state = await project.ended(await project.send(own, { scheduled_time: '2026-01-05T01:00:00Z' }));
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(mailbox.messages.map(({ text }) => text.trim())).toEqual([
    'Ada: 2 orders, 200.5 EUR\nGrace: 0 orders, 0 EUR\nEdsger: 1 orders, 42 EUR\n\n242.5 EUR in total, 0 reports failed.',
  ]);
});
