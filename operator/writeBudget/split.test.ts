import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LEAST, prunesPerSecond, splitWriteBudget } from './split.ts';

const BUDGET = { total: 200, perProject: 100 };
const projects = (waiting: number[]) =>
  new Map(waiting.map((count, index) => [`project-${index}`, { waiting: count }]));
const split = (...waiting: number[]) => [...splitWriteBudget(projects(waiting), BUDGET).values()];

test.each([
  ['one project', [5], [100]],
  ['a busy project beside an idle one', [5, 0], [100, 34]],
  ['two busy projects', [5, 9_000], [67, 67]],
  ['two busy projects beside an idle one', [5, 9_000, 0], [66, 66, 2]],
  ['four idle projects', [0, 0, 0, 0], [33, 33, 33, 33]],
])('%s', (_what, waiting, rates) => {
  expect(split(...waiting)).toEqual(rates);
});

test('a hundred busy projects each keep the minimum', () => {
  expect(new Set(split(...Array.from({ length: 100 }, () => 7)))).toEqual(new Set([LEAST]));
});

test('every project gets at least the minimum and at most its limit, and all together at most the total', () => {
  const waiting = fc.array(fc.nat(3), { maxLength: 60 });
  fc.assert(
    fc.property(
      waiting,
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 2, max: 300 }),
      (counts, total, perProject) => {
        const rates = [...splitWriteBudget(projects(counts), { total, perProject }).values()];
        expect(rates).toHaveLength(counts.length);
        expect(rates.every((rate) => rate >= LEAST && rate <= Math.max(LEAST, perProject))).toBe(true);
        const sum = rates.reduce((a, b) => a + b, 0);
        expect(sum).toBeLessThanOrEqual(Math.max(total - prunesPerSecond(total), counts.length * LEAST));
      },
    ),
  );
});
