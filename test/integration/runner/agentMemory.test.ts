import { afterAll, beforeEach, expect, test } from 'vitest';
import type { MemoryTurn } from '../../../api/memory.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { readMemory } from '../../../runs/memoryList.ts';
import { forgetMemory } from '../../../runs/memoryRemoval.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { keysOf } from '../../../store/keys.ts';
import { listen } from '../../support/network/listen.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness({ slowDelayMs: 300 });
const { redis, conn, project, model, credentials, withSuccessor } = harness;

let isHanging = true;
const calls: string[] = [];
const api = await listen((request, response) => {
  calls.push(request.url ?? '');
  if (request.url?.startsWith('/hang') && isHanging) return;
  response.setHeader('content-type', 'application/json');
  response.end('{"ok":true}');
});

beforeEach(() => {
  harness.reset();
  calls.length = 0;
  isHanging = true;
});
afterAll(async () => {
  await api.close();
  await harness.close();
});

const trigger = { id: 'trigger', webhook: { path: 'chat' } };
const get = (name: string) => ({
  name,
  skill: 'http_request',
  parameters: { url: `${api.url}/${name}`, method: 'POST', body: {} },
});
const agent = (extra: object = {}, options: object = {}) => ({
  id: 'a',
  agent: {
    credential: 'llm',
    model: 'demo',
    systemPrompt: 'Be brief.',
    prompt: "{{ $('trigger').data_content.text }}",
    memory: { key: "{{ $('trigger').data_content.chat }}" },
    ...extra,
  },
  ...options,
});

const nodeOf = (state: RunState, id = 'a'): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);

/** A test workflow, its uid and its revision have one name. */
async function turnsOf(workflow: string, key: string): Promise<MemoryTurn[]> {
  const read = await readMemory(conn, project.uid, workflow, { name: 'a', key });
  return read.outcome === 'read' ? read.turns.map((text) => JSON.parse(text) as MemoryTurn) : [];
}

const sentTo = (index: number) =>
  model.requests[index]?.body.messages.map(({ role, content }) => `${role}: ${content}`);

test('the next run of the key continues the conversation, with tool calls and results; other keys do not', async () => {
  const revision = await project.deploy([trigger, agent({ tools: [get('orders')] })]);
  await withSuccessor('continues', async () => {
    await project.ended(await project.send(revision, { chat: 7, text: 'call orders {"query":{"id":1}}' }));
    const state = await project.ended(await project.send(revision, { chat: 7, text: 'And now?' }));
    expect(state.phase).toBe('Succeeded');
    await project.ended(await project.send(revision, { chat: 8, text: 'Hello' }));
  });
  const text = expect.stringContaining('"body":{"ok":true}') as string;
  expect(sentTo(2)).toEqual([
    'system: Be brief.',
    'user: call orders {"query":{"id":1}}',
    expect.stringContaining('assistant: ') as string,
    text,
    text,
    'user: And now?',
  ]);
  expect(sentTo(3)).toEqual(['system: Be brief.', 'user: Hello']);
  const turns = await turnsOf(revision, '7');
  expect(turns.map(({ user, steps }) => [user, steps.length])).toEqual([
    ['call orders {"query":{"id":1}}', 1],
    ['And now?', 0],
  ]);
  expect(turns[0]?.steps[0]?.calls).toEqual([
    { id: expect.any(String) as string, name: 'orders', arguments: '{"query":{"id":1}}', result: text },
  ]);
});

