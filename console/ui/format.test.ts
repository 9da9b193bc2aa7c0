import { expect, test } from 'vitest';
import { ago, capitalized, count, countShown, formatDuration, uncapitalized } from './format.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');

test.each([
  ['2026-11-22T11:59:58Z', 'just now'],
  ['2026-11-22T11:57:00Z', '3 minutes ago'],
  ['2026-11-22T14:00:00Z', 'in 2 hours'],
  ['2026-11-20T12:00:00Z', '2 days ago'],
])('%s is "%s"', (time, text) => {
  expect(ago(time, NOW)).toBe(text);
});

test.each([
  [12.4, '12 ms'],
  [3_210, '3.2 s'],
  [42_000, '42 s'],
  [245_000, '4 min 5 s'],
  [7_380_000, '2 h 3 min'],
])('%d ms is "%s"', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('one item is singular', () => {
  expect([count(1, 'run'), count(1_204, 'run'), count(0, 'entry', 'entries')]).toEqual([
    '1 run',
    '1,204 runs',
    '0 entries',
  ]);
});

test('the number of what is shown tells of how many, if others are not', () => {
  expect([countShown(27, 27, 'run'), countShown(1_003, 1_204, 'run')]).toEqual([
    '27 runs',
    '1,003 of 1,204 runs',
  ]);
});

test.each([
  ['is missing', 'Is missing'],
  ['URL', 'URL'],
  ['', ''],
])('"%s" begins as "%s"', (text, shown) => {
  expect(capitalized(text)).toBe(shown);
});

test.each([
  ['Time zone', 'time zone'],
  ['URL', 'URL'],
  ['', ''],
])('the label "%s" is "%s" within a sentence', (label, shown) => {
  expect(uncapitalized(label)).toBe(shown);
});
