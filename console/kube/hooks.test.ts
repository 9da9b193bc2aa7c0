import { QueryClient } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { applyRows, watchList, type LiveTable } from './hooks.ts';
import type { Row } from './table.ts';

const row = (uid: string, phase = 'Running'): Row => ({
  metadata: { name: uid, uid },
  cells: { Phase: phase },
});
const table = (...rows: Row[]): LiveTable => ({
  rows,
  columns: ['Phase'],
  resourceVersion: '1',
  more: false,
});
const names = ({ rows }: LiveTable) => rows.map(({ metadata }) => metadata.name);

test('new rows come first, changed rows keep their place, deleted rows disappear', () => {
  const before = table(row('a'), row('b'));
  expect(names(applyRows(before, 'ADDED', [row('c')]))).toEqual(['c', 'a', 'b']);
  expect(applyRows(before, 'MODIFIED', [row('b', 'Failed')]).rows[1]?.cells).toEqual({ Phase: 'Failed' });
  expect(names(applyRows(before, 'DELETED', [row('a')]))).toEqual(['b']);
});

test('a repeated event changes nothing', () => {
  const before = table(row('a'));
  expect(names(applyRows(before, 'ADDED', [row('a')]))).toEqual(['a']);
  expect(names(applyRows(before, 'DELETED', [row('z')]))).toEqual(['a']);
});

test('a list with a refused watch is listed again at intervals, and at once after missed events', async () => {
  vi.useFakeTimers();
  const client = new QueryClient();
  let reads = 0;
  const key = ['table', 'runs'];
  await client.fetchQuery({ queryKey: key, queryFn: () => (reads += 1) });
  const begun: (() => void)[] = [];
  const stop = watchList(client, key, (onExpired) => {
    begun.push(onExpired);
    return { path: '/list', table: true, resourceVersion: '1', onEvent: () => {}, onExpired };
  });
  try {
    begun.at(-1)?.();
    await vi.advanceTimersByTimeAsync(4_000);
    expect([reads, begun.length]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect([reads, begun.length]).toEqual([2, 2]);
    await vi.advanceTimersByTimeAsync(6_000);
    begun.at(-1)?.();
    await vi.advanceTimersByTimeAsync(1);
    expect([reads, begun.length]).toEqual([3, 3]);
  } finally {
    stop();
    client.clear();
    vi.useRealTimers();
  }
});
