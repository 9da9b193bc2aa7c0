import { expect, test } from 'vitest';
import { retryAfterMs } from './retryAfter.ts';

const NOON = Date.parse('2026-01-01T12:00:00Z');

test.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' }, 30_000],
  ['a date that has passed', { 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }, 0],
  [
    'a date, by the clock of the server',
    { 'retry-after': 'Fri, 02 Jan 2032 12:00:30 GMT', date: 'Fri, 02 Jan 2032 12:00:00 GMT' },
    30_000,
  ],
  [
    'a date, where that clock is nonsense',
    { 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT', date: 'x' },
    30_000,
  ],
  ['milliseconds', { 'retry-after-ms': '250', 'retry-after': '1' }, 250],
  ['more than a day', { 'retry-after': '99999999' }, 86_400_000],
  ['nonsense', { 'retry-after': 'soon' }, undefined],
  ['nothing', {}, undefined],
])('%s', (_what, headers, expected) => {
  expect(retryAfterMs(headers as Record<string, string>, NOON)).toBe(expected);
});
