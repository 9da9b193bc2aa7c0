/** Turns of a run that somebody else began, that waits, that is cancelled, or whose runner leaves. */
import { expect, test } from 'vitest';
import type { StoredAnswer, StoredResult } from '../nodes/agent/rounds.ts';
import type { NodeState } from '../runs/types/node.ts';
import {
  agent,
  mail,
  NOW,
  open,
  openLoops,
  phases,
  reply,
  revision,
  text,
  pass,
  webhook,
} from '../test/support/runner/passes.ts';
import { each, input } from '../test/support/runner/loops.ts';
import type { ExecutionState } from './executionState.ts';
import { awaitRetry, endWait, waitsOf } from './waits.ts';
import { refuseOutputs } from './changes.ts';
import { release, succeed } from './transitions.ts';
import { decidePass } from './pass.ts';

const chain = revision([webhook, agent('a'), mail('m'), reply('reply', "{{ $('a').text_content }}")]);
const done = (id: string, text_content = ''): NodeState => ({
  id,
  phase: 'Succeeded',
  attempts: 1,
  output: { text_content, data_content: null },
});

const busy = { phase: 'Failed', reason: 'UpstreamError', message: 'busy' } as const;
const cancelled = {
  phase: 'Cancelled',
  reason: 'Cancelled',
  message: 'the run was cancelled',
} as const;

test('after a takeover, nodes with a checkpoint are not repeated', () => {
  const step = pass(open(chain, { nodes: [done('trigger'), done('a', 'hello')] }));
  expect(step).toEqual({ starts: [{ id: 'm', attempt: 1, atMostOnce: true, at: NOW }] });
});

test('after a takeover, a marked AtLeastOnce node repeats the same attempt', () => {
  const marked: NodeState = {
    id: 'a',
    phase: 'Running',
    attempts: 2,
    startedAt: 600,
    mark: { attempt: 2, atMostOnce: false },
  };
  const step = pass(open(chain, { nodes: [done('trigger'), marked] }));
  expect(step).toEqual({ starts: [{ id: 'a', attempt: 2, atMostOnce: false, at: NOW, firstAt: 600 }] });
});

test('after a takeover, a marked AtMostOnce node is Unknown and fails the run', () => {
  const marked: NodeState = {
    id: 'm',
    phase: 'Running',
    attempts: 1,
    startedAt: 700,
    mark: { attempt: 1, atMostOnce: true },
  };
  const step = pass(open(chain, { nodes: [done('trigger'), done('a'), marked] }));
  expect(step).toMatchObject({
    checkpoints: [
      { id: 'm', phase: 'Unknown', reason: 'EffectUnknown', attempts: 1, startedAt: 700, endedAt: NOW },
      { id: 'reply', phase: 'Skipped' },
    ],
    end: { phase: 'Failed', reason: 'EffectUnknown' },
  });
});

test('in a run that may have continued after its record, AtMostOnce nodes are Unknown and the others continue', () => {
  const memory = open(chain, { doubt: true, nodes: [done('trigger')] });
  expect(pass(memory)?.starts).toMatchObject([{ id: 'a', attempt: 1 }]);
  succeed(memory, 'a', text('hello'), NOW);
  expect(pass(memory)).toMatchObject({
    checkpoints: [
      { id: 'a', phase: 'Succeeded' },
      { id: 'm', phase: 'Unknown', reason: 'EffectUnknown' },
      { id: 'reply', phase: 'Skipped' },
    ],
    end: { phase: 'Failed', reason: 'EffectUnknown' },
  });
});

test('in a resumed run in doubt, only a node that is known not to have been executed starts', () => {
  const nodes = [done('trigger'), done('a', 'hello')];
  const decision = { node: 'm', outcome: 'AssumeNotDone' } as const;
  expect(pass(open(chain, { doubt: true, nodes, decisions: [decision] }))?.starts).toMatchObject([
    { id: 'm' },
  ]);
  const other = { ...decision, node: 'a' };
  expect(pass(open(chain, { doubt: true, nodes, decisions: [other] }))?.checkpoints).toMatchObject([
    { id: 'm', phase: 'Unknown' },
    { id: 'reply', phase: 'Skipped' },
  ]);
});

