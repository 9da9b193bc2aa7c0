/** What nodes have sent, in the record. */
import { expect, test } from 'vitest';
import { runStatus } from '../../api/run.ts';
import type { NodeState } from '../types/node.ts';
import type { RunState } from '../types/run.ts';
import { RECORD_LIMITS, storedBytes, toRecord } from './record.ts';

const run = (nodes: NodeState[]): RunState => ({
  run: 'orders-1',
  project: 'project',
  workflow: 'orders',
  workflowUid: 'uid',
  group: 'uid',
  revision: 'orders-abc',
  trigger: 'webhook',
  test: false,
  phase: 'Failed',
  epoch: 1,
  sequence: 1,
  acceptedAt: 0,
  endedAt: 1,
  cancelRequested: false,
  crashes: 0,
  input: '',
  nodes,
});
const node = (id: string, changes: Partial<NodeState>): NodeState => ({
  id,
  phase: 'Failed',
  attempts: 1,
  ...changes,
});
const missing = { reference: '$vars.a', at: '$vars', type: 'object', size: 2, keys: ['b', 'c'] } as const;

test('sent parameters and what a reference found are recorded', () => {
  const shown = { sent: { parameters: { to: null }, truncated: true as const }, missing };
  const { status } = toRecord(run([node('mail', { ...shown, missing: { ...missing, keys: ['b', 'c'] } })]));
  expect(status.nodes).toMatchObject([{ id: 'mail', ...shown }]);
  expect(() => runStatus.parse(status)).not.toThrow();
});

test('all nodes together show at most 64 KiB, those first that come first', () => {
  const nodes = Array.from({ length: 100 }, (_, index) =>
    node(`n${index}`, {
      sent: { parameters: { body: '<'.repeat(1_000) } },
      missing: { ...missing, keys: Array.from({ length: 20 }, () => '<'.repeat(64)) },
    }),
  );
  const { status } = toRecord(run(nodes));
  const shown = (status.nodes ?? []).map(({ sent, missing: found }) => ({ sent, found }));
  expect(storedBytes(shown)).toBeLessThan(1.1 * RECORD_LIMITS.maxSentBytes);
  expect(shown[0]?.sent).toBeDefined();
  expect(shown.at(-1)).toEqual({ sent: undefined, found: undefined });
});
