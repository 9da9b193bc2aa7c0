import { expect, test } from 'vitest';
import { agrees, emptyDigest, formatDigest, toggle, type Digest } from './routes.ts';

const digestOf = (...pairs: [string, number][]): Digest => {
  const digest = emptyDigest();
  for (const [uid, generation] of pairs) toggle(digest, uid, generation);
  return digest;
};

test('two replicas that serve the same generation agree, whatever the order in which they learnt of it', () => {
  const said = formatDigest(digestOf(['a', 1], ['b', 2], ['c', 1]));
  expect(agrees(said, digestOf(['c', 1], ['a', 1], ['b', 2]), 'b')).toBe(true);
});

test('a replica that serves an older generation does not agree', () => {
  expect(agrees(formatDigest(digestOf(['a', 1])), digestOf(['a', 2]), 'a')).toBe(false);
});

test('a replica that still serves a route that is gone does not agree', () => {
  expect(agrees(formatDigest(digestOf(['a', 1])), emptyDigest(), 'a')).toBe(false);
});

test('taking a route out leaves the digest as it was', () => {
  const digest = digestOf(['a', 1], ['b', 1]);
  toggle(digest, 'b', 1);
  expect(formatDigest(digest)).toBe(formatDigest(digestOf(['a', 1])));
});

test('a replica that has said nothing yet does not agree', () => {
  expect(agrees(undefined, emptyDigest(), 'a')).toBe(false);
});

test('a route in another bucket does not stand in the way', () => {
  const uids = Array.from({ length: 200 }, (_, index) => `uid-${index}`);
  const behind = formatDigest(digestOf(...uids.slice(1).map((uid): [string, number] => [uid, 1])));
  const all = digestOf(...uids.map((uid): [string, number] => [uid, 1]));
  const agreeing = uids.filter((uid) => agrees(behind, all, uid));
  expect(agreeing).not.toContain('uid-0');
  expect(agreeing.length).toBeGreaterThan(180);
});
