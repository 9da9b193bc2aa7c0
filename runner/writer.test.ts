import { expect, test } from 'vitest';
import type { AgentCall } from '../runs/types/advance.ts';
import type { NodeState, NodeStart } from '../runs/types/node.ts';
import { joinSteps, mergeSteps } from './writer.ts';

const ended = (id: string): NodeState => ({ id, phase: 'Succeeded', attempts: 1, startedAt: 1, endedAt: 2 });
const waits = (id: string): NodeState => ({ id, phase: 'Waiting', attempts: 1, startedAt: 1 });
const start = (id: string, attempt = 1): NodeStart => ({ id, attempt, atMostOnce: true, at: 3 });
const reply = { status: 200, headers: {}, body: 'first', contentType: 'text/plain' };

test('a merged step has each node once, in its last stored or new state', () => {
  const claimed: NodeState[] = [
    ended('trigger'),
    { ...waits('marked'), phase: 'Running', mark: { attempt: 2, atMostOnce: false } },
    waits('waits'),
  ];
  const stored = [
    { starts: [start('a'), start('b')], reply },
    { checkpoints: [ended('a')], starts: [start('mail')], reply: { ...reply, body: 'second' } },
  ];
  const next = { checkpoints: [waits('b')], starts: [start('waits', 2)], parkMs: 5 };
  const left = [
    { id: 'b', delayMs: 40 },
    { id: 'waits', delayMs: -3 },
  ];
  expect(mergeSteps(claimed, stored, next, left)).toEqual({
    checkpoints: [ended('trigger'), ended('a'), waits('b')],
    starts: [
      { id: 'marked', attempt: 2, atMostOnce: false, at: 1, firstAt: 1 },
      start('waits', 2),
      start('mail'),
    ],
    waits: [{ id: 'b', delayMs: 40 }],
    reply,
    parkMs: 5,
    whole: true,
  });
});

test('a wait that has ended has no delay', () => {
  expect(mergeSteps([waits('a')], [], {}, [{ id: 'a', delayMs: -3 }]).waits).toEqual([
    { id: 'a', delayMs: 0 },
  ]);
});

test('the timeout of an item in progress keeps its time, and that of an item that has ended has none', () => {
  const item = (id: string): NodeState => ({ id, phase: 'Running', attempts: 1 });
  const left = [
    { id: 'each.0', delayMs: 40 },
    { id: 'each.1', delayMs: 40 },
  ];
  const next = { checkpoints: [ended('each.1')] };
  expect(mergeSteps([], [{ checkpoints: [item('each.0'), item('each.1')] }], next, left).waits).toEqual([
    { id: 'each.0', delayMs: 40 },
  ]);
});

test('a merged step has the calls of agents that have not ended, each once', () => {
  const call = (key: string, value = '1'): AgentCall => ({ key, value, isAnswer: false });
  const claimed = [call('a/m1'), call('b/m1'), call('c/m1')];
  const stored = [
    { calls: [call('a/m1.0'), call('d/m1')] },
    { droppedCalls: ['b/m1'], calls: [call('a/m2', '2')] },
  ];
  const next = { droppedCalls: ['c/m1'], calls: [call('a/m2.0')] };
  const merged = mergeSteps([], stored, next, [], claimed);
  expect(merged.calls).toEqual([
    call('a/m1'),
    call('a/m1.0'),
    call('d/m1'),
    call('a/m2', '2'),
    call('a/m2.0'),
  ]);
  expect(merged.droppedCalls).toEqual(['c/m1']);
});

test('an agent in progress is one start, with the last known progress', () => {
  const mark = (answers: number) => ({ ...start('a'), agent: { answers, toolCalls: 0 } });
  const merged = mergeSteps([], [{ starts: [start('a')] }, { agents: [mark(1)] }], { agents: [mark(2)] }, []);
  expect(merged.starts).toEqual([mark(2)]);
  expect(merged).not.toHaveProperty('agents');
  const agent = { answers: 4, toolCalls: 7 };
  const running: NodeState = {
    id: 'a',
    phase: 'Running',
    attempts: 1,
    agent,
    mark: { attempt: 1, atMostOnce: true },
  };
  expect(mergeSteps([running], [], {}, []).starts).toMatchObject([{ id: 'a', agent }]);
});

test('a merged step releases the memories of agents that have ended', () => {
  const end = (node: string) => ({ node, space: { name: node, key: 'k' } });
  const stored = [{ memories: [end('a')] }, { checkpoints: [ended('a')] }];
  expect(mergeSteps([], stored, { memories: [end('b')] }, []).memories).toEqual([end('a'), end('b')]);
});

test('joined steps still drop what the run store had at the claim', () => {
  const steps = [
    { checkpoints: [ended('each.0')] },
    { checkpoints: [ended('each')], dropped: ['each.0', 'each.1'], droppedCalls: ['a/m1'] },
    { checkpoints: [ended('each.1')] },
  ];
  const joined = joinSteps(steps);
  expect(joined).toMatchObject({ dropped: ['each.0'], droppedCalls: ['a/m1'] });
  const call: AgentCall = { key: 'a/m1', value: '1', isAnswer: false };
  const merged = mergeSteps([waits('each.0'), ended('trigger')], [joined], {}, [], [call]);
  expect(merged.checkpoints?.map(({ id }) => id)).toEqual(['trigger', 'each', 'each.1']);
  expect(merged).not.toHaveProperty('calls');
});
