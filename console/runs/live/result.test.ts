import { expect, test } from 'vitest';
import { durationOf, relevantNode, resultOf } from './result.ts';
import type { NodeView, RunHead } from './nodeView.ts';

const run = (head: Partial<RunHead>): RunHead => ({
  run: 'orders-1',
  workflow: 'shop.orders',
  phase: 'Succeeded',
  test: true,
  startTime: '2026-01-01T00:00:00.000Z',
  completionTime: '2026-01-01T00:00:03.200Z',
  ...head,
});
const NAMES = new Map([['mail', 'Send the reply']]);
const nodes = (...list: NodeView[]) => new Map(list.map((node) => [node.id, node]));

test.each([
  [run({}), [], { text: 'Succeeded in 3.2 s' }],
  [
    run({}),
    [
      { id: 'each', phase: 'Succeeded', items: { total: 3, succeeded: 2, failed: 1, running: 0 } },
    ] satisfies NodeView[],
    { text: 'Succeeded in 3.2 s, with failed items', hasFailures: true },
  ],
  [run({ until: 'agent_1' }), [], { text: 'Succeeded up to agent_1 in 3.2 s' }],
  [run({ phase: 'Cancelled' }), [], { text: 'Cancelled after 3.2 s' }],
  [
    run({ phase: 'Cancelled', reason: 'Replaced', message: 'Run b replaced this run.' }),
    [],
    { text: 'Cancelled after 3.2 s', why: 'Run b replaced this run.' },
  ],
  [run({ phase: 'Failed', message: 'too late' }), [], { text: 'Failed', why: 'too late' }],
  [
    run({ phase: 'Failed', message: 'edge ask → mail: when: no such key' }),
    [],
    {
      text: 'Failed',
      why: 'Connection ask → Send the reply: no such key',
      edge: { from: 'ask', to: 'mail' },
    },
  ],
  [
    run({ phase: 'Failed', message: 'node each: ConditionFailed: edge ask → mail: when: no such key' }),
    [{ id: 'each', phase: 'Failed', message: 'edge ask → mail: when: no such key' }] satisfies NodeView[],
    {
      text: 'Failed at each',
      why: 'Connection ask → Send the reply: no such key',
      node: 'each',
      edge: { from: 'ask', to: 'mail' },
    },
  ],
  [run({ phase: 'Running' }), [], undefined],
  [
    run({ phase: 'Failed', message: 'node mail: …' }),
    [
      { id: 'later', phase: 'Failed', completionTime: '2026-01-01T00:00:03Z', message: 'second' },
      {
        id: 'mail',
        phase: 'Unknown',
        completionTime: '2026-01-01T00:00:02Z',
        message: 'node mail: no answer',
      },
      { id: 'rest', phase: 'Skipped' },
    ] satisfies NodeView[],
    { text: 'Failed at Send the reply', why: 'no answer', node: 'mail' },
  ],
])('the result of a run is one sentence (%#)', (head, list, result) => {
  expect(resultOf(head, nodes(...list), NAMES)).toEqual(result);
});

test('the duration of unfinished runs grows, and those not started have none', () => {
  const startTime = '2026-01-01T00:00:00.000Z';
  expect(durationOf({ startTime }, Date.parse(startTime) + 5)).toBe(5);
  expect(durationOf({ startTime }, Date.parse(startTime) - 5)).toBe(0);
  expect(durationOf({}, 5)).toBeUndefined();
});

const FAILED: NodeView = { id: 'each', phase: 'Failed' };
const WAITING: NodeView = { id: 'pause', phase: 'Waiting' };
const DONE: NodeView = { id: 'trigger', phase: 'Succeeded' };

test.each<[RunHead['phase'], NodeView[], string]>([
  ['Waiting', [DONE, FAILED, WAITING], 'pause'],
  ['Waiting', [DONE, FAILED], 'each'],
  ['Failed', [DONE, FAILED], 'each'],
  ['Succeeded', [DONE, { id: 'each', phase: 'Skipped' }], 'trigger'],
  ['Running', [DONE, { id: 'each', phase: 'Running' }, WAITING], 'each'],
  ['Pending', [], 'trigger'],
])('a run in phase %s with the nodes %j shows %s first', (phase, list, shown) => {
  expect(relevantNode(phase, nodes(...list), ['trigger', 'each', 'pause'])).toBe(shown);
});
