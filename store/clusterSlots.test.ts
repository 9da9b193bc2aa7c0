import { expect, test } from 'vitest';
import { ownersOf, parseSlots, slotOf } from './clusterSlots.ts';

test.each([
  ['a key', '123456789', 12_739],
  ['an empty key', '', 0],
  ['the hash tag of a key', 'wl:{123456789}:meta', 12_739],
  ['the first tag', '{123456789}{other}', 12_739],
  ['the whole key with an empty tag', '{}123456789', 1_951],
  ['the whole key without an end of the tag', 'foo{', 7_673],
  ['a tag that is not ASCII', 'x{ä}y', 13_929],
  ['the whole key with braces in the wrong order', 'a}b{c', 13_587],
])('the slot is that of %s', (_, key, slot) => {
  expect(slotOf(key)).toBe(slot);
});

test('keys of one project have one slot', () => {
  expect(slotOf('wl:{a-b}:meta')).toBe(slotOf('wl:{a-b}:run:1'));
});

const answer = [
  [0, 1, ['10.0.0.1', 6379, 'id-1', {}], ['10.0.0.2', 6379, 'id-2', {}]],
  [2, 2, ['', 6380, 'id-3']],
  [3, 3, ['?', 6379, 'id-4']],
  [4, 4, ['user@host', 6379, 'id-7']],
  [5, 16_383, [null, 6381, 'id-5'], ['?', 1, 'id-6']],
];

test('servers without an address are the one that was asked, and unknown ones are left out', () => {
  expect(parseSlots(answer, 'redis.example.com')).toEqual([
    {
      first: 0,
      last: 1,
      primary: { host: '10.0.0.1', port: 6379 },
      replicas: [{ host: '10.0.0.2', port: 6379 }],
    },
    { first: 2, last: 2, primary: { host: 'redis.example.com', port: 6380 }, replicas: [] },
    { first: 5, last: 16_383, primary: { host: 'redis.example.com', port: 6381 }, replicas: [] },
  ]);
});

test('each slot has its primary, and slots between ranges have none', () => {
  const owners = ownersOf(parseSlots(answer, 'h'));
  expect(owners.slice(0, 6)).toEqual([
    '10.0.0.1:6379',
    '10.0.0.1:6379',
    'h:6380',
    undefined,
    undefined,
    'h:6381',
  ]);
  expect(owners).toHaveLength(16_384);
  expect(owners.at(-1)).toBe('h:6381');
});
