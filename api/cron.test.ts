import { expect, test } from 'vitest';
import { CRON_FIELDS } from './cron.ts';

const pattern = new RegExp(`^${CRON_FIELDS}$`);

test.each([
  '* * * * *',
  '*/5 * * * *',
  '0 9 * * 1-5',
  '0,30 8-18/2 1 JAN,jul mon',
  '59 23 31 12 6',
  '05 09 01 01 00',
  '? ? ? ? ?',
])('%s is a schedule', (cron) => {
  expect(cron).toMatch(pattern);
});

test.each([
  '',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * 32 * *',
  '* * * 13 *',
  '* * * * 7',
  '*/0 * * * *',
  '@every 90s',
  '@daily',
  '* * L * *',
  '* * * * 5#2',
  'TZ=UTC * * * * *',
  '-1 * * * *',
  '1- * * * *',
])('%s is refused, as a CronJob refuses it', (cron) => {
  expect(cron).not.toMatch(pattern);
});
