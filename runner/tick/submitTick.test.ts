import { expect, test } from 'vitest';
import type { TickConfig } from './config.ts';
import { tickOf } from './submitTick.ts';

const config: TickConfig = {
  project: 'project-1',
  workflow: 'report',
  workflowUid: 'uid-1',
  revision: 'report-abc',
  cronJob: 'report-1a2b3c',
  job: 'report-1a2b3c-29400000',
  jobUid: 'job-uid-1',
  timeZone: 'Europe/Berlin',
  latestSeconds: 300,
  store: { url: 'redis://store:6379' },
};
const firedAt = Date.parse('2025-11-24T16:00:02.345Z');

test('the event is the minute for which the controller made the Job', () => {
  const { submission, scheduledAt } = tickOf(config, firedAt);
  expect(scheduledAt).toBe(Date.parse('2025-11-24T16:00:00Z'));
  expect(submission).toMatchObject({ trigger: 'schedule', dedupeKey: 'schedule/2025-11-24T16:00:00Z' });
  expect(JSON.parse(submission.input)).toEqual({
    text_content: '2025-11-24T16:00:00Z',
    data_content: {
      scheduled_time: '2025-11-24T16:00:00Z',
      fired_time: '2025-11-24T16:00:02.345Z',
      time_zone: 'Europe/Berlin',
    },
  });
});

test('a repeated execution submits the same event', () => {
  const [first, again] = [firedAt, firedAt + 90_000].map((at) => tickOf(config, at).submission);
  expect(again).toMatchObject({ dedupeKey: first?.dedupeKey, bodyHash: first?.bodyHash });
});

test.each([
  'by-hand',
  'report-1a2b3c-manual',
  'report-1a2b3c',
  'other-29400000',
  // The time of a Job of the controller has come.
  'report-1a2b3c-29400005',
  'report-1a2b3c-999999999999',
])('a manually created Job, %s, is a separate event for the current time', (job) => {
  const { submission, scheduledAt } = tickOf({ ...config, job }, firedAt);
  expect(submission.dedupeKey).toBe('job/job-uid-1');
  expect(scheduledAt).toBe(Date.parse('2025-11-24T16:00:02Z'));
});

test('the clock of a node may be a little behind the controller', () => {
  const early = Date.parse('2025-11-24T15:59:30Z');
  expect(tickOf(config, early).submission.dedupeKey).toBe('schedule/2025-11-24T16:00:00Z');
});
