import { expect, test } from 'vitest';
import { dueOf, type Known } from './due.ts';

const NOW = 1_000;
const of = (dueAt: number, failing = false): Known => ({ dueAt, failing });
const many = (count: number, known: Known): [string, Known][] =>
  Array.from({ length: count }, (_, at) => [`${known.failing ? 'failing' : 'well'}-${at}`, known]);

test('what is due is begun, the longest due first, and what is not is waited for', () => {
  const known = new Map([
    ['now', of(NOW)],
    ['late', of(10)],
    ['later', of(NOW + 500)],
    ['soon', of(NOW + 0.01)],
  ]);
  expect(dueOf(known, new Map(), NOW)).toEqual({ begin: ['late', 'now'], next: NOW + 0.01 });
});

test('what is looked at is neither begun again nor waited for', () => {
  const known = new Map([['only', of(10)]]);
  expect(dueOf(known, new Map([['only', { failing: false }]]), NOW)).toEqual({ begin: [], next: undefined });
});

test('what is due and finds no place waits for a look to end, and for no time', () => {
  const known = new Map(many(9, of(10)));
  const { begin, next } = dueOf(known, new Map(), NOW);
  expect(begin).toHaveLength(8);
  expect(next).toBeUndefined();
});

test('accounts that failed take no place of others', () => {
  const known = new Map([...many(12, of(10, true)), ['good', of(20)] as const]);
  const looking = new Map(many(2, of(10, true)));
  const { begin } = dueOf(known, looking, NOW);
  expect(begin).toEqual(['failing-2', 'failing-3', 'good']);
});
