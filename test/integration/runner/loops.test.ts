import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { readEvents } from '../../../runs/events.ts';
import { restoreRun } from '../../../runs/restore.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Runner } from '../../../runner/runner.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { keysOf } from '../../../store/keys.ts';

const harness = await startRunnerHarness();
const { conn, project, mailbox, credentials } = harness;
let runner: Runner;

beforeEach(() => {
  harness.reset();
  runner = startTestRunner(conn, project.uid, { credentials });
});
afterEach(() => runner.stop(0));
afterAll(harness.close);

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const shape = (id: string, values: unknown, extra: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values } },
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
const overItems = (extra: object = {}) => ({
  forEach: { items: "{{ $('trigger').data_content.items }}", ...extra },
});
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const dataOf = (state: RunState, id: string) => nodeOf(state, id)?.output?.data_content;

async function execute(nodes: object[], body: unknown, edges?: object[]): Promise<RunState> {
  const revision = await project.deploy(nodes, edges);
  return project.ended(await project.send(revision, body));
}

test('a step with forEach runs once for each item, and its output lists the results in order', async () => {
  const nodes = [
    webhook,
    shape('double', 'item.n * 2.0', overItems()),
    shape('count', 'size(nodes.double.data_content)'),
  ];
  const state = await execute(nodes, { items: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'double')).toEqual([2, 4, 6]);
  expect(dataOf(state, 'count')).toBe(3);
  expect(nodeOf(state, 'double')?.items).toMatchObject({ total: 3, succeeded: 3, failed: 0, running: 0 });
});

test('an empty array runs nothing and gives an empty array', async () => {
  const state = await execute([webhook, shape('a', 'item', overItems())], { items: [] });
  expect(dataOf(state, 'a')).toEqual([]);
});

test('a group sends one mail for each item, each with an effect key of its own, and leaves nothing in the store', async () => {
  const nodes = [
    webhook,
    { id: 'each', group: {}, ...overItems({ maxParallel: 4 }) },
    shape('text', "'Hello ' + item.name", { within: 'each' }),
    mail('send', { to: '{{ $item.mail }}', body: "{{ $('text').text_content }}" }, { within: 'each' }),
  ];
  const items = Array.from({ length: 12 }, (_, index) => ({
    name: `n${index}`,
    mail: `n${index}@example.com`,
  }));
  const state = await execute(nodes, { items });
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(mailbox.messages).toHaveLength(12);
  const ids = mailbox.messages.map(({ messageId }) => messageId);
  expect(new Set(ids).size).toBe(12);
  expect(await conn.command('exists', keysOf(project.uid).items(state.run))).toBe(0);
});

test('with onError: Continue the result of a failed item is its error, and the others go on', async () => {
  const nodes = [webhook, shape('half', 'item.n / 2.0', { ...overItems(), onError: 'Continue' })];
  const state = await execute(nodes, { items: [{ n: 2 }, { n: 'x' }, { n: 4 }] });
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'half')).toEqual([
    1,
    { error: { reason: 'InvalidParameters', message: expect.any(String) } },
    2,
  ]);
  expect(nodeOf(state, 'half')?.items).toMatchObject({ succeeded: 2, failed: 1, failures: [{ index: 1 }] });
});

test('without onError: Continue the first failed item fails the node, and no further item starts', async () => {
  const nodes = [webhook, shape('half', 'item.n / 2.0', overItems())];
  const state = await execute(nodes, { items: [{ n: 2 }, { n: 'x' }, { n: 4 }] });
  expect(state).toMatchObject({
    phase: 'Failed',
    reason: 'NodeFailed',
    message: expect.stringContaining('item 1'),
  });
  expect(nodeOf(state, 'half')?.items).toMatchObject({ total: 3, succeeded: 1, failed: 1 });
});

test('items that are no array fail the node, with what was given', async () => {
  const state = await execute([webhook, shape('a', 'item', overItems())], { items: 'three' });
  expect(state).toMatchObject({
    phase: 'Failed',
    message: 'node a: InvalidParameters: forEach.items is a string, not an array',
  });
});

test('10,001 items are refused before any of them runs', async () => {
  const state = await execute([webhook, shape('a', '1', overItems())], {
    items: Array.from({ length: 10_001 }, () => 0),
  });
  expect(state).toMatchObject({ phase: 'Failed', message: expect.stringContaining('TooManyItems') });
});

