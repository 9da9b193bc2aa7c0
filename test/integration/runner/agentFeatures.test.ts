/** Agents that have a memory, tools that run workflows and a budget at the same time. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { MemoryTurn } from '../../../api/memory.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { readEvents } from '../../../runs/events.ts';
import { readMemory } from '../../../runs/memoryList.ts';
import { restoreRun } from '../../../runs/restore.ts';
import { askMemories } from '../../../runner/awaitMemory.ts';
import { RunBudget } from '../../../runner/budget.ts';
import { createMetrics } from '../../../runner/metrics.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { RunEvent } from '../../../runs/types/event.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { listen } from '../../support/network/listen.ts';
import { agent as agentNode, open, revision, webhook } from '../../support/runner/passes.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness();
const { redis, conn, project, model, credentials, withSuccessor } = harness;

/** `/late` answers when it is told to. */
const calls: string[] = [];
let answered = Promise.withResolvers<void>();
const api = await listen((request, response) => {
  calls.push(request.url ?? '');
  response.setHeader('content-type', 'application/json');
  void answered.promise.then(() => response.end('{"ok":true}'));
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

const trigger = { id: 'trigger', webhook: { path: 'chat' } };
const manual = { id: 'trigger', manual: {} };
const late = {
  id: 'late',
  skill: { name: 'http_request', parameters: { url: `${api.url}/late`, method: 'POST', body: {} } },
};
const agent = (callee: string, extra: object = {}) => ({
  id: 'a',
  agent: {
    credential: 'llm',
    model: 'demo',
    prompt: "{{ $('trigger').data_content.text }}",
    memory: { key: "{{ $('trigger').data_content.chat }}" },
    tools: [{ name: 'refund', workflow: callee }],
    maxTokens: 500,
    budget: { tokens: 20_000 },
    ...extra,
  },
});
const CALL = 'call refund {"input":{}}';

const nodeOf = (state: RunState): NodeState | undefined => state.nodes.find(({ id }) => id === 'a');
const isWaiting = ({ phase }: RunState): boolean => phase === 'Waiting';
const isLate = () => pollUntil('the call', () => calls.includes('/late'), { timeoutMs: 20_000, everyMs: 5 });

async function turnsOf(workflow: string): Promise<MemoryTurn[]> {
  const read = await readMemory(conn, project.uid, workflow, { name: 'a', key: 'c' });
  return read.outcome === 'read' ? read.turns.map((text) => JSON.parse(text) as MemoryTurn) : [];
}

async function eventsOf(run: string): Promise<RunEvent[]> {
  const events = await readEvents(conn, project.uid, run, { limit: 1_000 });
  if ('outcome' in events) throw new Error('the run store is unavailable');
  return events;
}

test('a runner dies while an agent waits for its child run: memory, budget and transcript continue in the next one', async () => {
  const callee = await project.deploy([manual, late]);
  const budget = { run: { tokens: 20_000 } };
  const own = await project.deploy([trigger, agent(callee)], undefined, {}, { budget });
  const child = await spawnRunner({ url: redis.url, project: project.uid, runner: 'dies', credentials });
  const run = await project.send(own, { chat: 'c', text: CALL });
  await isLate();
  await project.until(run, isWaiting);
  const next = await project.send(own, { chat: 'c', text: 'And now?' });
  await project.until(next, isWaiting);
  await killRunner(child);
  answered.resolve();
  const [first, second] = await withSuccessor('follows', async () => [
    await project.ended(run),
    await project.ended(next),
  ]);
  expect([first?.phase, second?.phase]).toEqual(['Succeeded', 'Succeeded']);
  expect(model.requests).toHaveLength(3);
  expect(model.requests[2]?.body.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
  expect((await turnsOf(own)).map(({ run: of, steps }) => [of, steps.length])).toEqual([
    [run, 1],
    [next, 0],
  ]);
  for (const state of [first, second]) {
    const { inputTokens = 0, outputTokens = 0 } = nodeOf(state)?.usage ?? {};
    expect(state?.usage).toMatchObject({ tokens: inputTokens + outputTokens, estimated: 0 });
  }
  const transcript = (await eventsOf(run)).filter((event) => event.type === 'transcript');
  expect(transcript.findLast(({ reset }) => reset)?.position).toBe(0);
  expect(transcript.at(-1)).toMatchObject({ position: 3, entry: { role: 'Assistant' } });
  const { memoryLocks, children, calls: stored, spent } = keysOf(project.uid);
  expect(await conn.command('exists', memoryLocks, children(run), stored(run), spent(run))).toBe(0);
});

test('an agent that waits for a child run shows how far it is, and one that fails later what it used in all', async () => {
  const callee = await project.deploy([manual, late]);
  const own = await project.deploy([trigger, agent(callee, { maxSteps: 2 })]);
  const run = await project.send(own, { chat: 'c', text: `always ${CALL}` });
  const [parked, ended] = await withSuccessor('counts', async () => {
    const state = await project.until(run, isWaiting);
    answered.resolve();
    return [state, await project.ended(run)] as const;
  });
  const { inputTokens: before = 0 } = nodeOf(parked)?.usage ?? {};
  expect(nodeOf(parked)).toMatchObject({ phase: 'Waiting', agent: { answers: 1, toolCalls: 1 } });
  expect(before).toBeGreaterThan(0);
  expect(nodeOf(ended)).toMatchObject({ phase: 'Failed', reason: 'StepLimit' });
  const { inputTokens = 0, outputTokens = 0 } = nodeOf(ended)?.usage ?? {};
  expect(inputTokens + outputTokens).toBe(ended.usage?.tokens);
});

test('an agent that begins again after a loss of the run store, and waits for its memory, keeps its effect keys', async () => {
  const callee = await project.deploy([manual, late]);
  const own = await project.deploy([trigger, agent(callee)]);
  const holder = await project.send(own, { chat: 'c', text: CALL });
  const state = await withSuccessor('again', async () => {
    await isLate();
    await project.until(holder, isWaiting);
    await restoreRun(conn, project.uid, {
      run: 'lost',
      uid: 'uid-lost',
      workflow: own,
      workflowUid: own,
      revision: own,
      trigger: 'webhook',
      test: false,
      input: '{"text_content":"","data_content":{"chat":"c","text":"Hello"}}',
      epoch: 1,
      sequence: 1,
      acceptedAt: 1_700_000_000_000,
      timeoutMs: 60_000,
      nodes: [{ id: 'a', phase: 'Waiting', attempts: 1, run: 'refund-1' }],
    });
    await project.until('lost', isWaiting);
    answered.resolve();
    return project.ended('lost');
  });
  expect(nodeOf(state)).toMatchObject({ phase: 'Succeeded', attempts: 1 });
  expect(model.requests.at(-1)?.idempotencyKey).toBe(`${project.uid}/lost/a/1/m1`);
});

const lost: ClaimRef = { project: project.uid, run: 'none', token: 'lost' };
const abandon = new AbortController().signal;

test('an agent asks for its memory again after the run store has lost the claim of its run', async () => {
  const state = open(revision([webhook, agentNode('a')]));
  state.root.progress.set('a', { tried: 0, next: 1 });
  state.memories.request('a', 'a', { key: 'c' }, 'c');
  const { promise, resolve } = Promise.withResolvers<void>();
  askMemories(state, () => lost, { conn, abandon, wake: resolve });
  await promise;
  expect(state.memories).toMatchObject({ isAsking: false, isWaiting: true });
  expect(state.checkpoints.at(-1)).toMatchObject({ id: 'a', phase: 'Waiting', waitingFor: { memory: true } });
});

test('a request is reserved when its runner has the run back whose claim the run store had lost', async () => {
  const run = await project.send(await project.deploy([trigger, agent('none')]), {});
  const claimed = await claimRuns(conn, { project: project.uid, runner: 'regains', max: 1 });
  const claim = claimed.outcome === 'claimed' ? claimed.claims[0] : undefined;
  const deps = { conn, metrics: createMetrics({ defaults: false }), log: createCollectedLog(), abandon };
  const demand = { effectKey: 'k', provider: 'openai', model: 'demo', inputTokens: 1, outputTokens: 2 };
  let ref = lost;
  const keeper = (isBack: boolean) =>
    new RunBudget(deps, {
      ref: () => ref,
      epoch: 1,
      regain: () => {
        if (isBack) ref = { project: project.uid, run, token: claim?.token ?? '' };
        return Promise.resolve(isBack);
      },
    }).ofStep('a', undefined);
  await expect(keeper(false).reserve(demand)).rejects.toMatchObject({ reason: 'Cancelled' });
  await keeper(true).reserve(demand);
  expect(await conn.command('hget', keysOf(project.uid).run(run), 'tokens')).toBe('3');
});
