import { expect, test } from 'vitest';
import type { Work } from '../../runs/work.ts';
import { decideSleep, remainingWakingMs, type SleepState, type SleepSituation } from './decide.ts';

const MINUTE_MS = 60_000;
const NOTHING: Work = {
  isPending: false,
  isAsked: false,
  dueMs: undefined,
  hasExpired: false,
  activity: '7',
};
const NOW = 100 * MINUTE_MS;
const awake = (quietSince?: number): SleepState => ({ isAsleep: false, quietSince, activity: '7' });
const ASLEEP: SleepState = { isAsleep: true, quietSince: undefined, activity: '7' };

const decide = (before: SleepState, changes: Partial<SleepSituation> = {}, work: Partial<Work> = {}) =>
  decideSleep(before, {
    now: NOW,
    work: { ...NOTHING, ...work },
    hasRunner: true,
    isPolledOften: false,
    sleepAfterMs: 30 * MINUTE_MS,
    ...changes,
  });

test.each<[what: string, before: SleepState, changes: Partial<SleepSituation>, work: Partial<Work>]>([
  ['it was quiet for a shorter time', awake(NOW - 29 * MINUTE_MS), {}, {}],
  ['it has just become quiet', awake(), {}, {}],
  ['a run waits for a runner', awake(NOW - 60 * MINUTE_MS), {}, { isPending: true }],
  ['a parked run is due within a minute', awake(NOW - 60 * MINUTE_MS), {}, { dueMs: MINUTE_MS }],
  ['the operator waits for an answer', awake(NOW - 60 * MINUTE_MS), {}, { isAsked: true }],
  ['a trigger is polled often', awake(NOW - 60 * MINUTE_MS), { isPolledOften: true }, {}],
  ['runs were claimed since the last reading', awake(NOW - 60 * MINUTE_MS), {}, { activity: '8' }],
  ['no runner is available yet', awake(NOW - 60 * MINUTE_MS), { hasRunner: false }, {}],
])('a project stays awake where %s', (_what, before, changes, work) => {
  expect(decide(before, changes, work)).toMatchObject({ isAsleep: false });
});

test('a project falls asleep when it was quiet for the time that is set', () => {
  expect(decide(awake(NOW - 30 * MINUTE_MS))).toMatchObject({ isAsleep: true });
  const far = { dueMs: 2 * MINUTE_MS };
  expect(decide(awake(NOW - 30 * MINUTE_MS), {}, far)).toMatchObject({ isAsleep: true });
});

test('the time counts from the first reading without work, and begins again with work', () => {
  expect(decide(awake())).toMatchObject({ quietSince: NOW });
  expect(decide(awake(NOW - MINUTE_MS))).toMatchObject({ quietSince: NOW - MINUTE_MS });
  expect(decide(awake(NOW - MINUTE_MS), {}, { isPending: true })).toMatchObject({ quietSince: undefined });
  expect(decide(awake(NOW - MINUTE_MS), {}, { activity: '8' })).toMatchObject({ quietSince: NOW });
});

test('requests of the operator do not restart the time, and memories that expire are no work', () => {
  const quiet = awake(NOW - 30 * MINUTE_MS);
  expect(decide(quiet, {}, { isAsked: true })).toMatchObject({ quietSince: NOW - 30 * MINUTE_MS });
  expect(decide(quiet, {}, { hasExpired: true })).toMatchObject({ isAsleep: true });
  expect(decide(ASLEEP, {}, { hasExpired: true })).toMatchObject({ isAsleep: true });
});

test('a sleeping project wakes for a request of the operator, and for a trigger that is polled often', () => {
  expect(decide(ASLEEP, {}, { isAsked: true })).toMatchObject({ isAsleep: false });
  expect(decide(ASLEEP, { isPolledOften: true })).toMatchObject({ isAsleep: false });
});

test('a sleeping project wakes for work, and ten seconds before a parked run is due', () => {
  expect(decide(ASLEEP, {}, { isPending: true })).toMatchObject({ isAsleep: false });
  expect(decide(ASLEEP, {}, { dueMs: 9_999 })).toMatchObject({ isAsleep: false });
  expect(decide(ASLEEP, { hasRunner: false }, { dueMs: 9_999 })).toMatchObject({ isAsleep: false });
});

test('a sleeping project is read again after 30 seconds, or earlier for what is due', () => {
  expect(decide(ASLEEP)).toMatchObject({ isAsleep: true, checkMs: 30_000 });
  expect(decide(ASLEEP, {}, { dueMs: 25_000 })).toMatchObject({ isAsleep: true, checkMs: 15_000 });
  expect(decide(ASLEEP, {}, { dueMs: 3_600_000 })).toMatchObject({ checkMs: 30_000 });
});

test.each([
  ['just now', 0, 60_000],
  ['for 20 seconds', 20_000, 40_000],
  ['for a minute', MINUTE_MS, 0],
  ['for an hour', 60 * MINUTE_MS, 0],
  ['by a clock that is an hour ahead', -60 * MINUTE_MS, 60_000],
])('a project that has been waking %s counts as served for a minute at most', (_what, ageMs, remaining) => {
  expect(remainingWakingMs(NOW - ageMs, NOW)).toBe(remaining);
});