test('batch gives each execution so many elements', async () => {
  const nodes = [webhook, shape('sizes', 'size(item)', overItems({ batch: 2 }))];
  const state = await execute(nodes, { items: [1, 2, 3, 4, 5] });
  expect(dataOf(state, 'sizes')).toEqual([2, 2, 1]);
});

test('collect: None drops the results', async () => {
  const state = await execute([webhook, shape('a', 'item', overItems({ collect: 'None' }))], {
    items: [1, 2],
  });
  expect(dataOf(state, 'a')).toBeNull();
});

test('groups nest, and a body names the item of an outer group', async () => {
  const nodes = [
    webhook,
    { id: 'orders', group: {}, forEach: { items: "{{ $('trigger').data_content.orders }}" } },
    { id: 'lines', group: {}, within: 'orders', forEach: { items: '{{ $item.lines }}' } },
    shape('line', "{'line': item, 'order': nodes.orders.item.name}", { within: 'lines' }),
  ];
  const orders = [
    { name: 'a', lines: [1, 2] },
    { name: 'b', lines: [3] },
  ];
  const state = await execute(nodes, { orders });
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'orders')).toEqual([
    [
      { line: 1, order: 'a' },
      { line: 2, order: 'a' },
    ],
    [{ line: 3, order: 'b' }],
  ]);
});

test('branches and conditions work inside a body', async () => {
  const nodes = [
    webhook,
    { id: 'each', group: {}, ...overItems() },
    shape('start', 'item', { within: 'each' }),
    shape('big', "'big'", { within: 'each' }),
    shape('small', "'small'", { within: 'each' }),
  ];
  const edges = [
    { from: 'trigger', to: 'each' },
    { from: 'start', to: 'big', when: 'nodes.start.data_content > 10.0' },
    { from: 'start', to: 'small', when: 'nodes.start.data_content <= 10.0' },
  ];
  const state = await execute(nodes, { items: [1, 20, 3] }, edges);
  expect(dataOf(state, 'each')).toEqual(['small', 'big', 'small']);
});

test('repeat executes a node until its condition holds, and $previous is the output before', async () => {
  const node = shape('count', 'previous.data_content + 1.0', {
    repeat: { until: 'nodes.count.data_content >= 4.0', limit: 10, initial: 0 },
  });
  const state = await execute([webhook, node], {});
  expect(dataOf(state, 'count')).toBe(4);
});

test('repeat fails when its limit is reached', async () => {
  const node = shape('a', '1', { repeat: { until: 'false', limit: 3 } });
  const state = await execute([webhook, node], {});
  expect(state).toMatchObject({ phase: 'Failed', message: expect.stringContaining('RepeatLimit') });
});

test('a group with onError: Continue catches the failure of its body', async () => {
  const nodes = [
    webhook,
    { id: 'try', group: {}, onError: 'Continue' },
    shape('bad', 'nodes.trigger.data_content.missing', { within: 'try' }),
    shape('after', 'nodes.try.error.reason'),
  ];
  const state = await execute(nodes, {});
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'after')).toBe('MissingValue');
});

test('a wait node parks the run, and its timeout does not continue meanwhile', async () => {
  const nodes = [webhook, { id: 'pause', wait: { duration: '1500ms' } }, shape('after', "'done'")];
  const revision = await project.deploy(nodes, undefined, { timeout: '1s' });
  const run = await project.send(revision, {});
  await project.until(run, ({ phase }) => phase === 'Waiting');
  const state = await project.ended(run);
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'after')).toBe('done');
});

test('a wait until a time in the past goes on at once, and one until tomorrow fails with a reason', async () => {
  const until = (time: string) => [webhook, { id: 'pause', wait: { until: time } }];
  expect(await execute(until('2020-01-01T00:00:00Z'), {})).toMatchObject({ phase: 'Succeeded' });
  expect(await execute(until('tomorrow'), {})).toMatchObject({
    phase: 'Failed',
    message: expect.stringContaining('RFC 3339'),
  });
});

