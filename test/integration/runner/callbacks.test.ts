/** Nodes that wait for a callback: what ends their wait, and what readers of a run see of their URL. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { CALLBACK_PLACEHOLDER } from '../../../api/callback.ts';
import { readEvents } from '../../../runs/events.ts';
import { signalRun } from '../../../runs/signals.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Runner } from '../../../runner/runner.ts';
import { readRun } from '../../../runs/read.ts';
import { toRecord } from '../../../runs/record/record.ts';
import { redactRun } from '../../../runs/record/redact.ts';
import { putCallbackSettings } from '../../../store/callbacks.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { startRedis } from '../../support/runStore/redis.ts';
import { openTestProject, startTestRunner } from '../../support/runner/runnerProject.ts';

const redis = await startRedis();
const conn = connectRunStore({ url: redis.url, name: 'test' });
const project = await openTestProject(conn);
const key = { id: 'k1', key: Buffer.alloc(32, 7) };
await putCallbackSettings(conn, project.uid, { url: 'https://hooks.example.com', key, keys: [key] });
/** An echo server, which gets the URLs that workflows send out. */
const bodies: string[] = [];
const echo = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    bodies.push(body);
    response.setHeader('content-type', 'application/json').end(body);
  });
});
await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
const echoURL = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/`;

let runner: Runner;
beforeEach(() => {
  bodies.length = 0;
  runner = startTestRunner(conn, project.uid);
});
afterEach(() => runner.stop(0));
afterAll(async () => {
  await conn.close();
  echo.close();
  await redis.stop();
});

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const wait = (id: string, extra: object = {}, callback: object = {}) => ({
  id,
  wait: { callback },
  ...extra,
});
const shape = (id: string, values: string, extra: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values } },
  ...extra,
});
const send = (id: string, body: unknown, extra: object = {}) => ({
  id,
  skill: { name: 'http_request', parameters: { method: 'POST', url: echoURL, body } },
  ...extra,
});
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const signal = (run: string, node: string, body: unknown) =>
  signalRun(conn, project.uid, { run, node, value: JSON.stringify({ body }) });
const isParked = ({ phase }: RunState) => phase === 'Waiting';

test('a callback ends the wait of a parked run, and its body is the output of the node', async () => {
  const revision = await project.deploy([
    trigger,
    wait('approve'),
    shape('next', 'nodes.approve.data_content.ok'),
  ]);
  const run = await project.send(revision, {});
  const state = await project.until(run, isParked);
  expect(nodeOf(state, 'approve')).toMatchObject({ phase: 'Waiting', waitingFor: { callback: true } });
  expect(await conn.command('hexists', keysOf(project.uid).claims, run)).toBe(0);
  expect(await signal(run, 'approve', { ok: true })).toEqual({ outcome: 'stored' });
  const ended = await project.ended(run);
  expect(ended.phase).toBe('Succeeded');
  expect(nodeOf(ended, 'approve')?.output).toEqual({ text_content: '', data_content: { ok: true } });
  expect(nodeOf(ended, 'next')?.output?.data_content).toBe(true);
  expect(await signal(run, 'approve', { ok: false })).toEqual({ outcome: 'over' });
});

test('a text is also the text of the output', async () => {
  const revision = await project.deploy([trigger, wait('approve')]);
  const run = await project.send(revision, {});
  await project.until(run, isParked);
  await signal(run, 'approve', 'yes');
  expect(nodeOf(await project.ended(run), 'approve')?.output).toEqual({
    text_content: 'yes',
    data_content: 'yes',
  });
});

test('a callback that comes before its node is reached is the output of the node when it is', async () => {
  const pause = { id: 'pause', wait: { callback: {} } };
  const revision = await project.deploy([trigger, pause, wait('approve')]);
  const run = await project.send(revision, {});
  await project.until(run, isParked);
  expect(await signal(run, 'approve', 'early')).toEqual({ outcome: 'stored' });
  expect(await signal(run, 'approve', 'again')).toEqual({ outcome: 'repeated' });
  const waiting = await project.until(run, isParked);
  expect(nodeOf(waiting, 'pause')?.phase).toBe('Waiting');
  await signal(run, 'pause', 1);
  const ended = await project.ended(run);
  expect(nodeOf(ended, 'approve')?.output?.data_content).toBe('early');
});

test('without a callback the node fails CallbackTimeout, and its failure edge continues', async () => {
  const edges = [
    { from: 'trigger', to: 'approve' },
    { from: 'approve', to: 'late', after: 'Failure' },
  ];
  const revision = await project.deploy(
    [trigger, wait('approve', {}, { timeout: '1s' }), shape('late', '"late"')],
    edges,
  );
  const run = await project.send(revision, {});
  const ended = await project.ended(run);
  expect(ended.phase).toBe('Succeeded');
  expect(nodeOf(ended, 'approve')).toMatchObject({ phase: 'Failed', reason: 'CallbackTimeout' });
  expect(nodeOf(ended, 'approve')?.message).toContain('no call came within 1s');
  expect(nodeOf(ended, 'late')?.phase).toBe('Succeeded');
});

test('a callback after the timeout of its node is refused, while the run continues', async () => {
  const nodes = [trigger, wait('approve', { onError: 'Continue' }, { timeout: '1s' }), wait('second')];
  const run = await project.send(await project.deploy(nodes), {});
  await project.until(run, (state) => nodeOf(state, 'second')?.phase === 'Waiting');
  expect(await signal(run, 'approve', 1)).toEqual({ outcome: 'over' });
  await signal(run, 'second', 2);
  expect((await project.ended(run)).phase).toBe('Succeeded');
});

test('a run in which another branch works takes a callback too', async () => {
  const edges = [
    { from: 'trigger', to: 'approve' },
    { from: 'trigger', to: 'other' },
  ];
  const retry = { retry: { limit: 3, backoff: { initial: '600ms', factor: 1 } } };
  const broken = {
    id: 'other',
    skill: { name: 'http_request', parameters: { url: 'http://127.0.0.1:1/' } },
    onError: 'Continue',
    ...retry,
  };
  const run = await project.send(await project.deploy([trigger, wait('approve'), broken], edges), {});
  await project.until(run, (state) => nodeOf(state, 'approve')?.phase === 'Waiting');
  await signal(run, 'approve', 1);
  const early = await project.until(run, (state) => nodeOf(state, 'approve')?.phase === 'Succeeded');
  expect(nodeOf(early, 'other')?.phase).not.toBe('Failed');
});

test('the URL goes out in parameters, and outputs, events and messages hold a placeholder', async () => {
  const nodes = [
    trigger,
    send('ask', { callback: "{{ $url('approve') }}" }),
    wait('approve'),
    { id: 'end', fail: { reason: 'Told', message: "see {{ $url('approve') }}" } },
  ];
  const run = await project.send(await project.deploy(nodes), {});
  await project.until(run, isParked);
  const { callback } = JSON.parse(bodies[0] ?? '{}') as { callback: string };
  expect(callback).toMatch(/^https:\/\/hooks\.example\.com\/callback\/wlc\./);
  await signal(run, 'approve', { url: callback });
  const ended = await project.ended(run);
  expect(ended.reason).toBe('Told');
  const events = await readEvents(conn, project.uid, run, { limit: 100 });
  const seen = JSON.stringify([ended, events]);
  expect(seen).not.toContain('/callback/wlc');
  expect(seen).toContain(CALLBACK_PLACEHOLDER);
});

test('each item of a loop has its own callback', async () => {
  const nodes = [
    trigger,
    {
      id: 'each',
      group: {},
      forEach: { items: "{{ $('trigger').data_content.items }}", maxParallel: 10 },
    },
    send('ask', { callback: "{{ $url('approve') }}", item: '{{ $item }}' }, { within: 'each' }),
    wait('approve', { within: 'each' }),
  ];
  const run = await project.send(await project.deploy(nodes), { items: ['a', 'b', 'c'] });
  await project.until(run, isParked);
  expect(new Set(bodies.map((body) => (JSON.parse(body) as { callback: string }).callback)).size).toBe(3);
  for (const [index, text] of ['A', 'B', 'C'].entries())
    expect(await signal(run, `each.${index}.0.1/approve`, text)).toEqual({ outcome: 'stored' });
  const ended = await project.ended(run);
  expect(nodeOf(ended, 'each')?.output?.data_content).toEqual(['A', 'B', 'C']);
});

test('the body of a call is stored once, and a repetition for an ended item is answered like the first one', async () => {
  const nodes = [
    trigger,
    { id: 'each', group: {}, forEach: { items: "{{ $('trigger').data_content.items }}" } },
    wait('approve', { within: 'each' }),
  ];
  const run = await project.send(await project.deploy(nodes), { items: ['a', 'b'] });
  await project.until(run, isParked);
  const { run: runKey, signals, items } = keysOf(project.uid);
  const bytes = async () => Number(await conn.command('hget', runKey(run), 'bytes'));
  const before = await bytes();
  await signal(run, 'each.0.0.1/approve', { text: 'x'.repeat(60_000) });
  const isAwaited = () => conn.command('hexists', items(run), 'each.1.0.1/approve');
  await expect.poll(isAwaited, { timeout: 20_000 }).toBe(1);
  expect(await conn.command('hget', signals(run), 'each.0.0.1/approve')).toBe('{}');
  expect((await bytes()) - before).toBeLessThan(70_000);
  expect(await signal(run, 'each.0.0.1/approve', 'other')).toEqual({ outcome: 'repeated' });
  await signal(run, 'each.1.0.1/approve', 'B');
  const ended = await project.ended(run);
  expect(nodeOf(ended, 'each')?.output?.data_content).toEqual([{ text: 'x'.repeat(60_000) }, 'B']);
});

test('a runner that dies while a callback comes loses nothing', async () => {
  const revision = await project.deploy([trigger, wait('approve')]);
  const run = await project.send(revision, {});
  await project.until(run, isParked);
  await runner.stop(0);
  await signal(run, 'approve', 'while none ran');
  const state = await readRun(conn, project.uid, run);
  expect(state).toMatchObject({ signaled: '1 approve' });
  runner = startTestRunner(conn, project.uid, { runner: 'runner-2' });
  expect(nodeOf(await project.ended(run), 'approve')?.output?.data_content).toBe('while none ran');
});

test('a child run that gets the URL sends it out, and readers of it see a placeholder', async () => {
  const pass = shape('pass', 'nodes.trigger.data_content.url');
  const told = send('tell', { call: "{{ $('pass').data_content }}" });
  const callee = await project.deploy([{ id: 'trigger', manual: {} }, pass, told]);
  const call = { id: 'call', workflow: { name: callee, input: { url: "{{ $url('approve') }}" } } };
  const run = await project.send(await project.deploy([trigger, call, wait('approve')]), {});
  const parent = await project.until(run, (state) => nodeOf(state, 'approve')?.phase === 'Waiting');
  expect(bodies).toEqual([expect.stringContaining('https://hooks.example.com/callback/wlc.')]);
  const child = await project.ended(nodeOf(parent, 'call')?.run ?? '');
  const shown = redactRun(child, { trigger: { id: 'trigger' } });
  for (const seen of [
    parent,
    shown,
    toRecord(shown),
    await readEvents(conn, project.uid, child.run, { limit: 100 }),
  ])
    expect(JSON.stringify(seen)).not.toContain('wlc.');
  expect(JSON.stringify(shown)).toContain(CALLBACK_PLACEHOLDER);
  await signal(run, 'approve', 1);
  expect((await project.ended(run)).phase).toBe('Succeeded');
});
