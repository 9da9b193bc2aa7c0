import { afterAll, beforeEach, expect, test } from 'vitest';
import { revisionOf } from '../../../api/revision.ts';
import { recordedNode } from '../../../operator/run/restorePlan.ts';
import { restoreRun } from '../../../runs/restore.ts';
import { readEvents } from '../../../runs/events.ts';
import { redactEvent, redactRun, type DataPolicy } from '../../../runs/record/redact.ts';
import { transcriptStatus } from '../../../runs/transcript.ts';
import { CALLBACK_PLACEHOLDER } from '../../../api/callback.ts';
import { putCallbackSettings } from '../../../store/callbacks.ts';
import { keysOf } from '../../../store/keys.ts';
import type { RunEvent } from '../../../runs/types/event.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { listen } from '../../support/network/listen.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness({ slowDelayMs: 300 });
const { redis, conn, project, model, mailbox, credentials, withSuccessor } = harness;

type Call = { path: string; key: string | undefined };
/**
 * The calls of the API that agents use. `/hang` never answers while `isHanging`, `/slow` when it is told to,
 * `/breaks` makes the next request to the model fail, and `/limits` makes it answer 429 from then on.
 */
const calls: Call[] = [];
let isHanging = true;
let slow = Promise.withResolvers<void>();
let hungUp = Promise.withResolvers<void>();
const api = await listen((request, response) => {
  calls.push({ path: request.url ?? '', key: request.headers['idempotency-key'] as string | undefined });
  if (request.url?.startsWith('/hang') && isHanging)
    return void response.once('close', () => hungUp.resolve());
  if (request.url === '/breaks') model.setFault('error-500', 1);
  if (request.url === '/limits') model.setFault('rate-limit');
  if (request.url === '/slow') return void slow.promise.then(() => response.end('{}'));
  if (request.url?.startsWith('/huge')) return void response.end('x'.repeat(8 * 1024 * 1024));
  if (request.url?.startsWith('/large')) return void response.end('x'.repeat(200_000));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ path: request.url }));
});

beforeEach(() => {
  harness.reset();
  calls.length = 0;
  isHanging = true;
  slow = Promise.withResolvers();
  hungUp = Promise.withResolvers();
});
afterAll(async () => {
  await api.close();
  await harness.close();
});

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const get = (name: string) => ({
  name,
  skill: 'http_request',
  parameters: { url: `${api.url}/${name}`, method: 'POST', body: {} },
});
const mail = (to: string) => ({
  skill: 'send_email',
  credential: 'smtp',
  parameters: { to, subject: 'Refund' },
});
const agent = (prompt: string, tools: object[], extra: object = {}, options: object = {}) => ({
  id: 'a',
  agent: { credential: 'llm', model: 'demo', prompt, tools, ...extra },
  ...options,
});

const nodeOf = (state: RunState, id = 'a'): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const spawned = (runner: string) =>
  spawnRunner({ url: redis.url, project: project.uid, runner, credentials });
const storedCalls = async (run: string): Promise<string[]> =>
  ((await conn.command('hkeys', keysOf(project.uid).calls(run))) as string[]).toSorted();

async function eventsOf(run: string): Promise<RunEvent[]> {
  const events = await readEvents(conn, project.uid, run, { limit: 1_000 });
  if (!Array.isArray(events)) throw new Error('the run store did not answer');
  return events;
}

/** The transcript that somebody sees who follows the live events. */
function seenOf(events: readonly RunEvent[]): (RunEvent & { type: 'transcript' })['entry'][] {
  let seen: (RunEvent & { type: 'transcript' })['entry'][] = [];
  for (const event of events) {
    if (event.type !== 'transcript') continue;
    if (event.reset) seen = [];
    seen[event.position] = event.entry;
  }
  return seen;
}

