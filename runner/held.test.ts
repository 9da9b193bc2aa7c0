import { expect, test } from 'vitest';
import { HeldRuns, type Held } from './held.ts';

test('what is held is found by its token and listed until it is removed, also a run that is here twice', () => {
  const held = new HeldRuns();
  const lost: Held = { token: 'a', run: 'one' };
  const again: Held = { token: 'b', run: 'one' };
  const other: Held = { token: 'c', run: 'two' };
  for (const each of [lost, again, other]) held.add(each);
  held.remove(lost);
  expect([...held]).toEqual([again, other]);
  expect(['a', 'b', 'c'].map((token) => held.has(token))).toEqual([false, true, true]);
  expect(held.size).toBe(2);
});

test('a place that became free is used again, so that the list does not grow with the runs that pass', () => {
  const held = new HeldRuns();
  const stays: Held = { token: 'stays', run: 'stays' };
  const first: Held = { token: 'first', run: 'first' };
  held.add(first);
  held.add(stays);
  for (let turn = 0, before = first; turn < 100; turn += 1) {
    const next: Held = { token: `${turn}`, run: `${turn}` };
    held.remove(before);
    held.add(next);
    // It takes the place before the one that stays.
    expect([...held]).toEqual([next, stays]);
    before = next;
  }
  expect(held.size).toBe(2);
});