test('1,000 items are stored in far fewer steps', async () => {
  const nodes = [webhook, shape('a', 'item', overItems())];
  const state = await execute(nodes, { items: Array.from({ length: 1_000 }, (_, index) => index) });
  expect(dataOf(state, 'a')).toHaveLength(1_000);
  expect(state.sequence).toBeLessThan(40);
});

test('live events say how far a loop is, at most once per 250 ms', async () => {
  const nodes = [webhook, shape('a', 'item', overItems({ delay: '100ms' }))];
  const { run } = await execute(nodes, { items: Array.from({ length: 9 }, (_, index) => index) });
  const events = await readEvents(conn, project.uid, run, { limit: 100 });
  if ('outcome' in events) throw new Error('the run store is away');
  const progress = events.filter((event) => event.type === 'items');
  expect(progress.length).toBeGreaterThan(1);
  expect(progress.length).toBeLessThan(5);
  expect(progress[0]).toMatchObject({
    node: 'a',
    items: { total: 9, failed: 0, succeeded: expect.any(Number) },
  });
  expect(events.filter((event) => event.type === 'node' && event.node === 'a')).toMatchObject([
    { phase: 'Running', items: { total: 9, succeeded: 0 } },
    { phase: 'Succeeded', items: { total: 9, succeeded: 9, running: 0 } },
  ]);
});

test('a loop of mails that was restored from its record sends nothing, and lists the items to check', async () => {
  const nodes = [
    webhook,
    { id: 'each', group: {}, ...overItems({ collect: 'None' }) },
    mail('send', {}, { within: 'each' }),
  ];
  const revision = await project.deploy(nodes);
  const items = { total: 5, succeeded: 2, failed: 0, running: 1, failures: [], ended: 'Aw==' };
  const restored = await restoreRun(conn, project.uid, {
    run: 'loop-restored',
    uid: 'uid-loop-restored',
    workflow: revision,
    workflowUid: revision,
    revision,
    trigger: 'webhook',
    test: false,
    input: '{"text_content":"","data_content":{"items":[1,2,3,4,5]}}',
    epoch: 1,
    sequence: 1,
    acceptedAt: 1_700_000_000_000,
    timeoutMs: 60_000,
    nodes: [
      { id: 'trigger', phase: 'Succeeded', attempts: 1, outputIsInput: true },
      { id: 'each', phase: 'Running', attempts: 1, items, mark: { attempt: 1, atMostOnce: false } },
    ],
  });
  expect(restored).toEqual({ outcome: 'restored' });
  const state = await project.ended('loop-restored');
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(nodeOf(state, 'each')).toMatchObject({
    phase: 'Unknown',
    message: expect.stringContaining('items 2 to 4'),
  });
  expect(mailbox.messages).toHaveLength(0);
});

/** The nodes of an example, with the servers and the account of this test instead of the demo's. */
async function nodesOf(example: string): Promise<object[]> {
  const folder = join(import.meta.dirname, '../../../examples', example);
  const text = await readFile(join(folder, 'workflow.yaml'), 'utf8');
  const url = `http://127.0.0.1:${mailbox.httpPort}`;
  const here = text
    .replaceAll('http://mail.windlass-demo.svc:8025', url)
    .replaceAll(`credential: ${example}-smtp`, 'credential: smtp');
  return (parse(here) as { spec: { nodes: object[] } }).spec.nodes;
}

test('examples/newsletter sends one mail per subscriber, and answers with the failures', async () => {
  const subscribers = ['ada', 'refuse', 'bob'].map((name) => ({ name, email: `${name}@example.com` }));
  const body = { subject: 'News', text: 'Lamps.', subscribers };
  const { phase, reply } = await execute(await nodesOf('newsletter'), body);
  expect(phase).toBe('Succeeded');
  expect(JSON.parse(reply?.body ?? '')).toEqual({ sent: 2, failed: [expect.any(String)] });
  expect(mailbox.messages.map(({ to }) => String(to)).toSorted()).toEqual([
    'ada@example.com',
    'bob@example.com',
  ]);
});

test('examples/poll-a-job asks until the job is done, and answers with its result', async () => {
  const { phase, reply } = await execute(await nodesOf('poll-a-job'), { report: 'May' });
  expect(phase).toBe('Succeeded');
  expect(JSON.parse(reply?.body ?? '')).toMatchObject({ state: 'done', result: { report: 'May' } });
});
