import { expect, test } from 'vitest';
import { RunsInFlight, type RunInFlight } from './inFlight.ts';

test('a run is found by its token and listed until it is removed, also a run that is in flight twice', () => {
  const runs = new RunsInFlight();
  const lost: RunInFlight = { token: 'a', run: 'one' };
  const again: RunInFlight = { token: 'b', run: 'one' };
  const other: RunInFlight = { token: 'c', run: 'two' };
  for (const each of [lost, again, other]) runs.add(each);
  runs.remove(lost);
  expect([...runs]).toEqual([again, other]);
  expect(['a', 'b', 'c'].map((token) => runs.has(token))).toEqual([false, true, true]);
  expect(runs.size).toBe(2);
});

test('a free slot is reused, so that the list does not grow with the number of executed runs', () => {
  const runs = new RunsInFlight();
  const stays: RunInFlight = { token: 'stays', run: 'stays' };
  const first: RunInFlight = { token: 'first', run: 'first' };
  runs.add(first);
  runs.add(stays);
  for (let round = 0, before = first; round < 100; round += 1) {
    const next: RunInFlight = { token: `${round}`, run: `${round}` };
    runs.remove(before);
    runs.add(next);
    // It uses the slot before the one that stays.
    expect([...runs]).toEqual([next, stays]);
    before = next;
  }
  expect(runs.size).toBe(2);
});
