import { afterEach, describe, expect, test, vi } from 'vitest';
import type { RunItem } from '../../api/runView.ts';
import { readRuns, usageOf } from './queries.ts';

afterEach(() => vi.unstubAllGlobals());

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

describe('the runs of a workflow', () => {
  const since = Date.UTC(2026, 0, 5);
  const run = (name: string, acceptedTime: string): RunItem => ({
    run: name,
    workflow: 'orders',
    phase: 'Succeeded',
    acceptedTime,
  });
  const today = run('a', '2026-01-05T09:00:00Z');
  const before = run('b', '2026-01-04T09:00:00Z');

  /** Reads from a gateway with a page for each of these lists, and endless older ones. */
  async function readFrom(lists: RunItem[][], open: number) {
    const asked: string[] = [];
    vi.stubGlobal('fetch', (path: string) => {
      asked.push(path);
      return Promise.resolve(
        Response.json({ items: lists[asked.length - 1] ?? [before], continue: `after-${asked.length}` }),
      );
    });
    const { signal } = new AbortController();
    const read = await readRuns('shop', [{ name: 'orders', open }], { since, signal });
    return { ...read, runs: read.runs.map((counted) => counted.run), pages: asked.length };
  }

  test('are read to the end of the period', async () => {
    const read = await readFrom([[today], [{ ...today, run: 'c' }, before]], 0);
    expect(read).toMatchObject({ runs: ['a', 'c'], isAll: true, pages: 2 });
    expect(read.unfinished.get('orders')).toEqual({ running: 0, waiting: 0, tests: 0 });
  });

  test('are read one page further where the status has unfinished ones that may have ended since', async () => {
    const read = await readFrom([[today, before]], 3);
    expect(read).toMatchObject({ runs: ['a'], isAll: true, pages: 2 });
    expect(read.unfinished.has('orders')).toBe(false);
  });
});