test('a runner killed between start and end: the turn is stored once, and no memory stays locked', async () => {
  const revision = await project.deploy([trigger, agent({ tools: [get('hang')] })]);
  const child = await spawnRunner({ url: redis.url, project: project.uid, runner: 'dies', credentials });
  const run = await project.send(revision, { chat: 'c', text: 'call hang {}' });
  await pollUntil('the call', () => calls.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  const waiting = await project.send(revision, { chat: 'c', text: 'Second' });
  await project.until(waiting, ({ phase }) => phase === 'Waiting');
  await killRunner(child);
  isHanging = false;
  const [first, second] = await withSuccessor('follows', async () => [
    await project.ended(run),
    await project.ended(waiting),
  ]);
  expect([first?.phase, second?.phase]).toEqual(['Succeeded', 'Succeeded']);
  const turns = await turnsOf(revision, 'c');
  expect(turns.map(({ user, run: of }) => [user, of])).toEqual([
    ['call hang {}', run],
    ['Second', waiting],
  ]);
  expect(await conn.command('hlen', keysOf(project.uid).memoryLocks)).toBe(0);
});

test.each([
  ['the first request', 1],
  ['the request after a tool call', 2],
])('a runner killed during %s: the turn is stored once', async (_when, requests) => {
  const revision = await project.deploy([trigger, agent({ model: 'demo-slow', tools: [get('orders')] })]);
  const runner = `dies-at-${requests}`;
  const child = await spawnRunner({ url: redis.url, project: project.uid, runner, credentials });
  const run = await project.send(revision, { chat: 'k', text: 'call orders {}' });
  await pollUntil('the request', () => model.requests.length === requests, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  const state = await withSuccessor(`follows-${requests}`, () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect((await turnsOf(revision, 'k')).map(({ steps }) => steps.length)).toEqual([1]);
  expect(calls).toEqual(['/orders']);
  expect(await conn.command('hlen', keysOf(project.uid).memoryLocks)).toBe(0);
});

test('runs of one key at the same time: one after the other, in the order of their events, never mixed', async () => {
  const revision = await project.deploy([trigger, agent({ model: 'demo-slow' })]);
  const texts = ['one', 'two', 'three', 'four'];
  await withSuccessor('queue', async () => {
    const runs: string[] = [];
    for (const text of texts) {
      const run = await project.send(revision, { chat: 'q', text });
      runs.push(run);
      await project.until(run, ({ nodes }) =>
        ['Running', 'Waiting'].includes(nodeOf({ nodes } as RunState)?.phase ?? ''),
      );
    }
    for (const run of runs) expect((await project.ended(run)).phase).toBe('Succeeded');
  });
  expect((await turnsOf(revision, 'q')).map(({ user }) => user)).toEqual(texts);
  expect(sentTo(3)?.filter((line) => line.startsWith('user: '))).toEqual(
    texts.map((text) => `user: ${text}`),
  );
});

test('runs whose parallel agents use the same memories in another order do not wait for each other', async () => {
  const using = (id: string, key: string) => ({
    ...agent({
      model: 'demo-slow',
      memory: { name: 'shared', key: `{{ $('trigger').data_content.${key} }}` },
    }),
    id,
  });
  const edges = ['a', 'b'].map((to) => ({ from: 'trigger', to }));
  const revision = await project.deploy([trigger, using('a', 'first'), using('b', 'second')], edges);
  await withSuccessor('crossed', async () => {
    const runs = await Promise.all(
      [
        { first: 'x', second: 'y', text: 'one' },
        { first: 'y', second: 'x', text: 'two' },
      ].map((event) => project.send(revision, event)),
    );
    for (const run of runs) expect((await project.ended(run)).phase).toBe('Succeeded');
  });
  for (const key of ['x', 'y']) {
    const read = await readMemory(conn, project.uid, revision, { name: 'shared', key });
    expect(read).toMatchObject({ outcome: 'read', turns: { length: 2 } });
  }
});

test('items of a loop with one key use the memory one after the other', async () => {
  const prompt = { prompt: '{{ $item }}', memory: { key: 'shared' } };
  const each = { forEach: { items: "{{ $('trigger').data_content }}", maxParallel: 3 } };
  const revision = await project.deploy([trigger, agent(prompt, each)]);
  const run = await project.send(revision, ['one', 'two', 'three']);
  const state = await withSuccessor('items', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect((await turnsOf(revision, 'shared')).map(({ user }) => user).toSorted()).toEqual([
    'one',
    'three',
    'two',
  ]);
  expect(model.requests.map(({ body }) => body.messages.length)).toEqual([2, 4, 6]);
});

test('a failed agent stores its turn if it had called a tool, and otherwise none', async () => {
  const revision = await project.deploy([trigger, agent({ tools: [get('orders')], maxSteps: 2 })]);
  await withSuccessor('fails', async () => {
    const always = await project.send(revision, { chat: 'f', text: 'always call orders {}' });
    expect(nodeOf(await project.ended(always))).toMatchObject({ reason: 'StepLimit' });
    model.setFault('not-found');
    const refused = await project.send(revision, { chat: 'f', text: 'Hello' });
    expect((await project.ended(refused)).phase).toBe('Failed');
  });
  expect(await turnsOf(revision, 'f')).toMatchObject([
    {
      failed: true,
      answer: expect.stringContaining('StepLimit') as string,
      steps: [{ calls: [{ name: 'orders' }] }],
    },
  ]);
});

test('a cancelled agent releases its memory, and a deleted memory does not come back', async () => {
  const revision = await project.deploy([trigger, agent({ tools: [get('hang'), get('orders')] })]);
  await withSuccessor('deletes', async () => {
    await project.ended(await project.send(revision, { chat: 'd', text: 'old' }));
    const running = await project.send(revision, { chat: 'd', text: 'call hang {}' });
    await pollUntil('the call', () => calls.includes('/hang'), { timeoutMs: 20_000, everyMs: 5 });
    const next = await project.send(revision, { chat: 'd', text: 'before' });
    await project.until(next, ({ phase }) => phase === 'Waiting');
    await forgetMemory(conn, project.uid, revision, { name: 'a', key: 'd' });
    await cancelRun(conn, project.uid, running);
    expect((await project.ended(running)).phase).toBe('Cancelled');
    expect((await project.ended(next)).phase).toBe('Succeeded');
    expect(await turnsOf(revision, 'd')).toEqual([]);
    await project.ended(await project.send(revision, { chat: 'd', text: 'new' }));
  });
  expect(sentTo(3)).toEqual(['system: Be brief.', 'user: new']);
  expect((await turnsOf(revision, 'd')).map(({ user }) => user)).toEqual(['new']);
});

test('the window is halved once when the model says that the conversation is too long', async () => {
  const revision = await project.deploy([trigger, agent()]);
  await withSuccessor('long', async () => {
    for (const text of ['one', 'two', 'three', 'four'])
      await project.ended(await project.send(revision, { chat: 'l', text }));
    model.setFault('context-length', 1);
    expect((await project.ended(await project.send(revision, { chat: 'l', text: 'five' }))).phase).toBe(
      'Succeeded',
    );
    model.setFault('context-length', 2);
    const state = await project.ended(await project.send(revision, { chat: 'l', text: 'six' }));
    expect(nodeOf(state)).toMatchObject({ phase: 'Failed', reason: 'ContextTooLong' });
  });
  expect(sentTo(5)?.filter((line) => line.startsWith('user: '))).toEqual([
    'user: three',
    'user: four',
    'user: five',
  ]);
  expect(model.requests.slice(4, 6).map(({ idempotencyKey }) => idempotencyKey?.split('/').slice(3))).toEqual(
    [['1'], ['1', 'halved']],
  );
});

test.each([
  ['no key', {}],
  ['an empty key', { chat: ' ' }],
  ['an object', { chat: {} }],
  ['a key of 600 bytes', { chat: 'x'.repeat(600) }],
])('%s fails the step before the model is asked', async (_what, event) => {
  const revision = await project.deploy([trigger, agent()]);
  const run = await project.send(revision, { ...event, text: 'Hello' });
  const state = await withSuccessor('keys', () => project.ended(run));
  expect(nodeOf(state)?.reason).toMatch(/^(InvalidParameters|MissingValue)$/);
  expect(model.requests).toHaveLength(0);
});

test('a test run has a memory of its own', async () => {
  const revision = await project.deploy([trigger, agent()]);
  await withSuccessor('tests', async () => {
    await project.ended(await project.send(revision, { chat: 't', text: 'live' }));
    await project.ended(await project.send(revision, { chat: 't', text: 'test' }, { test: true }));
  });
  expect(sentTo(1)).toEqual(['system: Be brief.', 'user: test']);
});
