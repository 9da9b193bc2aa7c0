import { expect, test } from 'vitest';
import { totalsOf } from './controller.ts';

const counts = { succeeded: 3, failed: 2, cancelled: 1, active: 4, running: 1, waiting: 3 };
const last = '2026-01-02T03:04:05.000Z';

const none = { succeeded: 0, failed: 0, cancelled: 0, active: 0, running: 0, waiting: 0 };

test('cancelled runs are not counted as failed, and the last run is when its event was accepted', () => {
  const live = { ...counts, lastAcceptedAt: Date.parse(last) };
  expect(totalsOf({ live, test: none })).toEqual({
    runs: { succeeded: 3, failed: 2, cancelled: 1, active: 4, running: 1, waiting: 3, last },
  });
});

test('ended test runs are counted separately, unfinished ones with the others', () => {
  const tests = { ...none, succeeded: 7, cancelled: 2, active: 2, running: 1, waiting: 1 };
  expect(totalsOf({ live: counts, test: { ...tests, lastAcceptedAt: Date.parse(last) } })).toEqual({
    runs: { succeeded: 3, failed: 2, cancelled: 1, active: 6, running: 2, waiting: 4 },
    testRuns: { succeeded: 7, failed: 0, cancelled: 2, last },
  });
});

test('a run store that has lost its data does not make the last run unknown', () => {
  const before = { runs: { succeeded: 9, last }, testRuns: { succeeded: 1, last } };
  expect(totalsOf({ live: counts, test: none }, before)).toEqual({
    runs: { succeeded: 3, failed: 2, cancelled: 1, active: 4, running: 1, waiting: 3, last },
    testRuns: { succeeded: 0, failed: 0, cancelled: 0, last },
  });
});
