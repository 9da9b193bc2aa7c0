/** Tools that run a workflow: an agent starts child runs, and waits for them without a runner. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { putCallee } from '../../../runs/callees.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { restoreRun } from '../../../runs/restore.ts';
import { keysOf } from '../../../store/keys.ts';
import { listen } from '../../support/network/listen.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness({ slowDelayMs: 300 });
const { redis, conn, project, model, credentials, withSuccessor } = harness;
const keys = keysOf(project.uid);

/** The calls of the API, of which `/late` answers when it is told to. */
const calls: string[] = [];
let answered = Promise.withResolvers<void>();
const api = await listen((request, response) => {
  calls.push(request.url ?? '');
  response.setHeader('content-type', 'application/json');
  const answer = () => void response.end('{"ok":true}');
  if (request.url === '/breaks-off') return void request.destroy();
  if (request.url === '/late') void answered.promise.then(answer);
  else answer();
});

beforeEach(() => {
  harness.reset();
  calls.length = 0;
  answered = Promise.withResolvers();
});
afterAll(async () => {
  answered.resolve();
  await api.close();
  await harness.close();
});

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const manual = (extra: object = {}) => ({ id: 'trigger', manual: extra });
const shape = (id: string, values: string) => ({ id, skill: { name: 'set', parameters: { values } } });
const get = (id: string, path: string) => ({
  id,
  skill: { name: 'http_request', parameters: { url: `${api.url}/${path}`, method: 'POST', body: {} } },
});
const send = (to: string) => ({
  id: 'send',
  skill: { name: 'send_email', credential: 'smtp', parameters: { to, subject: 's', body: 'b' } },
});
const getTool = (name: string) => ({
  name,
  skill: 'http_request',
  parameters: { url: `${api.url}/${name}`, method: 'POST', body: {} },
});
const refund = (workflow: string, extra: object = {}) => ({ name: 'refund', workflow, ...extra });
const agent = (prompt: string, tools: object[], extra: object = {}, options: object = {}) => ({
  id: 'a',
  agent: { credential: 'llm', model: 'demo', prompt, tools, ...extra },
  ...options,
});
const nodeOf = (state: RunState, id = 'a'): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const spawned = (runner: string) =>
  spawnRunner({ url: redis.url, project: project.uid, runner, credentials });
const childOf = (state: RunState): string => nodeOf(state)?.run ?? '';
const isWaiting = ({ phase }: RunState): boolean => phase === 'Waiting';
const requested = (count: number) =>
  pollUntil('the requests', () => calls.length === count, { timeoutMs: 20_000, everyMs: 5 });
const toldOf = (request: number): string => model.requests[request]?.body.messages.at(-1)?.content ?? '';

const stop = { id: 'stop', fail: { reason: 'OutOfStock', message: 'nothing is left' } };

