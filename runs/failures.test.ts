import { expect, test } from 'vitest';
import { failureEvent, isReported } from './failures.ts';

test.each([
  ['a failed live run', { phase: 'Failed', test: false, trigger: 'webhook' }, true],
  ['a failed test run', { phase: 'Failed', test: true, trigger: 'execute' }, false],
  ['a cancelled run', { phase: 'Cancelled', test: false, trigger: 'webhook' }, false],
  ['a succeeded run', { phase: 'Succeeded', test: false, trigger: 'webhook' }, false],
  ['a run that a failure started', { phase: 'Failed', test: false, trigger: 'onFailure' }, false],
  [
    'a child run that nothing waits for',
    { phase: 'Failed', test: false, trigger: 'workflow', parent: { waits: false } },
    true,
  ],
  [
    'a child run that its parent waits for',
    { phase: 'Failed', test: false, trigger: 'workflow', parent: { waits: true } },
    false,
  ],
  [
    'a child run of an error workflow',
    { phase: 'Failed', test: false, trigger: 'workflow', parent: { waits: false, isAfterFailure: true } },
    false,
  ],
] as const)('%s starts the error workflow: %#', (_name, run, expected) => {
  expect(isReported(run)).toBe(expected);
});

const failed = (id: string, reason: string, endedAt = 1) => ({
  id,
  phase: 'Failed' as const,
  reason,
  endedAt,
});
const run = { run: 'orders-1', workflow: 'orders', trigger: 'webhook' };

test.each([
  [
    'the node that the message names',
    'NodeFailed',
    'node pay: Refused: no',
    [failed('a', 'Refused', 9), failed('pay', 'Refused')],
    'pay',
  ],
  [
    'the node with the reason of a fail node',
    'OutOfStock',
    'sold out',
    [failed('a', 'Refused', 9), failed('stop', 'OutOfStock')],
    'stop',
  ],
  ['no node where the run failed as a whole', 'DataLost', 'lost', [], ''],
])('the event names %s', (_name, reason, message, nodes, node) => {
  expect(failureEvent({ ...run, reason, message, nodes }, { namespace: 'shop' })).toEqual({
    ...run,
    node,
    reason,
    message,
    url: '',
  });
});

test('the event links the page of the run where the console has a URL', () => {
  const { url } = failureEvent(
    { ...run, nodes: [] },
    { namespace: 'shop', consoleUrl: 'https://windlass.example.com' },
  );
  expect(url).toBe('https://windlass.example.com/console/p/shop/runs/orders-1');
});
