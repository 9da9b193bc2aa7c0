import { describe, expect, test } from 'vitest';
import type { WorkflowRun } from '../../api/kinds.ts';
import { runLines } from './show.ts';

const paint = (_colour: string, text: string) => text;
const START = '2026-05-01T08:00:00Z';
const run = (status: object) =>
  ({
    metadata: { name: 'orders-1' },
    spec: { workflow: 'orders' },
    status: { startTime: START, ...status },
  }) as WorkflowRun;
const linesOf = (status: object) => runLines(run(status), paint, Date.parse(START) + 5_000);

describe('a node that waits says for what', () => {
  const until = '2026-05-02T08:00:00Z';
  test.each([
    ['a time', { waitingFor: { until } }, [`  waits until ${until}`]],
    ['a callback', { waitingFor: { callback: { until } } }, [`  waits for a callback until ${until}`]],
    [
      'a memory',
      { waitingFor: { memory: { until } } },
      [`  waits until ${until} for its memory, which another run uses`],
    ],
    ['its next attempt', { nextAttemptTime: until }, [`  the next attempt starts at ${until}`]],
    ['a child run', { run: 'price-1' }, ['  waits for the run price-1']],
    ['nothing that the record has', {}, []],
  ])('%s', (_what, node, notes) => {
    const lines = linesOf({ phase: 'Waiting', nodes: [{ id: 'a', phase: 'Waiting', attempts: 1, ...node }] });
    expect(lines).toEqual(['run orders-1: workflow orders, for 5s', '… a', ...notes, 'run Waiting']);
  });
});

test('a run that has ended took its time, and its nodes wait for nothing', () => {
  const nodes = [{ id: 'a', phase: 'Succeeded', attempts: 1, run: 'price-1' }];
  expect(linesOf({ phase: 'Succeeded', completionTime: '2026-05-01T08:00:02Z', nodes })).toEqual([
    'run orders-1: workflow orders, took 2s',
    '✓ a',
    'run Succeeded',
  ]);
});
