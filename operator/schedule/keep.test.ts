import { expect, test } from 'vitest';
import { nextTimesMs } from './keep.ts';

const now = new Date('2026-03-02T09:00:00Z');

test.each([
  ['no time is to come', undefined, undefined],
  ['nothing comes any more', {}, undefined],
  ['a time comes in an hour', { next: '2026-03-02T10:00:00Z' }, 3_661_000],
  ['a time is due', { next: '2026-03-02T09:00:00Z' }, 61_000],
  ['a time was missed', { next: '2026-03-01T09:00:00Z' }, 1_000],
])('where %s the times are computed again then', (_what, times, ms) => {
  expect(nextTimesMs(times, now)).toBe(ms);
});
