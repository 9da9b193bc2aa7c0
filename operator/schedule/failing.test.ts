import { expect, test } from 'vitest';
import type { CronJob } from '../../kube/resource.ts';
import { failingOf } from './failing.ts';

const rules = { cron: '0 9 * * *', timeZone: 'UTC', latestSeconds: 300 };
const cronJobOf = (lastScheduleTime?: string, lastSuccessfulTime?: string): CronJob => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'report-1', creationTimestamp: '2026-03-01T12:00:00Z' },
  status: {
    ...(lastScheduleTime && { lastScheduleTime }),
    ...(lastSuccessfulTime && { lastSuccessfulTime }),
  },
});

test.each([
  ['nothing has fired', undefined, undefined, undefined],
  ['the last tick succeeded', '2026-03-04T09:00:00Z', '2026-03-04T09:00:05Z', undefined],
  ['the last one has not', '2026-03-04T09:00:00Z', '2026-03-03T09:00:05Z', '2026-03-04T09:00:00Z'],
  ['several have not', '2026-03-05T09:00:00Z', '2026-03-03T09:00:05Z', '2026-03-04T09:00:00Z'],
  ['none ever has', '2026-03-04T09:00:00Z', undefined, '2026-03-02T09:00:00Z'],
])('where %s ticks fail since: %4$s', (_what, fired, succeeded, since) => {
  const failing = failingOf(cronJobOf(fired, succeeded), rules);
  expect(failing && new Date(failing.since).toISOString().replace('.000Z', 'Z')).toBe(since);
});

test('a tick has time to succeed before it counts as failing', () => {
  const failing = failingOf(cronJobOf('2026-03-04T09:00:00Z', '2026-03-03T09:00:05Z'), rules);
  expect(new Date(failing?.from ?? 0).toISOString()).toBe('2026-03-04T09:07:00.000Z');
});
