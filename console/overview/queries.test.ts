import { expect, test } from 'vitest';
import { usageOf } from './queries.ts';

const spec = { workflow: 'orders' };
const metadata = { name: 'r', creationTimestamp: '2026-01-05T09:30:00Z' };

test('the tokens of all nodes of a run are summed at its start time', () => {
  const nodes = [
    { id: 'a', phase: 'Succeeded' as const, usage: { inputTokens: 10, outputTokens: 2 } },
    { id: 'b', phase: 'Succeeded' as const },
    { id: 'c', phase: 'Failed' as const, usage: { inputTokens: 5 } },
  ];
  expect(usageOf({ metadata, spec, status: { startTime: '2026-01-05T09:31:00Z', nodes } })).toEqual([
    { at: Date.UTC(2026, 0, 5, 9, 31), input: 15, output: 2 },
  ]);
  expect(usageOf({ metadata, spec, status: { nodes } })[0]?.at).toBe(Date.UTC(2026, 0, 5, 9, 30));
});

test('a run without model calls has no usage', () => {
  expect(usageOf({ metadata, spec })).toEqual([]);
  expect(usageOf({ metadata, spec, status: { nodes: [{ id: 'a', phase: 'Succeeded' }] } })).toEqual([]);
});

test('what a run kept of the run that it continues counts there only', () => {
  const used = (completionTime: string, inputTokens: number) => ({
    id: `n${inputTokens}`,
    phase: 'Succeeded' as const,
    completionTime,
    usage: { inputTokens, outputTokens: 1 },
  });
  const times = { acceptedTime: '2026-01-05T09:30:00Z', startTime: '2026-01-05T09:30:01Z' };
  const nodes = [used('2026-01-05T09:20:00Z', 51), used('2026-01-05T09:30:02Z', 7)];
  const at = Date.parse(times.startTime);
  const of = (resume: boolean) =>
    usageOf({ metadata, spec: { ...spec, resume }, status: { ...times, nodes } });
  expect(of(true)).toEqual([{ at, input: 7, output: 1 }]);
  expect(of(false)).toEqual([{ at, input: 58, output: 2 }]);
  const kept = { ...times, nodes: nodes.slice(0, 1) };
  expect(usageOf({ metadata, spec: { ...spec, resume: true }, status: kept })).toEqual([]);
});
