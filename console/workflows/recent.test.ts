import { expect, test } from 'vitest';
import type { Row } from '../kube/table.ts';
import { barsText, countedSoFar, heights, recentRuns, type RunBar } from './recent.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 9, 0, second)).toISOString();
const row = (name: string, second: number, cells: Record<string, unknown> = {}): Row => ({
  metadata: { name, uid: name },
  cells: { Workflow: 'orders', Phase: 'Succeeded', Accepted: at(second), ...cells },
});

test('each workflow has its newest 20 runs, oldest first', () => {
  const rows = Array.from({ length: 25 }, (_, at) => row(`r${at}`, at)).toReversed();
  const runs = recentRuns([...rows, row('other', 3, { Workflow: 'mail' })]);
  expect(runs.get('orders')?.map(({ run }) => run)).toEqual(
    Array.from({ length: 20 }, (_, at) => `r${at + 5}`),
  );
  expect(runs.get('mail')?.map(({ run }) => run)).toEqual(['other']);
});

test('a bar has the phase, the duration, and whether items failed and it is a test run', () => {
  const rows = [
    row('a', 1, { Started: at(1), Completed: at(3), Test: true }),
    row('b', 2, { Phase: 'Running', Started: at(2) }),
    row('c', 3, { Phase: undefined }),
    row('d', 4, { 'Failed items': 2 }),
    row('e', 5, { Phase: 'Failed', 'Failed items': 2 }),
  ];
  expect(recentRuns(rows).get('orders')).toMatchObject([
    { run: 'a', phase: 'Succeeded', hasFailures: false, durationMs: 2_000, test: true },
    { run: 'b', phase: 'Running', test: false },
    { run: 'c', phase: 'Pending' },
    { run: 'd', phase: 'Succeeded', hasFailures: true },
    { run: 'e', phase: 'Failed', hasFailures: false },
  ]);
});

test('requests of Help me build do not count as runs of the workflow', () => {
  const asked = row('a', 1, { Phase: 'Failed', Test: true });
  const labels = { 'windlass.dev/help-me-build': 'true' };
  const rows = [{ ...asked, metadata: { ...asked.metadata, labels } }, row('b', 2)];
  expect(
    recentRuns(rows)
      .get('orders')
      ?.map(({ run }) => run),
  ).toEqual(['b']);
});

test('a run without an acceptance time counts from its creation', () => {
  const later = { metadata: { name: 'b', creationTimestamp: at(9) }, cells: { Workflow: 'orders' } };
  expect(
    recentRuns([later, row('a', 1)])
      .get('orders')
      ?.map(({ run }) => run),
  ).toEqual(['a', 'b']);
});

const bar = (phase: RunBar['phase'], durationMs?: number, test = false): RunBar => ({
  run: 'r',
  at: at(1),
  phase,
  hasFailures: false,
  test,
  ...(durationMs !== undefined && { durationMs }),
});

test.each([
  [[], 'No recorded runs'],
  [[bar('Succeeded')], '1 of 1 succeeded'],
  [[bar('Succeeded'), bar('Failed'), bar('Cancelled')], '1 of 3 succeeded, 1 failed, 1 cancelled'],
  [
    [bar('Succeeded'), { ...bar('Succeeded'), hasFailures: true }, bar('Failed')],
    '2 of 3 succeeded, 1 of them with failed items, 1 failed',
  ],
  [[bar('Running'), bar('Pending')], '1 pending, 1 running'],
  [[bar('Succeeded', 1, true), bar('Succeeded', 1, true)], '2 of 2 succeeded, 2 test runs (hollow)'],
])('bars %j are described as "%s"', (bars, text) => {
  expect(barsText(bars)).toBe(text);
});

test('the longest run has the highest bar, and one without a duration the lowest', () => {
  const [long = 0, short = 0, none] = heights([bar('Succeeded', 60_000), bar('Failed', 100), bar('Running')]);
  expect(long).toBe(1);
  expect(short).toBeGreaterThan(0.3);
  expect(none).toBe(0);
});

test('without durations all bars have the same height', () => {
  expect(heights([bar('Running'), bar('Pending')])).toEqual([1, 1]);
});

test('runs that are not counted yet are counted by records, without test runs', () => {
  const runs = recentRuns([
    row('a', 1),
    row('b', 2, { Phase: 'Failed' }),
    row('c', 3, { Test: true }),
    row('d', 4, { Phase: 'Running' }),
  ]);
  const fresh = { name: 'orders', succeeded: 0, failed: 0 };
  const counted = { name: 'orders', succeeded: 40, failed: 0, lastRun: at(1) };
  const [first, second] = countedSoFar([fresh, counted], runs);
  expect(first).toEqual({ ...fresh, succeeded: 1, failed: 1, lastRun: at(4) });
  expect(second).toBe(counted);
});

test('a workflow whose only run has not ended stays the same', () => {
  const waiting = { name: 'orders', succeeded: 0, failed: 0, lastRun: at(1) };
  const runs = recentRuns([row('a', 1, { Phase: 'Waiting' })]);
  expect(countedSoFar([waiting], runs)[0]).toBe(waiting);
});

test('a workflow whose runs are all tests has no last run', () => {
  const fresh = { name: 'orders', succeeded: 0, failed: 0 };
  const runs = recentRuns([row('a', 1, { Test: true })]);
  expect(countedSoFar([fresh], runs)).toEqual([fresh]);
});
