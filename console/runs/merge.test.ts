import { expect, test } from 'vitest';
import type { ListedRun } from './filters.ts';
import { mergeRuns } from './merge.ts';

const recorded: ListedRun = {
  run: 'orders-1',
  workflow: 'orders',
  phase: 'Running',
  trigger: 'webhook',
  test: false,
  at: 1,
  isSummary: false,
};

test('each run is listed once with its record, and the others as summaries', () => {
  const item = { workflow: 'shop.orders', phase: 'Succeeded', acceptedTime: '2026-01-01T00:00:00Z' } as const;
  const runs = mergeRuns(
    [recorded],
    [
      { ...item, run: 'orders-1' },
      { ...item, run: 'orders-0', summary: true },
    ],
  );
  expect(runs).toHaveLength(2);
  expect(runs[0]).toBe(recorded);
  expect(runs[1]).toMatchObject({
    run: 'orders-0',
    workflow: 'orders',
    isSummary: true,
    at: Date.parse('2026-01-01T00:00:00Z'),
  });
});