test('after a takeover, a waiting node continues to wait, then gets its next attempt', () => {
  const waiting: NodeState = {
    id: 'm',
    phase: 'Waiting',
    attempts: 1,
    startedAt: 700,
    nextAttemptAt: NOW + 60_000,
  };
  const memory = open(chain, { nodes: [done('trigger'), done('a'), waiting] });
  expect(pass(memory)).toBeUndefined();
  expect(waitsOf(memory)).toEqual([{ id: 'm', leftMs: expect.closeTo(60_000, -3) }]);
  endWait(memory, 'm');
  expect(pass(memory)?.starts).toEqual([{ id: 'm', attempt: 2, atMostOnce: true, at: NOW, firstAt: 700 }]);
});

test('a node that waits for its next attempt is stored as waiting, then marked again', () => {
  const memory = open(chain);
  pass(memory);
  awaitRetry(memory, 'a', busy, 5_000);
  expect(pass(memory)).toEqual({
    checkpoints: [
      { id: 'a', phase: 'Waiting', attempts: 1, startedAt: NOW, reason: 'UpstreamError', message: 'busy' },
    ],
    waits: [{ id: 'a', delayMs: 5_000 }],
  });
  endWait(memory, 'a');
  expect(decidePass(memory, NOW + 50)).toEqual({
    starts: [{ id: 'a', attempt: 2, atMostOnce: false, at: NOW + 50, firstAt: NOW }],
  });
});

test('when the run is cancelled, waiting and pending nodes end at once', () => {
  const memory = open(chain);
  pass(memory);
  awaitRetry(memory, 'a', busy, 5_000);
  pass(memory);
  memory.halt = cancelled;
  const step = pass(memory);
  expect(phases(step?.checkpoints)).toEqual({ a: 'Cancelled', m: 'Skipped', reply: 'Skipped' });
  expect(step?.end).toMatchObject({ phase: 'Cancelled' });
});

test('a node that a dead runner started is not skipped when the run is cancelled', () => {
  const marked: NodeState = {
    id: 'a',
    phase: 'Running',
    attempts: 2,
    startedAt: 600,
    mark: { attempt: 2, atMostOnce: false },
  };
  const memory = open(chain, { nodes: [done('trigger'), marked] });
  memory.halt = cancelled;
  expect(pass(memory)?.checkpoints?.[0]).toMatchObject({
    id: 'a',
    phase: 'Cancelled',
    attempts: 2,
    startedAt: 600,
  });
});

test('a runner that shuts down starts no effect and releases nodes that it stopped in time', () => {
  const memory = open(chain);
  pass(memory);
  memory.stopping = true;
  release(memory, 'a');
  expect(pass(memory)).toEqual({ checkpoints: [{ id: 'a', phase: 'Pending', attempts: 0, startedAt: NOW }] });
  expect(pass(memory)).toBeUndefined();
});

test('outputs that the run store refuses fail their nodes and the run', () => {
  const memory = open(chain);
  pass(memory);
  succeed(memory, 'a', text('much'), NOW);
  const refused = pass(memory);
  refuseOutputs(memory, refused!, 'too large');
  const step = pass(memory);
  expect(step).toMatchObject({
    checkpoints: [
      { id: 'a', phase: 'Failed', reason: 'OutputTooLarge' },
      { id: 'm', phase: 'Skipped' },
      { id: 'reply', phase: 'Skipped' },
    ],
    end: { phase: 'Failed', reason: 'OutputTooLarge' },
  });
  expect(JSON.stringify(step)).not.toContain('much');
});

test.each<[string, NodeState]>([
  ['waited for its memory', { id: 'a', phase: 'Waiting', attempts: 0, waitingFor: { memory: true } }],
  ['was handed back with its memory', { id: 'a', phase: 'Pending', attempts: 0 }],
])('a node that %s in another runner leaves the line where it is skipped', (_what, node) => {
  const plan = revision([webhook, agent('a')]);
  const [step] = plan.steps;
  Object.assign(step ?? {}, { agent: { credential: 'llm', model: 'm', prompt: 'hi', memory: { key: 'k' } } });
  const state = open(plan, { nodes: [done('trigger'), node] });
  state.halt = cancelled;
  expect(pass(state)).toMatchObject({
    checkpoints: [{ id: 'a', phase: 'Skipped' }],
    memories: [{ node: 'a' }],
  });
});

