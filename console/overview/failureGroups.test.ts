import { expect, test } from 'vitest';
import { failureGroups, patternOf, searchedText } from './failureGroups.ts';
import type { CountedRun } from './statistics.ts';

test.each([
  ['numbers', 'took 1,234.5 ms at item 17', 'took 9 ms at item 3'],
  ['quoted values', 'the list "orders" has no "A-17"', 'the list "mail" has no "B"'],
  ['single quotes', "no member 'total' in the output", "no member 'sum' in the output"],
  ['backticks', 'unknown name `abc`', 'unknown name `x`'],
  ['UUIDs', 'order 5f0c1f6e-9a53-4c50-8a52-2f6f2d0c0d11', 'order 0a0c1f6e-9a53-4c50-8a52-2f6f2d0c0d12'],
  ['names of runs', 'child orders-0mabc1234567890 failed', 'child orders-0mzzz9876543210 failed'],
  ['hashes', 'blob 9f86d081884c7d65 is gone', 'blob 2c26b46b68ffc68f is gone'],
  ['times', 'expired at 2026-11-28T16:00:00.000Z', 'expired at 2026-11-27T09:12:45Z'],
  ['paths and queries of URLs', 'GET https://a.example/x?id=1 failed', 'GET https://a.example/y failed'],
  ['white space', 'no  answer\n', 'no answer'],
])('%s do not distinguish messages', (_what, one, other) => {
  expect(patternOf(one)).toBe(patternOf(other));
});

test.each([
  ['words', 'connection refused', 'connection reset'],
  ['hosts of URLs', 'GET https://a.example/x failed', 'GET https://b.example/x failed'],
  ['names of hosts', 'no connection with shop.example', 'no connection with mail.example'],
  ['statuses', 'a.example answered GET with status 404', 'a.example answered GET with status 500'],
  ['words between apostrophes', "it can't read and won't write", "it can't see and won't write"],
])('%s distinguish messages', (_what, one, other) => {
  expect(patternOf(one)).not.toBe(patternOf(other));
});

test.each([
  ['"'.repeat(100_000), 'quotes'],
  ["'".repeat(99_999), 'apostrophes'],
  ['a-'.repeat(50_000), 'an identifier'],
  [`https://${'a'.repeat(100_000)}`, 'a host'],
])('a message of 100,000 characters is compared by its beginning', (message) => {
  expect(patternOf(message).length).toBeLessThanOrEqual(1_000);
});

const run = (name: string, acceptedAt: number, parts: Partial<CountedRun> = {}): CountedRun => ({
  run: name,
  workflow: 'orders',
  phase: 'Failed',
  acceptedAt,
  reason: 'NodeFailed',
  message: `node ask: Timeout: took ${acceptedAt} ms`,
  ...parts,
});

test('runs with the same workflow, node, reason and message are one group, the newest failure first', () => {
  const groups = failureGroups(
    [
      run('a', 10),
      run('b', 30),
      run('c', 20, { message: 'node ask: Unreachable: no connection' }),
      run('d', 25, { message: 'node tell: Timeout: took 3 ms' }),
      run('e', 40, { workflow: 'mail' }),
      run('f', 5, { reason: 'RunTimeout', message: 'the run took longer than 60 s' }),
      run('old', 1),
      run('fine', 50, { phase: 'Succeeded' }),
    ],
    5,
  );
  expect(groups.map(({ workflow, cause, runs }) => [workflow, cause, runs.map((each) => each.run)])).toEqual([
    ['mail', { reason: 'Timeout', node: 'ask' }, ['e']],
    ['orders', { reason: 'Timeout', node: 'ask' }, ['b', 'a']],
    ['orders', { reason: 'Timeout', node: 'tell' }, ['d']],
    ['orders', { reason: 'Unreachable', node: 'ask' }, ['c']],
    ['orders', { reason: 'RunTimeout' }, ['f']],
  ]);
  expect(new Set(groups.map(({ key }) => key)).size).toBe(5);
});

test('the list of runs is searched by the beginning of the message, or by the reason', () => {
  expect(searchedText({ cause: { reason: 'Timeout', node: 'ask' } })).toBe('node ask: Timeout');
  expect(searchedText({ cause: { reason: 'RunTimeout' } })).toBe('RunTimeout');
});
