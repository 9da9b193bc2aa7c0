import { expect, test } from 'vitest';
import { brokenBy, isComplete, type ScheduledRun } from '../../faults/scheduleChecker.ts';

const [nine, later] = [Date.parse('2026-03-02T09:00:00Z'), Date.parse('2026-03-02T09:01:00Z')] as const;
const run = (schedule: string, time: number, more: Partial<ScheduledRun> = {}): ScheduledRun => ({
  run: `${schedule}-${time}`,
  schedule,
  phase: 'Succeeded',
  time,
  acceptedAt: time + 3_000,
  ...more,
});
const good = [run('a', nine), run('a', later), run('b', nine), run('b', later)];
const startsOf = (runs: ScheduledRun[]) =>
  runs.map(({ schedule, time }): [string, number] => [`${schedule} ${time}`, time + 1_000]);
const evidenceOf = (runs: ScheduledRun[], starts = startsOf(runs)) => ({
  schedules: ['a', 'b'],
  times: [nine, later],
  runs,
  starts: new Map(starts),
  kills: 6,
});

test('one run for each time of each schedule is what was promised', () => {
  expect(isComplete(evidenceOf(good))).toBe(true);
  expect(brokenBy(evidenceOf([...good, run('c', nine), run('a', nine - 60_000)])).broken).toEqual([]);
});

test.each<[what: string, runs: ScheduledRun[], broken: string]>([
  ['is missing', good.slice(1), 'a at 09:00 has no run'],
  ['comes twice', [...good, run('a', nine, { run: 'again' })], `a at 09:00 has 2 runs: a-${nine}, again`],
  ['fails', [...good.slice(1), run('a', nine, { phase: 'Failed' })], `a at 09:00: run a-${nine} is Failed`],
])('a run that %s is told', (_what, runs, broken) => {
  expect(brokenBy(evidenceOf(runs)).broken).toEqual([broken]);
});

test('ticks that are slow between their start and the run store are told', () => {
  const slow = evidenceOf(good, [...startsOf(good), [`a ${nine}`, nine - 4_000]]);
  expect(brokenBy(slow).broken).toEqual(['from start to submit a tick took 7000 ms (p99)']);
});

test('ticks of which most were not seen to start are told', () => {
  const { broken } = brokenBy(evidenceOf(good, startsOf(good).slice(0, 1)));
  expect(broken).toEqual(['of 4 ticks the start of 1 was seen']);
});
