import { expect, test } from 'vitest';
import { totalsOf } from './counts.ts';

const counts = { succeeded: 3, failed: 2, cancelled: 1, active: 4, running: 1, waiting: 3 };
const last = '2026-01-02T03:04:05.000Z';

test('what was cancelled counts as failed, and the last run is when its event was accepted', () => {
  expect(totalsOf({ ...counts, lastAcceptedAt: Date.parse(last) })).toEqual({
    succeeded: 3,
    failed: 3,
    active: 4,
    running: 1,
    waiting: 3,
    last,
  });
});

test('a run store that has lost its data does not make the last run unknown', () => {
  expect(totalsOf(counts, { succeeded: 9, failed: 0, active: 0, last })).toMatchObject({
    succeeded: 3,
    last,
  });
  expect(totalsOf(counts)).toEqual({ succeeded: 3, failed: 3, active: 4, running: 1, waiting: 3 });
});
