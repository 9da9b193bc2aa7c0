import { expect, test } from 'vitest';
import {
  errorOf,
  filtered,
  hasUnlisted,
  noMatchAdvice,
  runFilters,
  runOfRow,
  type ListedRun,
  type RunFilters,
} from './filters.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const HOUR = 3_600_000;
const run = (name: string, more: Partial<ListedRun> = {}): ListedRun => ({
  run: name,
  workflow: 'orders',
  phase: 'Succeeded',
  trigger: 'webhook',
  test: false,
  at: NOW - HOUR * 2,
  isSummary: false,
  ...more,
});

const RUNS = [
  run('a', { at: NOW - 60_000 }),
  run('b', { phase: 'Failed', message: 'Node mail: no answer', reason: 'NodeFailed' }),
  run('c', { workflow: 'letters', trigger: 'schedule', at: NOW - HOUR * 30 }),
  run('d', { test: true, at: NOW, parent: 'a' }),
];

test.each<[RunFilters, string[]]>([
  [{}, ['d', 'a', 'b', 'c']],
  [{ phase: 'Failed' }, ['b']],
  [{ workflow: 'letters' }, ['c']],
  [{ trigger: 'webhook', test: 'none' }, ['a', 'b']],
  [{ test: 'only' }, ['d']],
  [{ within: 'hour' }, ['d', 'a']],
  [{ within: 'day' }, ['d', 'a', 'b']],
  [{ within: 'week' }, ['d', 'a', 'b', 'c']],
  [{ parent: 'a' }, ['d']],
  [{ text: ' NO ANSWER ' }, ['b']],
  [{ text: 'letters', phase: 'Failed' }, []],
])('with %j the runs are, newest first: %j', (filters, names) => {
  expect(filtered(RUNS, filters, NOW).map((one) => one.run)).toEqual(names);
});

test('filters are read from the URL, and invalid values are dropped', () => {
  expect(
    runFilters({ phase: 'Failed', workflow: 'orders', within: 'day', test: 'only', parent: 'a' }),
  ).toEqual({
    phase: 'Failed',
    workflow: 'orders',
    within: 'day',
    test: 'only',
    parent: 'a',
  });
  expect(runFilters({ phase: 'Flying', workflow: 3, text: '', within: 'year', test: 'true' })).toEqual({});
});

test('a run that succeeded tells that items of it failed', () => {
  const listed = (cells: object) =>
    runOfRow({ metadata: { name: 'a' }, cells: { Workflow: 'orders', Phase: 'Succeeded', ...cells } });
  const partial = listed({ 'Failed items': 3 });
  expect(partial.hasFailures).toBe(true);
  expect(errorOf(partial)).toBe('Some items failed');
  expect(filtered([partial, listed({})], { text: 'items failed' }, NOW)).toEqual([partial]);
  expect(errorOf(listed({}))).toBe('');
  const failed = listed({ Phase: 'Failed', 'Failed items': 3, Message: 'Node each: item 0 failed' });
  expect(failed.hasFailures).toBeUndefined();
  expect(errorOf(failed)).toBe('Node each: item 0 failed');
});

test('a row is a run; without a status it is pending', () => {
  const metadata = { name: 'orders-1', creationTimestamp: '2026-01-01T00:00:00Z' };
  expect(runOfRow({ metadata, cells: { Workflow: 'orders' } })).toMatchObject({
    run: 'orders-1',
    phase: 'Pending',
    workflow: 'orders',
    test: false,
    at: Date.parse('2026-01-01T00:00:00Z'),
  });
  const cells = { Phase: 'Failed', Test: 'true', Accepted: '2026-01-01T01:00:00Z', 'Retry of': 'orders-0' };
  const labels = { 'windlass.dev/parent': 'orders-2' };
  expect(runOfRow({ metadata: { ...metadata, labels }, cells })).toMatchObject({
    phase: 'Failed',
    test: true,
    retryOf: 'orders-0',
    parent: 'orders-2',
    isBuild: false,
    at: Date.parse('2026-01-01T01:00:00Z'),
  });
  const asks = { metadata: { ...metadata, labels: { 'windlass.dev/help-me-build': 'true' } }, cells };
  expect(runOfRow(asks).isBuild).toBe(true);
});

test.each([
  ['as many runs as are listed', { succeeded: 1, failed: 1 }, false],
  ['fewer runs, since the newest are not counted yet', { succeeded: 0, failed: 1 }, false],
  ['more runs', { succeeded: 2, failed: 1 }, true],
])('a workflow of which %s ended has older runs: %s', (_what, { succeeded, failed }, expected) => {
  expect(hasUnlisted(RUNS, [{ name: 'orders', succeeded, failed }])).toBe(expected);
});

test('the list finds a failed condition as it shows it', () => {
  const message = 'edge a → b: when: n is a text';
  const found = (text: string) => filtered([run('a', { phase: 'Failed', message })], { text }, NOW);
  expect([found('connection a → b'), found('n is a text')].map((runs) => runs.length)).toEqual([1, 1]);
});

test.each<[RunFilters, string]>([
  [{ text: 'ada' }, 'Search for something else.'],
  [{ phase: 'Failed', text: 'ada' }, 'Remove a filter.'],
  [{ within: 'day' }, 'Remove a filter or choose a longer time.'],
])('the advice where no run matches %j is: %s', (filters, advice) => {
  expect(noMatchAdvice(filters)).toBe(advice);
});
