import { expect, test } from 'vitest';
import { parseSchedule } from './times.ts';
import { localTimeOf } from './zone.ts';

function times(cron: string, timeZone: string, after: string, count: number): string[] {
  const schedule = parseSchedule(cron, timeZone);
  const found: string[] = [];
  for (let time = schedule.next(Date.parse(after)); time !== undefined && found.length < count; ) {
    found.push(new Date(time).toISOString().slice(0, 16));
    time = schedule.next(time);
  }
  return found;
}

// What the CronJob controller does in the hours of a clock change, by its own parser (see the differential
// test).
test.each<[what: string, cron: string, timeZone: string, after: string, fires: string[]]>([
  [
    'in spring a time that does not exist is left out',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-27T12:00Z',
    ['2026-03-28T01:30', '2026-03-30T00:30'],
  ],
  [
    'in autumn a time that comes twice fires twice',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T12:00Z',
    ['2026-10-25T00:30', '2026-10-25T01:30', '2026-10-26T01:30'],
  ],
  [
    'the hours around it go on in spring',
    '*/30 1-3 * * *',
    'Europe/Berlin',
    '2026-03-28T23:30Z',
    ['2026-03-29T00:00', '2026-03-29T00:30', '2026-03-29T01:00', '2026-03-29T01:30', '2026-03-29T23:00'],
  ],
  [
    'the hours around it go on in autumn',
    '*/30 1-3 * * *',
    'Europe/Berlin',
    '2026-10-24T22:59Z',
    ['2026-10-24T23:00', '2026-10-24T23:30', '2026-10-25T00:00', '2026-10-25T00:30', '2026-10-25T01:00'],
  ],
  [
    'New York in spring',
    '30 2 * * *',
    'America/New_York',
    '2026-03-07T00:00Z',
    ['2026-03-07T07:30', '2026-03-09T06:30'],
  ],
  [
    'New York in autumn',
    '30 1 * * *',
    'America/New_York',
    '2026-10-31T12:00Z',
    ['2026-11-01T05:30', '2026-11-01T06:30', '2026-11-02T06:30'],
  ],
  [
    'Lord Howe, by half an hour, in spring',
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-02T00:00Z',
    ['2026-10-02T15:45', '2026-10-04T15:15'],
  ],
  [
    'Lord Howe in spring: the first whole hour after the change is left out, too',
    '0 3 * * *',
    'Australia/Lord_Howe',
    '2026-10-02T00:00Z',
    ['2026-10-02T16:30', '2026-10-04T16:00'],
  ],
  [
    'Lord Howe in autumn',
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-04T00:00Z',
    ['2026-04-04T14:45', '2026-04-04T15:15', '2026-04-05T15:15'],
  ],
  [
    'a midnight that does not exist',
    '0 0 * * *',
    'America/Havana',
    '2026-03-06T12:00Z',
    ['2026-03-07T05:00', '2026-03-09T04:00'],
  ],
])('%s', (_what, cron, timeZone, after, fires) => {
  expect(times(cron, timeZone, after, fires.length)).toEqual(fires);
});

test.each([
  ['* * * * *', ['2026-01-01T00:01', '2026-01-01T00:02']],
  ['0 9 * * 1-5', ['2026-01-01T09:00', '2026-01-02T09:00', '2026-01-05T09:00']],
  ['0 0 13 * fri', ['2026-01-02T00:00', '2026-01-09T00:00', '2026-01-13T00:00']],
  ['0 0 */2 * fri', ['2026-01-02T00:00', '2026-01-03T00:00', '2026-01-05T00:00']],
  ['0 0 29 2 *', ['2028-02-29T00:00']],
  ['5/20 3 1 jan,JUL ?', ['2026-01-01T03:05', '2026-01-01T03:25', '2026-01-01T03:45', '2026-07-01T03:05']],
])('%s fires at its times', (cron, fires) => {
  expect(times(cron, 'UTC', '2026-01-01T00:00:30Z', fires.length)).toEqual(fires);
});

test('a day that no year has never comes', () => {
  expect(parseSchedule('0 0 30 2 *', 'UTC').next(Date.UTC(2026, 0, 1))).toBeUndefined();
});

test.each([
  ['5-1 * * * *', 'UTC', 'the range 5-1 is reversed'],
  ['* * * * fri-mon', 'UTC', 'the range fri-mon is reversed'],
  ['* * * * *', 'Europe/Atlantis', 'unknown time zone Europe/Atlantis'],
  ['* * * * *', 'europe/berlin', 'unknown time zone europe/berlin'],
  ['* * * * *', '+01:00', 'unknown time zone +01:00'],
])('%s in %s is refused: %s', (cron, timeZone, message) => {
  expect(() => parseSchedule(cron, timeZone)).toThrow(message);
});

test.each([
  ['UTC', '2026-07-01T08:00:00Z', '2026-07-01T08:00:00Z'],
  ['Europe/Berlin', '2026-07-01T08:00:00Z', '2026-07-01T10:00:00+02:00'],
  ['Europe/Berlin', '2026-12-31T23:30:05.9Z', '2027-01-01T00:30:05+01:00'],
  ['America/St_Johns', '2026-01-01T00:00:00Z', '2025-12-31T20:30:00-03:30'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01T05:45:00+05:45'],
  ['Europe/London', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
])('the local time in %s at %s is %s', (timeZone, time, local) => {
  expect(localTimeOf(Date.parse(time), timeZone)).toBe(local);
});
