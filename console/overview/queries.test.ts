import { expect, test } from 'vitest';
import { usageOf } from './queries.ts';

const metadata = { name: 'r', creationTimestamp: '2026-01-05T09:30:00Z' };

test('the tokens of all nodes of a run are summed at its start time', () => {
  const nodes = [
    { id: 'a', phase: 'Succeeded' as const, usage: { inputTokens: 10, outputTokens: 2 } },
    { id: 'b', phase: 'Succeeded' as const },
    { id: 'c', phase: 'Failed' as const, usage: { inputTokens: 5 } },
  ];
  expect(usageOf({ metadata, status: { startTime: '2026-01-05T09:31:00Z', nodes } })).toEqual([
    { at: Date.UTC(2026, 0, 5, 9, 31), input: 15, output: 2 },
  ]);
  expect(usageOf({ metadata, status: { nodes } })[0]?.at).toBe(Date.UTC(2026, 0, 5, 9, 30));
});

test('a run without model calls has no usage', () => {
  expect(usageOf({ metadata })).toEqual([]);
  expect(usageOf({ metadata, status: { nodes: [{ id: 'a', phase: 'Succeeded' }] } })).toEqual([]);
});
