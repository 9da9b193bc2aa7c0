import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { cancelRun } from '../../../runs/cancel.ts';
import { toRecord } from '../../../runs/record/record.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { createSandbox } from '../../../nodes/code/sandbox.ts';
import type { Runner } from '../../../runner/runner.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness();
const { conn, project } = harness;
const sandbox = createSandbox();
let runner: Runner;

beforeEach(() => {
  runner = startTestRunner(conn, project.uid, { sandbox });
});
afterEach(() => runner.stop(0));
afterAll(async () => {
  await sandbox.close();
  await harness.close();
});

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const code = (source: string, more: object = {}, options: object = {}) => ({
  id: 'code',
  code: { source, ...options },
  ...more,
});
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const run = async (nodes: object[], body: unknown = {}, edges?: object[]) =>
  project.ended(await project.send(await project.deploy([webhook, ...nodes], edges), body));

test('code computes from the event, and the steps after it read what it returned', async () => {
  const source = `
    const { items } = nodes.trigger.data_content;
    console.log(items.length, 'items');
    return { total: items.reduce((sum, { price, quantity }) => sum + price * quantity, 0) };`;
  const reply = { id: 'reply', response: { body: "{{ $('code').data_content }}" } };
  const items = [
    { price: 2.5, quantity: 2 },
    { price: 1, quantity: 3 },
  ];
  const state = await run([code(source), reply], { items });
  expect(state).toMatchObject({ phase: 'Succeeded', reply: { body: '{"total":8}' } });
  expect(nodeOf(state, 'code')).toMatchObject({
    phase: 'Succeeded',
    attempts: 1,
    output: { text_content: '', data_content: { total: 8 } },
    log: '2 items\n',
  });
  const recorded = toRecord(state).status?.nodes?.find(({ id }) => id === 'code');
  expect(recorded).toMatchObject({ log: '2 items\n', output: { data_content: { total: 8 } } });
});

test('a returned string is also the text of the output', async () => {
  const state = await run([code('return `Hello ${nodes.trigger.data_content.name}`;')], { name: 'Ada' });
  const text = 'Hello Ada';
  expect(nodeOf(state, 'code')?.output).toEqual({ text_content: text, data_content: text });
});

test('code sees its run, and the acceptance of the event as the time', async () => {
  const state = await run([code('return { run, now: new Date(), random: Math.random() };')]);
  const accepted = new Date(state.acceptedAt).toISOString();
  const { run: name, workflow } = state;
  const local = { localTime: `${accepted.slice(0, 19)}Z`, timeZone: 'UTC' };
  expect(nodeOf(state, 'code')?.output?.data_content).toEqual({
    run: { id: name, workflow, project: 'shop', accepted, ...local, test: false },
    now: accepted,
    random: expect.any(Number),
  });
});

test('each run has random numbers of its own', async () => {
  const revision = await project.deploy([webhook, code('return Math.random();')]);
  const numbers = [];
  for (const body of [1, 2]) {
    const state = await project.ended(await project.send(revision, body));
    numbers.push(nodeOf(state, 'code')?.output?.data_content);
  }
  expect(new Set(numbers).size).toBe(2);
});

test('code that throws fails its node with line and column, and keeps its log', async () => {
  const source = "console.log('before');\nthrow new Error('no stock');";
  const after = { id: 'reply', response: { body: "{{ $('code').error.message }}" } };
  const edges = [
    { from: 'trigger', to: 'code' },
    { from: 'code', to: 'reply', after: 'Failure' },
  ];
  const state = await run([code(source), after], {}, edges);
  const message = expect.stringMatching(/^line 2, column \d+: Error: no stock$/);
  expect(nodeOf(state, 'code')).toMatchObject({
    phase: 'Failed',
    reason: 'CodeError',
    message,
    log: 'before\n',
  });
  expect(state.reply?.body).toMatch(/^line 2, column \d+: Error: no stock$/);
});

test.each<[string, string, object, string]>([
  ['an endless loop', 'for (;;);', { timeout: '200ms' }, 'CodeTimeout'],
  ['too much memory', 'return new ArrayBuffer(1e8).byteLength;', { memoryMiB: 8 }, 'CodeMemoryExceeded'],
  ['too large an output', 'return "x".repeat(600 * 1024);', {}, 'OutputTooLarge'],
  ['a key that reaches a prototype', 'return JSON.parse(\'{"__proto__":1}\');', {}, 'InvalidOutput'],
  [
    'an input beyond an eighth of its memory',
    'return nodes.trigger.data_content.length;',
    { memoryMiB: 8 },
    'CodeInputTooLarge',
  ],
])('code with %s fails its run', async (what, source, options, reason) => {
  const body = what.startsWith('an input') ? 'x'.repeat(1_100_000) : {};
  const revision = await project.deploy([webhook, code(source, {}, options)]);
  const large = { input: JSON.stringify({ text_content: '', data_content: body }) };
  const state = await project.ended(await project.send(revision, {}, large));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'NodeFailed' });
  expect(nodeOf(state, 'code')).toMatchObject({ phase: 'Failed', reason });
});

test('a cancelled run stops its code', async () => {
  const name = await project.send(
    await project.deploy([webhook, code('for (;;);', {}, { timeout: '60s' })]),
    {},
  );
  await project.until(name, ({ phase }) => phase === 'Running');
  await cancelRun(conn, project.uid, name);
  expect(await project.ended(name)).toMatchObject({ phase: 'Cancelled' });
});

test('a stopped runner hands back a run during its code, and the next runner executes the code again', async () => {
  const endless = code('for (;;);', {}, { timeout: '2s' });
  const name = await project.send(await project.deploy([webhook, endless]), {});
  await project.until(name, ({ phase }) => phase === 'Running');
  await runner.stop(0);
  runner = startTestRunner(conn, project.uid, { sandbox, runner: 'runner-2' });
  const state = await project.ended(name);
  expect(state.crashes).toBe(0);
  expect(nodeOf(state, 'code')).toMatchObject({ reason: 'CodeTimeout', attempts: 1 });
});

test('a runner without a sandbox fails code', async () => {
  await runner.stop(0);
  runner = startTestRunner(conn, project.uid, { runner: 'runner-without' });
  const state = await run([code('return 1;')]);
  expect(nodeOf(state, 'code')).toMatchObject({ phase: 'Failed', reason: 'CodeDisabled' });
});
