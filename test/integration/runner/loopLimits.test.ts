/** Limits of loops and groups, and how loops share a runner. */
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createSandbox } from '../../../nodes/code/sandbox.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Runner } from '../../../runner/runner.ts';
import { listen } from '../../support/network/listen.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const ATTEMPTS = 4;
const harness = await startRunnerHarness();
const { conn, project, mailbox, credentials } = harness;
const sandbox = createSandbox();
const shop = { requests: 0, inFlight: 0, most: 0, delayMs: 20 };
const server = await listen(async (_request, response) => {
  shop.requests += 1;
  shop.inFlight += 1;
  shop.most = Math.max(shop.most, shop.inFlight);
  await after(shop.delayMs);
  shop.inFlight -= 1;
  response.end('ok');
});
let runner: Runner;

beforeEach(() => {
  harness.reset();
  Object.assign(shop, { requests: 0, inFlight: 0, most: 0, delayMs: 20 });
  runner = startTestRunner(conn, project.uid, { credentials, sandbox, attempts: ATTEMPTS });
});
afterEach(() => runner.stop(0));
afterAll(async () => {
  await sandbox.close();
  await server.close();
  await harness.close();
});

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const set = (id: string, values: unknown, extra: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values } },
  ...extra,
});
const call = (id: string, extra: object = {}) => ({
  id,
  skill: { name: 'http_request', parameters: { url: server.url } },
  ...extra,
});
const mail = (id: string, extra: object = {}) => ({
  id,
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: 'ada@example.com', subject: 'Order', body: 'Thanks' },
  },
  ...extra,
});
const overItems = (extra: object = {}) => ({
  forEach: { items: "{{ $('trigger').data_content.items }}", ...extra },
});
const numbers = (length: number) => Array.from({ length }, (_, index) => index);
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const dataOf = (state: RunState, id: string) => nodeOf(state, id)?.output?.data_content;

async function execute(nodes: object[], body: unknown = {}): Promise<RunState> {
  return project.ended(await project.send(await project.deploy([webhook, ...nodes]), body));
}

test('the attempts in flight of a loop stay within the limit of the runner', async () => {
  const state = await execute([call('a', overItems({ maxParallel: 50 }))], { items: numbers(40) });
  expect(state.phase).toBe('Succeeded');
  expect(shop.requests).toBe(40);
  expect(shop.most).toBe(ATTEMPTS + 1);
});

test('while a loop uses up the limit, the first step of another run starts at once', async () => {
  shop.delayMs = 60_000;
  const busy = await project.send(
    await project.deploy([webhook, call('a', overItems({ maxParallel: 50 }))]),
    { items: numbers(40) },
  );
  await project.until(busy, () => shop.inFlight === ATTEMPTS + 1);
  expect(await execute([mail('m')])).toMatchObject({ phase: 'Succeeded' });
  await cancelRun(conn, project.uid, busy);
  expect(await project.ended(busy)).toMatchObject({ phase: 'Cancelled' });
  expect(shop.requests).toBe(ATTEMPTS + 1);
});

test('results beyond the limit do not stop a loop half-way, and the message names collect: None', async () => {
  const values = "'x'.replace('x', '0123456789012345678901234567890123456789')";
  const many = set('a', { text: values, more: values, item: 'item' }, overItems());
  const state = await execute([many], { items: numbers(4_000) });
  expect(state).toMatchObject({ phase: 'Failed', message: expect.stringContaining('OutputTooLarge') });
  expect(nodeOf(state, 'a')).toMatchObject({
    reason: 'OutputTooLarge',
    message: expect.stringMatching(/all 4000 items have ended.*set forEach.collect to None/),
    items: { total: 4_000, succeeded: 4_000, failed: 0, running: 0 },
  });
});

test('items count over all outer iterations', async () => {
  const nodes = [
    { id: 'outer', group: {}, ...overItems() },
    set('inner', 'item', { within: 'outer', forEach: { items: '{{ $item }}', collect: 'None' } }),
  ];
  const state = await execute(nodes, { items: [numbers(6_000), numbers(6_000)] });
  expect(state).toMatchObject({ phase: 'Failed', message: expect.stringContaining('12000 items') });
  expect(nodeOf(state, 'outer')?.items).toMatchObject({ succeeded: 1, failed: 1 });
});

test('the timeout of a group is wall clock, waits included', async () => {
  const nodes = [
    { id: 'g', group: {}, timeout: '1300ms' },
    { id: 'pause', wait: { duration: '1h' }, within: 'g' },
    mail('m', { within: 'g' }),
  ];
  const state = await execute(nodes);
  expect(state).toMatchObject({
    phase: 'Failed',
    message: 'node g: Timeout: the group took longer than its timeout of 1.3 s',
  });
  expect(mailbox.messages).toHaveLength(0);
});

test('the timeout of a group stops its attempts', async () => {
  shop.delayMs = 60_000;
  const nodes = [{ id: 'g', group: {}, timeout: '200ms' }, call('a', { within: 'g' })];
  const state = await execute(nodes);
  expect(state).toMatchObject({ phase: 'Failed', message: expect.stringContaining('timeout of 0.2 s') });
});

test('cancelling a run ends the items that wait, and starts no further one', async () => {
  const nodes = [
    { id: 'each', group: {}, ...overItems({ maxParallel: 2 }) },
    { id: 'pause', wait: { duration: '1h' }, within: 'each' },
    mail('m', { within: 'each' }),
  ];
  const run = await project.send(await project.deploy([webhook, ...nodes]), { items: numbers(5) });
  const parked = await project.until(run, ({ phase }) => phase === 'Waiting');
  expect(nodeOf(parked, 'each')?.items).toMatchObject({ total: 5, running: 2, succeeded: 0 });
  await cancelRun(conn, project.uid, run);
  const state = await project.ended(run);
  expect(state.phase).toBe('Cancelled');
  expect(nodeOf(state, 'each')?.phase).toBe('Cancelled');
  expect(mailbox.messages).toHaveLength(0);
});

test('code reads the item, the item of an outer group, and the execution before', async () => {
  const nodes = [
    { id: 'outer', group: {}, ...overItems() },
    {
      id: 'inner',
      code: { source: 'return [nodes.outer.item.name, item, index].join("-")' },
      within: 'outer',
      forEach: { items: '{{ $item.lines }}' },
    },
    {
      id: 'count',
      code: { source: 'return (previous.data_content ?? 0) + 1' },
      repeat: { until: 'nodes.count.data_content >= 3.0', limit: 5 },
    },
  ];
  const state = await execute(nodes, { items: [{ name: 'a', lines: [7, 8] }] });
  expect(state).toMatchObject({ phase: 'Succeeded' });
  expect(dataOf(state, 'outer')).toEqual([['a-7-0', 'a-8-1']]);
  expect(dataOf(state, 'count')).toBe(3);
});

test('a loop that only computes ends when the timeout of the run has passed', async () => {
  const again = { repeat: { until: 'false', limit: 100, delay: '500ms' } };
  const revision = await project.deploy([webhook, set('count', '1', again)], undefined, { timeout: '700ms' });
  const state = await project.ended(await project.send(revision, {}));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'RunTimeout' });
});
