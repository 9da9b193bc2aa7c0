/** Budgets of agents in runners: before a request, after it, and when a runner dies in between. */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { priceTable } from '../../../api/price.ts';
import { readDayUsage } from '../../../runs/budget.ts';
import type { BudgetLimits } from '../../../runs/types/limits.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Runner } from '../../../runner/runner.ts';
import { freePort } from '../../support/process/freePort.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness({ slowDelayMs: 300 });
const { redis, conn, project, model, credentials, withSuccessor } = harness;

const line = { output: '10', source: 'https://models.example/prices', date: '2026-11-25' };
const prices = priceTable.parse({ currency: 'EUR', models: [{ ...line, model: 'demo', input: '1' }] });

let runner: Runner | undefined;
beforeEach(() => harness.reset());
afterEach(async () => {
  await runner?.stop(0);
  runner = undefined;
});
afterAll(() => harness.close());

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const agent = (extra: object = {}, options: object = {}) => ({
  id: 'a',
  agent: { credential: 'llm', model: 'demo', prompt: 'three words only', ...extra },
  ...options,
});

/** A model whose server is not there. */
const nowhere = `http://127.0.0.1:${await freePort()}/v1`;
const away = { spec: { openai: { baseURL: nowhere, apiKeyRef: { name: 's', key: 'apiKey' } } } };

const start = (): void => {
  runner = startTestRunner(conn, project.uid, { credentials: { ...credentials, away }, prices });
};
const nodeOf = ({ nodes }: RunState, id = 'a'): NodeState | undefined => nodes.find((node) => node.id === id);
const dayOf = (revision: string) => readDayUsage(conn, project.uid, revision);

async function run(nodes: object[], budget: BudgetLimits = {}, body: unknown = {}) {
  const revision = await project.deploy([trigger, ...nodes], undefined, {}, { budget });
  const name = await project.send(revision, body);
  return { revision, name };
}

async function runOnce(nodes: object[], budget: BudgetLimits = {}, body: unknown = {}): Promise<RunState> {
  if (!runner) start();
  return project.ended((await run(nodes, budget, body)).name);
}

test('a request is charged by what the provider counted, with its cost, to node, run and day', async () => {
  start();
  const { revision, name } = await run([agent()]);
  const state = await project.ended(name);
  const { usage } = nodeOf(state)!;
  const { inputTokens = 0, outputTokens = 0 } = usage!;
  expect(inputTokens).toBe(3);
  expect(outputTokens).toBeGreaterThan(0);
  const nano = inputTokens * 1_000 + outputTokens * 10_000;
  expect(usage).toMatchObject({ cost: `0.0000${nano / 1_000}`, currency: 'EUR' });
  const tokens = inputTokens + outputTokens;
  expect(state.usage).toEqual({ tokens, estimated: 0, cost: nano, currency: 'EUR' });
  expect(await dayOf(revision)).toMatchObject({ tokens, cost: nano, currency: 'EUR' });
  expect(model.requests[0]?.body.max_tokens).toBeUndefined();
});

test.each<[string, object, BudgetLimits]>([
  ['agent.budget', { budget: { tokens: 4_000 } }, {}],
  ['spec.budget.run', {}, { run: { tokens: 4_000 } }],
  ['spec.budget.day', {}, { day: { cost: 1 } }],
  ['windlass.dev/budget-tokens-per-day', {}, { project: { tokens: 4_000 } }],
])('over %s the model is not asked', async (named, extra, budget) => {
  const retry = { retry: { limit: 3, backoff: { initial: '0s' } } };
  const state = await runOnce([agent(extra, retry)], budget);
  expect(state).toMatchObject({ phase: 'Failed', reason: 'NodeFailed' });
  expect(nodeOf(state)).toMatchObject({ phase: 'Failed', reason: 'BudgetExceeded', attempts: 1 });
  const { message } = nodeOf(state)!;
  expect(message).toContain(named);
  expect(message).toMatch(/is .+, of which .+ are used or reserved, and the next request to demo may use/);
  expect(model.requests).toHaveLength(0);
});

test('under a budget a limit of output is sent', async () => {
  await runOnce([agent({ budget: { tokens: 50_000 } })]);
  await runOnce([agent({ maxTokens: 70 })], { day: { tokens: 50_000 } });
  expect(model.requests.map(({ body }) => body.max_tokens)).toEqual([4_096, 70]);
});

test('a model without a price is not asked under a budget of cost', async () => {
  const state = await runOnce([agent({ model: 'other', budget: { cost: '5' } })]);
  expect(nodeOf(state)).toMatchObject({ phase: 'Failed', reason: 'PriceUnknown', attempts: 1 });
  expect(nodeOf(state)?.message).toContain('no price of other for credentials of kind openai');
  expect(model.requests).toHaveLength(0);
});

test('options that lift the limit of output are refused before the model is asked', async () => {
  const state = await runOnce([agent({ options: { max_tokens: 99_999 } })], { project: { tokens: 50_000 } });
  expect(nodeOf(state)).toMatchObject({ reason: 'InvalidParameters' });
  expect(model.requests).toHaveLength(0);
  expect(state.usage).toMatchObject({ tokens: 0, estimated: 0 });
});