const tools = [{ skill: 'send_email', credential: 'smtp' }];
const calling = { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'hi', tools } };
const withTool = revision([webhook, calling, mail('other')]);
const waitingAgent: NodeState = {
  id: 'a',
  phase: 'Waiting',
  attempts: 1,
  reason: 'RateLimited',
  message: 'later',
  nextAttemptAt: NOW + 60_000,
};

const MARK = { attempt: 1, atMostOnce: true, continues: true } as const;

/** Stores that the agent with this key has called `send_email`. `stored`: what else is stored of it. */
function storeCall(
  state: ExecutionState,
  agentKey: string,
  ...stored: [key: string, value: unknown][]
): void {
  const answer = { text: '', toolCalls: [{ id: '1', name: 'send_email', arguments: '{}' }], marks: [0] };
  const all: [string, unknown][] = [['m1', answer satisfies Partial<StoredAnswer>], ...stored];
  void state.calls.store(agentKey, new Map(all.map(([key, value]) => [key, JSON.stringify(value)])), 0);
  state.calls.take();
  state.calls.noteStored();
}

/** How the agent ends in a run that fails. */
function endOfCalled(node: NodeState, ...stored: [key: string, value: unknown][]): NodeState | undefined {
  const state = open(withTool, { nodes: [done('trigger'), node] });
  storeCall(state, 'a', ...stored);
  state.halt = { phase: 'Failed', reason: 'RunTimeout', message: 'the run took too long' };
  return pass(state)?.checkpoints?.find(({ id }) => id === 'a');
}

test('after a loss, an agent that waited for its next attempt and may have sent a mail is Unknown', () => {
  const mark = { attempt: 1, atMostOnce: true };
  const nodes = [done('trigger'), { ...waitingAgent, mark }];
  expect(pass(open(withTool, { restored: true, nodes }))).toMatchObject({
    checkpoints: [{ id: 'a', phase: 'Unknown' }, { phase: 'Skipped' }],
    end: { phase: 'Failed', reason: 'EffectUnknown' },
  });
});

test('an agent that ends in another runner than it called its tools in has their calls in its transcript', () => {
  const result: StoredResult = { text: 'sent', startedAt: 1, endedAt: 2 };
  const called = {
    agent: { answers: 1, toolCalls: 1 },
    transcript: { entries: [{ role: 'Assistant' }, { tool: 'send_email', text: 'sent', endedAt: 2 }] },
  };
  expect(endOfCalled(waitingAgent, ['m1.0', result])).toMatchObject({ phase: 'Failed', ...called });
  const handedBack: NodeState = { id: 'a', phase: 'Pending', attempts: 0 };
  expect(endOfCalled(handedBack, ['m1.0', result])).toMatchObject({ phase: 'Cancelled', ...called });
});

test.each<[string, NodeState, [string, unknown][]]>([
  ['whose runner died', { id: 'a', phase: 'Running', attempts: 1, mark: MARK }, []],
  [
    'that waited for a child run meanwhile',
    { id: 'a', phase: 'Waiting', attempts: 1 },
    [['m1.0?', 'no answer came']],
  ],
])('an agent with a call in doubt %s is Unknown, also where the run ends', (_what, node, stored) => {
  expect(endOfCalled(node, ...stored)).toMatchObject({ phase: 'Unknown' });
});

test('an agent of an item with which three runners died is Unknown if a call of it is in doubt', () => {
  const state = openLoops(revision([webhook, each(), { ...calling, within: 'each' }]), {
    input: input(1),
    nodes: [done('trigger'), { id: 'each', phase: 'Running', attempts: 1 }],
    items: [{ id: 'each.0.0.1/a', phase: 'Running', attempts: 1, mark: { ...MARK, crashes: 2 } }],
  });
  storeCall(state, 'each.0.0.1/a');
  expect(pass(state)?.end).toMatchObject({ reason: 'EffectUnknown' });
});
