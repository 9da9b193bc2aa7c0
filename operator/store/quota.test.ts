import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { quotaOf } from './quota.ts';

const MIB = 1024 * 1024;
const quota = (used: number, bytes: number, projects = 10) =>
  quotaOf({ used: used * MIB, max: 500 * MIB }, bytes * MIB, projects) / MIB;

test.each([
  ['of an empty store half is for one project', quota(0, 0), 150],
  ['of what is free half, beside what it has', quota(200, 60), 110],
  ['where nothing is free what it has', quota(320, 100), 100],
  ['but never less than its part of a tenth', quota(450, 0), 5],
])('%s', (_what, given, expected) => {
  expect(given).toBe(expected);
});

test('a server without a limit has one for each project all the same', () => {
  expect(quotaOf({ used: 10 * MIB, max: 0 }, 0, 1)).toBe(256 * MIB);
});

test('one flood after another, each as large as is allowed, never fills more than seven tenths', () => {
  const max = 500 * MIB;
  const floods = fc.array(fc.nat(9), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(floods, (order) => {
      const bytes = new Map<number, number>();
      for (const project of order) {
        const used = [...bytes.values()].reduce((sum, one) => sum + one, 0);
        const held = bytes.get(project) ?? 0;
        bytes.set(project, Math.max(held, quotaOf({ used, max }, held, 10)));
      }
      expect([...bytes.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(max * 0.7);
    }),
  );
});