test('an agent that fails shows what it used before', async () => {
  const noCalls = { url: 'http://127.0.0.1:9/', method: 'POST', body: {} };
  const tools = [{ name: 'x', skill: 'http_request', parameters: noCalls }];
  const state = await runOnce([agent({ prompt: 'always call x {}', tools, maxSteps: 2 })]);
  expect(nodeOf(state)).toMatchObject({ reason: 'StepLimit' });
  expect(model.requests).toHaveLength(2);
  expect(nodeOf(state)?.usage?.inputTokens).toBe(state.usage?.tokens);
  expect(nodeOf(state)?.usage).toMatchObject({ currency: 'EUR' });
});

test('each request of an agent with tools is reserved for itself, and the last one that fits is sent', async () => {
  const noCalls = { url: 'http://127.0.0.1:9/', method: 'POST', body: {} };
  const tools = [{ name: 'x', skill: 'http_request', parameters: noCalls }];
  const limited = {
    prompt: 'always call x {}',
    tools,
    maxTokens: 500,
    maxSteps: 50,
    budget: { tokens: 1_500 },
  };
  const state = await runOnce([agent(limited)]);
  expect(nodeOf(state)).toMatchObject({ phase: 'Failed', reason: 'BudgetExceeded' });
  expect(model.requests.length).toBeGreaterThan(1);
  expect(state.usage?.tokens).toBeLessThanOrEqual(1_500);
});

test('a refused rate costs nothing, and a request without an answer stays charged as estimated', async () => {
  model.setFault('rate-limit', 1);
  const limited = await runOnce([agent()]);
  expect(nodeOf(limited)).toMatchObject({ reason: 'RateLimited' });
  expect(limited.usage).toMatchObject({ tokens: 0, estimated: 0 });
  model.setFault('reset', 1);
  const lost = await runOnce([agent({ maxTokens: 10 })]);
  expect(nodeOf(lost)).toMatchObject({ reason: 'Unreachable' });
  expect(lost.usage?.estimated).toBeGreaterThan(10);
  expect(lost.usage?.tokens).toBe(lost.usage?.estimated);
});

test('a server error before the answer and a server that is away cost nothing, also with retries', async () => {
  const retry = { retry: { limit: 2, backoff: { initial: '0s' } } };
  model.setFault('error-500', 2);
  const recovered = await runOnce([agent({}, retry)], { run: { tokens: 5_000 } });
  expect(nodeOf(recovered)).toMatchObject({ phase: 'Succeeded', attempts: 3 });
  expect(recovered.usage).toMatchObject({ estimated: 0 });
  const state = await runOnce([agent({ credential: 'away' }, retry)], { run: { tokens: 5_000 } });
  expect(nodeOf(state)).toMatchObject({ reason: 'Unreachable', attempts: 3 });
  expect(state.usage).toMatchObject({ tokens: 0, estimated: 0 });
});

test('items of many runs at the same time are never above the budget of the day', async () => {
  const items = { forEach: { items: "{{ $('trigger').data_content.items }}", maxParallel: 8 } };
  const each = agent({ maxTokens: 1_000 }, { ...items, onError: 'Continue' });
  const budget = { day: { tokens: 3_300 } };
  const second = startTestRunner(conn, project.uid, { runner: 'second', credentials, prices });
  start();
  const revision = await project.deploy([trigger, each], undefined, {}, { budget });
  const sent = [1, 2, 3, 4].map(() => project.send(revision, { items: [1, 2, 3, 4, 5, 6, 7, 8] }));
  const states = await Promise.all((await Promise.all(sent)).map((name) => project.ended(name)));
  await second.stop(0);
  const used = await dayOf(revision);
  const tokens = states.reduce((sum, state) => sum + (state.usage?.tokens ?? 0), 0);
  expect(used).toMatchObject({ tokens });
  expect(tokens).toBeLessThanOrEqual(3_300);
  expect(model.requests.length).toBeGreaterThanOrEqual(3);
});

test('a runner killed between reservation and settlement: both deliveries are charged, the first as estimated', async () => {
  const child = await spawnRunner({ url: redis.url, project: project.uid, runner: 'dies', credentials });
  const { name } = await run([agent({ model: 'demo-slow', maxTokens: 500 })], { run: { tokens: 5_000 } });
  await pollUntil('the request', () => model.requests.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  const state = await withSuccessor('follows', () => project.ended(name));
  expect(state.phase).toBe('Succeeded');
  expect(model.requests).toHaveLength(2);
  const { inputTokens = 0, outputTokens = 0 } = nodeOf(state)!.usage!;
  expect(state.usage?.estimated).toBeGreaterThan(500);
  expect(state.usage?.tokens).toBe(state.usage!.estimated + inputTokens + outputTokens);
});

test('a takeover cannot exceed the budget: the lost request leaves no room for another', async () => {
  const child = await spawnRunner({ url: redis.url, project: project.uid, runner: 'dies-too', credentials });
  const { name } = await run([agent({ model: 'demo-slow', maxTokens: 500 })], { run: { tokens: 900 } });
  await pollUntil('the request', () => model.requests.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  const state = await withSuccessor('follows-too', () => project.ended(name));
  expect(nodeOf(state)).toMatchObject({ phase: 'Failed', reason: 'BudgetExceeded' });
  expect(model.requests).toHaveLength(1);
});
