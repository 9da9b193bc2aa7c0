import { expect, test } from 'vitest';
import { aheadOf, dueOf, endOfWindow, type Known } from './due.ts';

const NOW = 1_000;
const of = (dueAt: number, failing = false): Known => ({ dueAt, failing });
const many = (count: number, known: Known): [string, Known][] =>
  Array.from({ length: count }, (_, at) => [`${known.failing ? 'failing' : 'working'}-${at}`, known]);

test('due accounts are polled, the longest due first, and the others are waited for', () => {
  const known = new Map([
    ['now', of(NOW)],
    ['late', of(10)],
    ['later', of(NOW + 500)],
    ['soon', of(NOW + 0.01)],
  ]);
  expect(dueOf(known, new Map(), NOW)).toEqual({ start: ['late', 'now'], next: NOW + 0.01 });
});

test('an account that is polled now is neither started again nor waited for', () => {
  const known = new Map([['only', of(10)]]);
  expect(dueOf(known, new Map([['only', { failing: false }]]), NOW)).toEqual({ start: [], next: undefined });
});

test('a due account beyond the limit waits for a poll to end, not for a time', () => {
  const known = new Map(many(9, of(10)));
  const { start, next } = dueOf(known, new Map(), NOW);
  expect(start).toHaveLength(8);
  expect(next).toBeUndefined();
});

test('failing accounts do not use the limit of others', () => {
  const known = new Map([...many(12, of(10, true)), ['good', of(20)] as const]);
  const polling = new Map(many(2, of(10, true)));
  const { start } = dueOf(known, polling, NOW);
  expect(start).toEqual(['failing-2', 'failing-3', 'good']);
});

test.each([
  ['00:00:00', '00:00:57'],
  ['00:00:03', '00:00:57'],
  ['00:00:42', '00:00:57'],
  ['00:00:43', '00:01:57'],
  ['00:00:59', '00:01:57'],
])('a pod that starts at %s polls until %s, shortly before the next one starts', (startedAt, end) => {
  const at = (time: string) => Date.parse(`2026-03-02T${time}Z`);
  expect(new Date(endOfWindow(at(startedAt)))).toEqual(new Date(at(end)));
});

test('a pod that comes each minute polls nothing early, and a rarer one what the next pod would poll late', () => {
  expect([60_000, 300_000, 3_600_000].map(aheadOf)).toEqual([0, 270_000, 3_570_000]);
});
