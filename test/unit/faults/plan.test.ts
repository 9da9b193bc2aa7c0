/** The plan of faults: by its seed alone, and evenly over the kinds. */
import { expect, test } from 'vitest';
import { FAULT_KINDS, kindsOf, KILLS, planFaults } from '../../faults/plan.ts';

test('the same seed gives the same plan, another seed another one', () => {
  const plan = (seed: number) => planFaults({ seed, kinds: FAULT_KINDS, perKind: 3 });
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
});

test('each kind comes as often as was asked, and none a third time before all have come twice', () => {
  const plan = planFaults({ seed: 1, kinds: KILLS, perKind: 3 }).map(({ kind }) => kind);
  for (const round of [0, 1, 2]) {
    const kinds = plan.slice(round * KILLS.length, (round + 1) * KILLS.length);
    expect(new Set(kinds)).toEqual(new Set(KILLS));
  }
  expect(plan).toHaveLength(3 * KILLS.length);
});

test('a frozen program stays so for 5 to 30 s', () => {
  const plan = planFaults({ seed: 1, kinds: kindsOf(['freeze']), perKind: 50 });
  const seconds = plan.map((fault) => fault.seconds);
  expect(Math.min(...seconds)).toBeGreaterThanOrEqual(5);
  expect(Math.max(...seconds)).toBeLessThanOrEqual(30);
});

test.each([
  [['kill'], [...KILLS]],
  [['kill-etcd'], ['kill-etcd']],
  [
    ['etcd', 'slow'],
    ['kill-etcd', 'freeze-etcd', 'slow-redis'],
  ],
])('the words %j mean %j', (words, kinds) => {
  expect(kindsOf(words)).toEqual(kinds);
});

test('a word that means no fault is refused, and the faults are named', () => {
  expect(() => kindsOf(['thunder'])).toThrow(/no fault is named "thunder": use kill-gateway/);
});
