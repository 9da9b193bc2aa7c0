import { expect, test } from 'vitest';
import { describeCron } from './cron.ts';

const now = Date.parse('2026-11-22T10:00:00Z');

test.each([
  ['0 9 * * 1-5', 'At 09:00, Monday through Friday', '2026-11-23T08:00:00.000Z'],
  ['*/15 * * * *', 'Every 15 minutes', '2026-11-22T10:15:00.000Z'],
])('%s in Berlin is described as %s', (cron, words, first) => {
  const said = describeCron(cron, 'Europe/Berlin', now, 5);
  expect(said).toMatchObject({ ok: true, words });
  expect(said.ok && said.times.map((time) => new Date(time).toISOString())).toMatchObject({
    length: 5,
    0: first,
  });
});

test.each([
  ['0 0 30 2 *', 'UTC', 'never fires'],
  ['5-1 * * * *', 'UTC', 'is reversed'],
  ['* * * * *', 'Europe/Atlantis', 'unknown time zone'],
])('%s in %s is reported as invalid', (cron, zone, message) => {
  expect(describeCron(cron, zone, now, 5)).toEqual({ ok: false, message: expect.stringContaining(message) });
});
