import { expect, test } from 'vitest';
import { diff, type RowChange } from './diff.ts';
import type { Row } from './rows.ts';

/** Rows of these contents; the letter is the key. */
const rows = (text: string): Row[] =>
  text
    .split(' ')
    .filter(Boolean)
    .map((content, index) => ({ number: index + 1, id: content[0] ?? '', content }));

const short = (changes: readonly RowChange[]) =>
  changes.map(({ before, after }) => `${before?.content ?? ''}>${after?.content ?? ''}`).join(' ');

test.each([
  ['nothing', 'a b c', 'a b c', ''],
  ['a row at the end', 'a b', 'a b c', '>c'],
  ['a row between', 'a b', 'a x b', '>x'],
  ['a row that is gone', 'a b c', 'a c', 'b>'],
  ['a row that is another', 'a b c', 'a x c', 'b>x'],
  ['a row between, and below it one that is another', 'a b c d', 'a x b y d', '>x c>y'],
  ['all in another order', 'a b c d e', 'd b e a c', ''],
  ['one moved, one another', 'a b c d e', 'e a b x d', 'c>x'],
  ['one more of those that are the same', 'a a b', 'a a a b', '>a'],
  ['one less of those that are the same', 'a b a b', 'b a b', 'a>'],
  ['everything', 'a b', 'x y z', 'a>x b>y >z'],
  ['all are gone', 'a b', '', 'a> b>'],
])('without keys: %s', (_, before, after, changes) => {
  expect(short(diff(rows(before), rows(after), false))).toBe(changes);
});

test.each([
  ['another order', 'a1 b1 c1', 'c1 a1 b1', ''],
  ['another order, and a row that is another', 'a1 b1 c1', 'c2 a1 b1', 'c1>c2'],
  ['one gone, one new', 'a1 b1', 'c1 b1', '>c1 a1>'],
])('with keys: %s', (_, before, after, changes) => {
  expect(short(diff(rows(before), rows(after), true))).toBe(changes);
});

/** Numbers that look random, the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function difference(all: readonly string[], without: readonly string[]): string[] {
  const left = [...without];
  return all.filter((each) => {
    const index = left.indexOf(each);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

test('whatever happened, each row that is new and each that is gone is in one change, and no other is', () => {
  const next = numbers(7);
  for (let round = 0; round < 500; round += 1) {
    const some = () => Array.from({ length: next(12) }, () => 'abcdefgh'[next(8)] ?? 'a');
    const [before, after] = [some(), some()];
    const changes = diff(rows(before.join(' ')), rows(after.join(' ')), false);
    const come = changes.flatMap((change) => (change.after ? [change.after.content] : []));
    const gone = changes.flatMap((change) => (change.before ? [change.before.content] : []));
    expect(come.toSorted()).toEqual(difference(after, before).toSorted());
    expect(gone.toSorted()).toEqual(difference(before, after).toSorted());
  }
});