test('the model calls a workflow with the input that its schema declares, and reads the output of the child run', async () => {
  const inputSchema = {
    type: 'object',
    properties: { order: { type: 'number', description: 'Its number.' }, by: { type: 'string' } },
    required: ['order', 'by'],
  };
  const callee = await project.deploy([
    manual({ inputSchema }),
    shape('done', '{"sum": nodes.trigger.data_content.order * 2.0, "by": nodes.trigger.data_content.by}'),
  ]);
  const tool = refund(callee, { parameters: { by: "{{ $('trigger').data_content.name }}" } });
  const run = await project.send(
    await project.deploy([trigger, agent('call refund {"order":4}\ncall refund {"order":"x"}', [tool])]),
    { name: 'Ada' },
  );
  const state = await withSuccessor('schema', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(model.requests[0]?.body.tools?.[0]?.function).toMatchObject({
    name: 'refund',
    description: `Runs the workflow ${callee}.`,
    parameters: {
      properties: { order: { type: 'number', description: 'Its number.' } },
      required: ['order'],
      additionalProperties: false,
    },
  });
  expect(JSON.parse(toldOf(1))).toEqual({ by: 'Ada', sum: 8 });
  expect(toldOf(2)).toContain('The call is wrong: order: ');
  const [entry] = nodeOf(state)?.transcript?.entries.filter(({ tool }) => tool === 'refund') ?? [];
  const child = await project.ended(entry?.run ?? '');
  expect(child).toMatchObject({ phase: 'Succeeded', parent: { run, node: 'a', root: run, waits: true } });
  expect(nodeOf(state)?.run).toBeUndefined();
  expect(await conn.command('exists', keys.children(run), keys.signals(run), keys.calls(run))).toBe(0);
});

test('a workflow without a schema takes one free-form object, and its description is that of the tool', async () => {
  const callee = await project.deploy([manual(), shape('done', 'nodes.trigger.data_content')]);
  const own = { workflowUid: callee, revision: callee };
  await putCallee(conn, project.uid, { name: callee, ...own, description: 'Pays money back.' });
  const run = await project.send(
    await project.deploy([trigger, agent('call refund {"input":{"n":1}}', [refund(callee)])]),
    {},
  );
  await withSuccessor('free', () => project.ended(run));
  expect(model.requests[0]?.body.tools?.[0]?.function).toMatchObject({ description: 'Pays money back.' });
  expect(toldOf(1)).toBe('{"n":1}');
});

test('an agent that only waits for child runs holds no runner and no slot, and continues with its stored calls', async () => {
  const callee = await project.deploy([manual(), get('late', 'late'), shape('done', "'paid'")]);
  const prompt = 'call check {} & refund {"input":{"n":1}} & refund {"input":{"n":2}}';
  const own = await project.deploy(
    [trigger, agent(prompt, [getTool('check'), refund(callee)])],
    undefined,
    {},
    {
      concurrency: 1,
    },
  );
  const run = await project.send(own, {});
  const state = await withSuccessor('parks', async () => {
    await project.until(run, isWaiting);
    const second = await project.send(own, {});
    await project.until(second, isWaiting);
    await requested(6);
    answered.resolve();
    await project.ended(second);
    return project.ended(run);
  });
  expect(state.phase).toBe('Succeeded');
  expect(nodeOf(state)).toMatchObject({ phase: 'Succeeded', attempts: 1 });
  expect(model.requests).toHaveLength(4);
  expect(calls.toSorted()).toEqual(['/check', '/check', '/late', '/late', '/late', '/late']);
});

test('while another tool is called, an agent waits in its runner, and a child run that ends frees its place', async () => {
  const callee = await project.deploy([manual(), shape('done', "'paid'")]);
  const prompt = 'call late {} & refund {"input":{"n":1}} & check {}';
  const tools = [getTool('late'), refund(callee), getTool('check')];
  const run = await project.send(
    await project.deploy([trigger, agent(prompt, tools, { maxParallel: 2 })]),
    {},
  );
  const state = await withSuccessor('mixed', async () => {
    await requested(2);
    answered.resolve();
    return project.ended(run);
  });
  expect(state.phase).toBe('Succeeded');
  expect(calls).toEqual(['/late', '/check']);
});

test('a runner killed while an agent waits in it for a child run: the next one finds the same child run', async () => {
  const callee = await project.deploy([
    manual(),
    get('again', 'again'),
    { id: 'pause', wait: { duration: '2s' } },
  ]);
  const prompt = 'call late {} & refund {"input":{"n":1}}';
  const child = await spawned('dies');
  const run = await project.send(
    await project.deploy([trigger, agent(prompt, [getTool('late'), refund(callee)])]),
    {},
  );
  const childRun = await pollUntil(
    'the child run',
    async () => ((await conn.command('smembers', keys.children(run))) as string[])[0],
    { timeoutMs: 20_000, everyMs: 5 },
  );
  await project.until(childRun, isWaiting);
  await killRunner(child);
  answered.resolve();
  const state = await withSuccessor('finds', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(calls.toSorted()).toEqual(['/again', '/late', '/late']);
  expect(nodeOf(state)?.transcript?.entries.find(({ tool }) => tool === 'refund')?.run).toBe(childRun);
  expect(model.requests).toHaveLength(2);
});

test.each<[sentence: string, nodes: object[], says: string]>([
  ['fails', [stop], 'failed: OutOfStock: nothing is left'],
  [
    'reaches its timeout',
    [{ ...shape('late', '1'), repeat: { until: 'false', limit: 10_000, delay: '1ms' } }],
    'failed: ',
  ],
])('the model is told of a child run that %s, and continues', async (_sentence, nodes, says) => {
  const callee = await project.deploy([manual(), ...nodes], undefined, { timeout: '1s' });
  const run = await project.send(
    await project.deploy([trigger, agent('call refund {"input":{}}', [refund(callee)])]),
    {},
  );
  const state = await withSuccessor('fails', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(toldOf(1)).toMatch(/^ChildFailed: run /);
  expect(toldOf(1)).toContain(says);
});

test('the model is told of a child run that was cancelled, and of a workflow that does not exist', async () => {
  const callee = await project.deploy([manual(), { id: 'pause', wait: { duration: '1h' } }]);
  const prompt = 'call refund {"input":{}}\ncall missing {"input":{}}';
  const tools = [refund(callee), { workflow: 'missing' }];
  const run = await project.send(await project.deploy([trigger, agent(prompt, tools)]), {});
  const state = await withSuccessor('cancels', async () => {
    const child = childOf(await project.until(run, isWaiting));
    await project.until(child, isWaiting);
    await cancelRun(conn, project.uid, child);
    return project.ended(run);
  });
  expect(state.phase).toBe('Succeeded');
  expect(toldOf(1)).toContain('was cancelled');
  expect(toldOf(2)).toContain('WorkflowMissing: there is no valid workflow missing');
});

test('a child run whose effect is in doubt makes the agent Unknown, and the model is not told', async () => {
  const callee = await project.deploy([manual(), send('hang-after-data@example.com')]);
  const run = await project.send(
    await project.deploy([trigger, agent('call refund {"input":{}}', [refund(callee)])]),
    {},
  );
  const child = await spawned('doubt-1');
  await pollUntil('the mail', () => harness.mailbox.messages.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  const state = await withSuccessor('doubt-2', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(nodeOf(state)).toMatchObject({ phase: 'Unknown', reason: 'EffectUnknown' });
  expect(model.requests).toHaveLength(1);
});

test('a call in doubt beside an unfinished child run keeps its reason until that has ended', async () => {
  const callee = await project.deploy([manual(), get('wait', 'late')]);
  const once = { ...getTool('breaks-off'), effect: 'AtMostOnce' };
  const prompt = 'call breaks-off {} & refund {"input":{}}';
  const run = await project.send(await project.deploy([trigger, agent(prompt, [once, refund(callee)])]), {});
  const state = await withSuccessor('doubts', async () => {
    await project.until(run, isWaiting);
    answered.resolve();
    return project.ended(run);
  });
  expect(nodeOf(state)).toMatchObject({ phase: 'Unknown', reason: 'EffectUnknown' });
  expect(nodeOf(state)?.message).toContain('tool breaks-off: ');
  expect(nodeOf(state)?.message).toContain(
    'the provider may have done what was asked, so it is not repeated',
  );
  expect(calls.toSorted()).toEqual(['/breaks-off', '/late']);
  expect(model.requests).toHaveLength(1);
});

test('the cancel of the parent cancels the child runs of its agent', async () => {
  const callee = await project.deploy([manual(), { id: 'pause', wait: { duration: '1h' } }]);
  const run = await project.send(
    await project.deploy([trigger, agent('call refund {"input":{}}', [refund(callee)])]),
    {},
  );
  await withSuccessor('parent', async () => {
    const child = childOf(await project.until(run, isWaiting));
    await project.until(child, isWaiting);
    await cancelRun(conn, project.uid, run);
    expect(await project.ended(run)).toMatchObject({ phase: 'Cancelled' });
    expect(await project.ended(child)).toMatchObject({ phase: 'Cancelled' });
  });
});

test('an agent continues to wait for a child run whose workflow was suspended after it had started', async () => {
  const long = await project.deploy([manual(), { id: 'pause', wait: { duration: '1h' } }]);
  const short = await project.deploy([manual(), get('late', 'late')]);
  const tools = [refund(long), { name: 'report', workflow: short }];
  const prompt = 'call refund {"input":{}} & report {"input":{}}';
  const run = await project.send(await project.deploy([trigger, agent(prompt, tools)]), {});
  await withSuccessor('suspended', async () => {
    await project.until(childOf(await project.until(run, isWaiting)), isWaiting);
    await setWorkflowLimits(conn, project.uid, {
      workflowUid: long,
      policy: 'Queue',
      deadlineMs: 60_000,
      suspended: true,
    });
    answered.resolve();
    await pollUntil(
      'the result of the other child run',
      async () => (await conn.command('hexists', keys.calls(run), 'a/m1.1')) === 1,
      { timeoutMs: 20_000, everyMs: 5 },
    );
    await project.until(run, isWaiting);
  });
  expect(await conn.command('hexists', keys.calls(run), 'a/m1.0')).toBe(0);
  expect(model.requests).toHaveLength(1);
});

test('agents in a loop wait for their child runs, each with its item', async () => {
  const callee = await project.deploy([manual(), shape('done', 'nodes.trigger.data_content.n')]);
  const each = { forEach: { items: "{{ $('trigger').data_content.items }}", maxParallel: 3 } };
  const run = await project.send(
    await project.deploy([trigger, agent('call refund {"input":{"n":1}}', [refund(callee)], {}, each)]),
    { items: [1, 2, 3, 4] },
  );
  const state = await withSuccessor('loop', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(model.requests).toHaveLength(8);
  expect(await conn.command('exists', keys.children(run), keys.calls(run))).toBe(0);
});

test('a workflow that would run itself through a tool is refused, and the model is told', async () => {
  const own = await project.deploy([trigger]);
  await project.deployAs(own, [trigger, agent('call refund {"input":{}}', [refund(own)])]);
  const run = await project.send(`${own}-2`, {}, { workflow: own, workflowUid: own });
  const state = await withSuccessor('cycle', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(toldOf(1)).toContain('WorkflowCycle: ');
});

/** A run whose record says that its agent waited for a child run when the run store lost its data. */
async function restored(name: string, callee: string): Promise<string> {
  const own = await project.deploy([trigger, agent('call refund {"input":{}}', [refund(callee)])]);
  const outcome = await restoreRun(conn, project.uid, {
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
    nodes: [{ id: 'a', phase: 'Waiting', attempts: 1, run: 'refund-1' }],
  });
  expect(outcome).toEqual({ outcome: 'restored' });
  return name;
}

test('after a loss of the run store an agent that waited for a child run begins again, with the same keys', async () => {
  const run = await restored('lost-1', await project.deploy([manual(), shape('done', "'paid'")]));
  const state = await withSuccessor('lost', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(model.requests[0]?.idempotencyKey).toBe(`${project.uid}/${run}/a/1/m1`);
  expect(toldOf(1)).toBe('paid');
});

test('after a loss of the run store child runs of an agent repeat no effect that must not be repeated', async () => {
  const run = await restored('lost-2', await project.deploy([manual(), send('ada@example.com')]));
  const state = await withSuccessor('lost', () => project.ended(run));
  expect(nodeOf(state)).toMatchObject({ phase: 'Unknown', reason: 'EffectUnknown' });
  expect(harness.mailbox.messages).toEqual([]);
});