test('live events tell each answer and each tool call, and come to the transcript of the record', async () => {
  const prompt = 'call orders {"query":{"id":7}} & hang {}\ncall nothing {}';
  const revision = await project.deploy([trigger, agent(prompt, [get('orders'), get('hang')])]);
  const child = await spawned('live-1');
  const run = await project.send(revision, {});
  const isCalling = (state: RunState): boolean => calls.length === 2 && nodeOf(state)?.agent?.toolCalls === 2;
  const running = await project.until(run, isCalling);
  expect(nodeOf(running)).toMatchObject({
    phase: 'Running',
    agent: { answers: 1, toolCalls: 2 },
    usage: { inputTokens: expect.any(Number) as number },
  });
  const hanging = await pollUntil(
    'the tool call in the live events',
    async () => seenOf(await eventsOf(run)).find(({ tool, startTime }) => tool === 'hang' && startTime),
    { timeoutMs: 20_000, everyMs: 5 },
  );
  expect(hanging).toMatchObject({ arguments: '{}', text: '' });
  expect(hanging).not.toHaveProperty('completionTime');
  await killRunner(child);
  isHanging = false;
  const state = await withSuccessor('live-2', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  const { transcript, agent: progress } = nodeOf(state) ?? {};
  const events = await eventsOf(run);
  expect(seenOf(events)).toEqual(transcript && transcriptStatus(transcript).entries);
  expect(progress).toEqual({ answers: 3, toolCalls: 3 });
  const wrong = seenOf(events).find(({ tool }) => tool === 'nothing');
  expect(wrong).toMatchObject({ error: true, text: expect.stringContaining('no tool') as string });
  const text = events.flatMap((event) => (event.type === 'text' ? [event] : []));
  expect(text.map((each) => each.text).join('')).toBe(nodeOf(state)?.output?.text_content);
  expect(new Set(text.map(({ position }) => position))).toEqual(new Set([6]));
});

test('a result of 8 MB does not enter live events, and arguments are cut', async () => {
  const given = JSON.stringify({ query: { text: 'y'.repeat(20_000) } });
  const revision = await project.deploy([trigger, agent(`call huge ${given}`, [get('huge')])]);
  const run = await project.send(revision, {});
  const state = await withSuccessor('huge', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  const events = await eventsOf(run);
  const call = seenOf(events).find(({ tool }) => tool === 'huge');
  expect(call?.arguments).toHaveLength(4_096 + '… [cut]'.length);
  expect(call?.text.length).toBeLessThanOrEqual(4_096 + '… [cut]'.length);
  const entries = events.filter(({ type }) => type === 'transcript');
  expect(entries.every((event) => JSON.stringify(event).length < 16_384)).toBe(true);
});

test.each<[string, DataPolicy]>([
  ['recordData: Errors', { trigger, recordData: 'Errors' }],
  ['sensitive', { trigger, sensitive: ['a'] }],
])('with %s live events and the run withhold what an agent says', async (_, policy) => {
  const revision = await project.deploy([
    trigger,
    agent('call orders {"query":{"pin":4711}}', [get('orders')]),
  ]);
  const run = await project.send(revision, {});
  const state = await withSuccessor('withheld', () => project.ended(run));
  expect(JSON.stringify(await eventsOf(run))).toContain('4711');
  const shown = (await eventsOf(run)).flatMap((event) => redactEvent(event, policy) ?? []);
  expect(shown.map(({ type }) => type)).toEqual(expect.arrayContaining(['run', 'node']));
  expect(JSON.stringify(shown)).not.toContain('4711');
  const view = redactRun(state, policy);
  expect(nodeOf(view)).toMatchObject({ agent: { answers: 2, toolCalls: 1 } });
  expect(JSON.stringify(nodeOf(view))).not.toContain('4711');
});

test('a prompt with the URL of a callback: live events and the transcript have a placeholder', async () => {
  const key = { id: 'k1', key: Buffer.alloc(32, 7) };
  await putCallbackSettings(conn, project.uid, { url: 'https://hooks.example.com', key, keys: [key] });
  const prompt = "Send {{ $url('pause') }}\ncall orders {}";
  const pause = { id: 'pause', wait: { callback: {} } };
  const revision = await project.deploy([trigger, agent(prompt, [get('orders')]), pause]);
  const run = await project.send(revision, {});
  const state = await withSuccessor('url', () => project.until(run, ({ phase }) => phase === 'Waiting'));
  expect(JSON.stringify(model.requests)).toContain('/callback/wlc');
  const seen = JSON.stringify([nodeOf(state)?.transcript, await eventsOf(run)]);
  expect(seen).not.toContain('/callback/wlc');
  expect(seen.split(CALLBACK_PLACEHOLDER).length).toBeGreaterThan(2);
});

test('an agent calls tools until it answers: output, usage and transcript have all of it', async () => {
  const prompt = 'call orders {"query":{"id":7}} & status {}\ncall send_email {"body":"hello"}';
  const revision = await project.deploy([
    trigger,
    agent(prompt, [get('orders'), get('status'), mail('ada@example.com')]),
  ]);
  const run = await project.send(revision, {});
  const state = await withSuccessor('one', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  const node = nodeOf(state);
  expect(node?.output?.data_content).toMatchObject({
    finish_reason: 'stop',
    tool_calls: [
      { name: 'orders', arguments: '{"query":{"id":7}}', error: false },
      { name: 'status', error: false },
      { name: 'send_email', error: false },
    ],
  });
  expect(calls.map(({ path }) => path).toSorted()).toEqual(['/orders?id=7', '/status']);
  expect(mailbox.messages).toHaveLength(1);
  expect(model.requests).toHaveLength(3);
  expect(node?.transcript?.entries.map(({ role, tool }) => tool ?? role)).toEqual([
    'User',
    'Assistant',
    'orders',
    'status',
    'Assistant',
    'send_email',
    'Assistant',
  ]);
  expect(node?.usage?.inputTokens).toBeGreaterThan(0);
  expect(await storedCalls(run)).toEqual([]);
});

test('each call has an effect key of its own, made of ordinals', async () => {
  const revision = await project.deploy([trigger, agent('call orders {} & orders {}', [get('orders')])]);
  const run = await project.send(revision, {});
  await withSuccessor('keys', () => project.ended(run));
  const step = `${project.uid}/${run}/a/1`;
  expect(model.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`${step}/m1`, `${step}/m2`]);
  expect(new Set(calls.map(({ key }) => key))).toEqual(new Set([`${step}/m1.0`, `${step}/m1.1`]));
});

test('a runner killed while the model answers: only that request is repeated', async () => {
  const revision = await project.deploy([
    trigger,
    agent('call orders {}', [get('orders')], { model: 'demo-slow' }),
  ]);
  const child = await spawned('model-1');
  const run = await project.send(revision, {});
  await pollUntil('the second request', () => model.requests.length === 2, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  const state = await withSuccessor('model-2', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(model.requests.map(({ idempotencyKey }) => idempotencyKey?.slice(-2))).toEqual(['m1', 'm2', 'm2']);
  expect(calls).toHaveLength(1);
  expect(nodeOf(state)).toMatchObject({ attempts: 1 });
});

test('a runner killed while a tool is called: that call alone is repeated, with its key', async () => {
  const revision = await project.deploy([
    trigger,
    agent('call hang {} & orders {}', [get('hang'), get('orders')]),
  ]);
  const child = await spawned('tool-1');
  const run = await project.send(revision, {});
  await pollUntil('the result of the other tool', async () => (await storedCalls(run)).includes('a/m1.1'), {
    timeoutMs: 20_000,
    everyMs: 5,
  });
  await killRunner(child);
  isHanging = false;
  const state = await withSuccessor('tool-2', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(model.requests).toHaveLength(2);
  expect(calls.map(({ path }) => path)).toEqual(expect.arrayContaining(['/hang', '/hang', '/orders']));
  expect(calls).toHaveLength(3);
  const hung = calls.filter(({ path }) => path === '/hang').map(({ key }) => key);
  expect(new Set(hung).size).toBe(1);
});

test('a runner killed during a call that must not be repeated: the agent is Unknown after its other calls', async () => {
  const prompt = 'call send_email {"body":"x"} & hang {}';
  const revision = await project.deploy([
    trigger,
    agent(prompt, [mail('hang-after-data@example.com'), get('hang')]),
  ]);
  const child = await spawned('once-1');
  const run = await project.send(revision, {});
  await pollUntil('the mail', () => mailbox.messages.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  isHanging = false;
  const state = await withSuccessor('once-2', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(nodeOf(state)).toMatchObject({ phase: 'Unknown', reason: 'EffectUnknown' });
  expect(mailbox.messages).toHaveLength(1);
  expect(model.requests).toHaveLength(1);
  expect(nodeOf(state)?.transcript?.entries.at(-1)).toMatchObject({
    tool: 'hang',
    text: expect.stringContaining('/hang') as string,
  });
});

test('a call that must not be repeated and had not started is called after a takeover', async () => {
  const prompt = 'call hang {} & send_email {"body":"x"}';
  const revision = await project.deploy([
    trigger,
    agent(prompt, [get('hang'), mail('ada@example.com')], { maxParallel: 1 }),
  ]);
  const child = await spawned('late-1');
  const run = await project.send(revision, {});
  await pollUntil('the tool', () => calls.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  isHanging = false;
  const state = await withSuccessor('late-2', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(mailbox.messages).toHaveLength(1);
});

test('a retry of the step continues the transcript: ended tools are not called again', async () => {
  const retry = { retry: { limit: 1, backoff: { initial: '0s' } } };
  const node = agent('call orders {}\ncall breaks {}', [get('orders'), get('breaks')], {}, retry);
  const revision = await project.deploy([trigger, node]);
  const run = await project.send(revision, {});
  const state = await withSuccessor('retry', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(nodeOf(state)).toMatchObject({ attempts: 2 });
  expect(calls.map(({ path }) => path)).toEqual(['/orders', '/breaks']);
  const step = `${project.uid}/${run}/a`;
  expect(model.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
    ['1/m1', '1/m2', '1/m3', '2/m3'].map((key) => `${step}/${key}`),
  );
});

test('a model that answers 429 for longer than the retries last fails the step, and no tool is called again', async () => {
  const retry = { retry: { limit: 2, backoff: { initial: '0s' } } };
  const revision = await project.deploy([trigger, agent('call limits {}', [get('limits')], {}, retry)]);
  const run = await project.send(revision, {});
  const state = await withSuccessor('limits', () => project.ended(run));
  expect(nodeOf(state)).toMatchObject({ phase: 'Failed', reason: 'RateLimited', attempts: 3 });
  expect(calls.map(({ path }) => path)).toEqual(['/limits']);
  // As long as Retry-After says.
  const [, second = 0, third = 0] = model.requests.slice(1).map(({ at }) => at);
  expect(third - second).toBeGreaterThanOrEqual(990);
  expect(model.requests).toHaveLength(4);
});

test('a runner that shuts down lets a call finish that must not be repeated, and the next one continues', async () => {
  const once = { ...get('slow'), effect: 'AtMostOnce' };
  const revision = await project.deploy([trigger, agent('call slow {} & hang {}', [once, get('hang')])]);
  const stopping = startTestRunner(conn, project.uid, { runner: 'stops', credentials });
  const run = await project.send(revision, {});
  await pollUntil('both calls', () => calls.length === 2, { timeoutMs: 20_000, everyMs: 5 });
  const stopped = stopping.stop(0);
  await hungUp.promise;
  slow.resolve();
  await stopped;
  expect(await storedCalls(run)).toEqual(['a/m1', 'a/m1.0']);
  isHanging = false;
  const state = await withSuccessor('follows', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(calls.map(({ path }) => path)).toEqual(['/slow', '/hang', '/hang']);
});

test('agents in a loop keep their calls apart, and drop them with their iteration', async () => {
  const each = { forEach: { items: "{{ $('trigger').data_content.items }}", maxParallel: 3 } };
  const revision = await project.deploy([
    trigger,
    agent('call orders {"query":{"n":"x"}}', [get('orders')], {}, each),
  ]);
  const run = await project.send(revision, { items: [1, 2, 3, 4, 5, 6] });
  const state = await withSuccessor('loop', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  expect(new Set(calls.map(({ key }) => key)).size).toBe(6);
  expect(model.requests).toHaveLength(12);
  expect(await storedCalls(run)).toEqual([]);
});

test('a result is stored and shown up to 32 KiB', async () => {
  const revision = await project.deploy([trigger, agent('call large {}', [get('large')])]);
  const run = await project.send(revision, {});
  const state = await withSuccessor('large', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  const shown = model.requests[1]?.body.messages.at(-1)?.content ?? '';
  expect(shown).toContain('[cut: the result has');
  expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(32 * 1024);
});

test('an agent fails before its tools where the run has no room for their results', async () => {
  const copies = Array.from({ length: 15 }, (_, index) => ({
    id: `copy_${index}`,
    skill: { name: 'set', parameters: { values: 'nodes.trigger.data_content' } },
  }));
  const prompt = `call ${Array.from({ length: 32 }, () => 'orders {}').join(' & ')}`;
  const revision = await project.deploy([trigger, ...copies, agent(prompt, [get('orders')])]);
  const run = await project.send(revision, { text: 'x'.repeat(490_000) });
  const state = await withSuccessor('full', () => project.ended(run));
  expect(nodeOf(state)).toMatchObject({
    phase: 'Failed',
    reason: 'TranscriptTooLarge',
    message: expect.stringContaining('could exceed 8192 KiB') as string,
  });
  expect(calls).toEqual([]);
});

/** A run whose record says that the agent was in progress when the run store lost its data. */
async function restored(name: string, node: { id: string }): Promise<string> {
  const own = await project.deploy([trigger, node]);
  const revision = revisionOf({ active: true, nodes: [trigger, node] });
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
    nodes: [recordedNode({ id: 'a', phase: 'Running', attempts: 2 }, revision)],
  });
  expect(outcome).toEqual({ outcome: 'restored' });
  return name;
}

test('after a loss of the run store an agent begins again, with the same keys', async () => {
  const run = await restored('lost-1', agent('call orders {}', [get('orders')]));
  const state = await withSuccessor('lost', () => project.ended(run));
  expect(state.phase).toBe('Succeeded');
  const step = `${project.uid}/${run}/a/2`;
  expect(model.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`${step}/m1`, `${step}/m2`]);
  expect(calls.map(({ key }) => key)).toEqual([`${step}/m1.0`]);
});

test('after a loss of the run store an agent with a tool that must not be repeated is Unknown', async () => {
  const run = await restored('lost-2', agent('call send_email {"body":"x"}', [mail('ada@example.com')]));
  const state = await withSuccessor('lost', () => project.ended(run));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(nodeOf(state)).toMatchObject({ phase: 'Unknown' });
  expect(model.requests).toEqual([]);
  expect(mailbox.messages).toEqual([]);
});
