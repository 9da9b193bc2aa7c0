/** How values are compared and written. */
import { expect, test } from 'vitest';
import { digestOf, printableKey, restoreCall, writeCalls, type Value } from './values.ts';

const key = Buffer.from('wl:{p}:k');
const valueOf = (type: string, elements: string[], expiresAt = -1): Value => ({
  type,
  expiresAt,
  elements: elements.map((text) => Buffer.from(text)),
});

test.each([
  ['the order of a hash', valueOf('hash', ['a', '1', 'b', '2']), valueOf('hash', ['b', '2', 'a', '1']), true],
  ['the order of a set', valueOf('set', ['a', 'b']), valueOf('set', ['b', 'a']), true],
  [
    'how a score is written',
    valueOf('zset', ['a', '1e+20']),
    valueOf('zset', ['a', '100000000000000000000']),
    true,
  ],
  ['the order of a list', valueOf('list', ['a', 'b']), valueOf('list', ['b', 'a']), false],
  ['where an element ends', valueOf('set', ['ab', 'c']), valueOf('set', ['a', 'bc']), false],
  [
    'which value a field has',
    valueOf('hash', ['a', '1', 'b', '2']),
    valueOf('hash', ['a', '2', 'b', '1']),
    false,
  ],
  ['the expiry', valueOf('string', ['a'], 1), valueOf('string', ['a'], 2), false],
  ['the type', valueOf('set', ['a']), valueOf('list', ['a']), false],
  ['an infinite score', valueOf('zset', ['a', 'inf']), valueOf('zset', ['a', '-inf']), false],
])('a digest, and %s', (_, one, other, isSame) => {
  expect(digestOf(key, one).equals(digestOf(key, other))).toBe(isSame);
});

test('a digest depends on the key', () => {
  const value = valueOf('string', ['a']);
  expect(digestOf(key, value).equals(digestOf(Buffer.from('other'), value))).toBe(false);
});

test('a large value is written in pieces, with its expiry last', () => {
  const members = Array.from({ length: 1_500 }, (_, index) => [`m${index}`, String(index)]).flat();
  const calls = writeCalls(key, valueOf('zset', members, 7));
  expect(calls.map(([name, , ...rest]) => [name, rest.length])).toEqual([
    ['unlink', 0],
    ['zadd', 1_000],
    ['zadd', 1_000],
    ['zadd', 1_000],
    ['pexpireat', 1],
  ]);
  expect(calls[1]?.slice(2, 4).map(String)).toEqual(['0', 'm0']);
});

test('a key in a message has no control characters', () => {
  expect(printableKey(Buffer.from([0x77, 0x1b, 0xff, 0x20]))).toBe('w\\x1b\\xff\\x20');
});

test('a key that expires while it is read is not restored, and one without an expiry keeps none', () => {
  const dump = Buffer.from('dump');
  expect(restoreCall(key, dump, -2)).toBeUndefined();
  expect(restoreCall(key, null, -2)).toBeUndefined();
  expect(restoreCall(key, dump, -1)).toEqual(['restore', key, 0, dump, 'replace', 'absttl']);
  expect(restoreCall(key, dump, 5)).toEqual(['restore', key, 5, dump, 'replace', 'absttl']);
});
