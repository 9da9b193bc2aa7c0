import { expect, test } from 'vitest';
import {
  beginOf,
  causeOf,
  detailOf,
  durationAxis,
  durations,
  percentile,
  PERIODS,
  spread,
  throughput,
  tokens,
  totals,
  totalsText,
  testsAmong,
  unfinishedIn,
  withUnfinished,
  type CountedRun,
  type Period,
} from './statistics.ts';

const HOUR = 3_600_000;
const period: Period = { id: '24h', label: 'three hours', stepMs: HOUR, steps: 3 };
/** Half past twelve: the steps begin at 10, 11 and 12. */
const now = Date.UTC(2026, 0, 5, 12, 30);
const at = (hour: number, minute = 0) => Date.UTC(2026, 0, 5, hour, minute);
const run = (parts: Partial<CountedRun>): CountedRun => ({
  run: 'r',
  workflow: 'orders',
  phase: 'Succeeded',
  acceptedAt: at(12),
  ...parts,
});

test('a period is aligned to steps and ends with the current one', () => {
  expect(beginOf(period, now)).toBe(at(10));
  expect(beginOf(period, at(12))).toBe(at(10));
  expect(beginOf(period, at(12) - 1)).toBe(at(9));
  expect(PERIODS.map(({ stepMs, steps }) => (stepMs * steps) / HOUR)).toEqual([24, 168]);
});

test('runs count in the step of their acceptance, by result', () => {
  const runs = [
    run({ acceptedAt: at(10) }),
    run({ acceptedAt: at(10, 59), phase: 'Failed' }),
    run({ acceptedAt: at(11), phase: 'Cancelled' }),
    run({ acceptedAt: at(12, 30), phase: 'Running' }),
    run({ acceptedAt: at(12, 10), phase: 'Waiting' }),
    run({ acceptedAt: at(9, 59) }),
    run({ acceptedAt: at(13) }),
  ];
  const counted = throughput(runs, period, now);
  const none = { succeeded: 0, failed: 0, cancelled: 0, open: 0 };
  expect(counted).toEqual([
    { ...none, at: at(10), succeeded: 1, failed: 1 },
    { ...none, at: at(11), cancelled: 1 },
    { ...none, at: at(12), open: 2 },
  ]);
  expect(totals(counted)).toEqual({ runs: 5, succeeded: 1, failed: 1, cancelled: 1, open: 2 });
});

test.each([
  [[], 0.5, undefined],
  [[7], 0.95, 7],
  [[4, 1, 3, 2], 0.5, 2],
  [Array.from({ length: 100 }, (_, value) => value + 1), 0.95, 95],
])('for %j the percentile %d is at most %s', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
});

test('durations count in the step of the end, from the start of execution, without cancelled runs', () => {
  const formatDuration = (seconds: number, end: number, parts: Partial<CountedRun> = {}) =>
    run({ startedAt: end - seconds * 1_000, endedAt: end, ...parts });
  const runs = [
    formatDuration(1, at(11)),
    formatDuration(3, at(11, 30)),
    formatDuration(90, at(11, 30), { phase: 'Cancelled' }),
    run({ phase: 'Running', startedAt: at(12) }),
    formatDuration(2, at(12), { phase: 'Failed' }),
  ];
  expect(durations(runs, period, now)).toEqual([
    { at: at(10) },
    { at: at(11), p50: 1_000, p95: 3_000 },
    { at: at(12), p50: 2_000, p95: 2_000 },
  ]);
  expect(spread(runs)).toEqual({ p50: 2_000, p95: 3_000 });
});

test('tokens count in the step of the start', () => {
  const usages = [
    { at: at(10), input: 10, output: 1 },
    { at: at(10, 1), input: 5, output: 2 },
    { at: at(8), input: 100, output: 100 },
  ];
  expect(tokens(usages, period, now)).toEqual([
    { at: at(10), input: 15, output: 3 },
    { at: at(11), input: 0, output: 0 },
    { at: at(12), input: 0, output: 0 },
  ]);
});

test.each([
  ['NodeFailed', 'node call: Unreachable: no connection', { reason: 'Unreachable', node: 'call' }],
  ['NodeFailed', 'node call failed', { reason: 'NodeFailed' }],
  ['RunTimeout', 'node call: Unreachable: no connection', { reason: 'RunTimeout' }],
  [undefined, undefined, { reason: 'NodeFailed' }],
])('reason %s with "%s" is the cause %j', (reason, message, cause) => {
  expect(causeOf({ ...(reason && { reason }), ...(message && { message }) })).toEqual(cause);
});

test.each([
  ['node ask: Unreachable: no connection with shop:80', 'no connection with shop:80'],
  ['the run took longer than 60 s', 'the run took longer than 60 s'],
  [undefined, undefined],
])('the detail does not repeat the cause: %s', (message, detail) => {
  expect(detailOf({ reason: 'NodeFailed', ...(message && { message }) })).toBe(detail);
});

test('all numbers of the totals have the same format, without those that are zero', () => {
  const all = { runs: 1_622, succeeded: 1_613, failed: 5, cancelled: 0, open: 4 };
  expect(totalsText(all)).toBe('1,622 runs: 1,613 succeeded, 5 failed, 4 unfinished.');
  expect(totalsText({ runs: 0, succeeded: 0, failed: 0, cancelled: 0, open: 0 })).toBe('No runs.');
});

test('unfinished runs of a list replace the older count of the status, and tell their test runs', () => {
  const read = unfinishedIn([
    { phase: 'Running' },
    { phase: 'Waiting', test: true },
    { phase: 'Pending' },
    { phase: 'Succeeded', test: true },
    { phase: 'Failed' },
  ]);
  expect(read).toEqual({ running: 1, waiting: 2, tests: 1 });
  const items = [
    { name: 'orders', running: 7, waiting: 0 },
    { name: 'unread', running: 0, waiting: 4 },
  ];
  expect(withUnfinished(items, new Map([['orders', read]]))).toEqual([
    { name: 'orders', running: 1, waiting: 2, tests: 1 },
    { name: 'unread', running: 0, waiting: 4 },
  ]);
});

test.each([
  [0, ['0 ms', '1 ms']],
  [43, ['0 ms', '20 ms', '40 ms', '60 ms']],
  [650, ['0 ms', '200 ms', '400 ms', '600 ms', '800 ms']],
  [1_000, ['0 s', '0.5 s', '1 s']],
  [2_600, ['0 s', '1 s', '2 s', '3 s']],
  [95_000, ['0 min', '0.5 min', '1 min', '1.5 min', '2 min']],
  [3 * 24 * HOUR, ['0 h', '20 h', '40 h', '60 h', '80 h']],
])('the axis of durations up to %d ms has one unit and round steps', (most, texts) => {
  const { ticks, text } = durationAxis(most);
  expect(ticks.map(text)).toEqual(texts);
});

test.each([
  { items: [], tests: 0 },
  {
    items: [
      { running: 1, waiting: 2, tests: 1 },
      { running: 0, waiting: 4, tests: 2 },
    ],
    tests: 3,
  },
  {
    items: [
      { running: 1, waiting: 2, tests: 1 },
      { running: 0, waiting: 0 },
    ],
    tests: 1,
  },
  {
    items: [
      { running: 1, waiting: 2, tests: 1 },
      { running: 0, waiting: 4 },
    ],
    tests: undefined,
  },
])('unfinished test runs are counted where all are known: $tests', ({ items, tests }) => {
  expect(testsAmong(items)).toBe(tests);
});
