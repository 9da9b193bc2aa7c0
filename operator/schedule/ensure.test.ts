import { expect, test } from 'vitest';
import { nextScheduleCheckMs, type ScheduleFacts } from './ensure.ts';

const now = new Date('2026-03-02T09:00:00Z');

test.each([
  ['no time is to come', undefined, undefined],
  ['nothing comes any more', {}, undefined],
  ['a time comes in an hour', { next: '2026-03-02T10:00:00Z' }, 3_661_000],
  ['a time is due', { next: '2026-03-02T09:00:00Z' }, 61_000],
  ['a time was missed', { next: '2026-03-01T09:00:00Z' }, 1_000],
])('where %s the times are computed again then', (_what, times, ms) => {
  expect(nextScheduleCheckMs(times, undefined, now)).toBe(ms);
});

const failingFrom = (from: string): ScheduleFacts => ({
  kind: 'placed',
  cronJob: 'report-1',
  rules: { cron: '0 9 * * *', timeZone: 'UTC' },
  failing: { since: 0, from: Date.parse(from) },
});

test.each([
  ['when it will be said to fail', '2026-03-02T09:07:00Z', 421_000],
  ['at its next time, where that was said', '2026-03-02T08:07:00Z', 3_661_000],
])('of a tick that may have failed one checks again %s', (_what, from, ms) => {
  expect(nextScheduleCheckMs({ next: '2026-03-02T10:00:00Z' }, failingFrom(from), now)).toBe(ms);
});
