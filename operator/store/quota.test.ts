import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fullestOf, limitsReached, quotasOf, quotasOfServers, summariesOf } from './quota.ts';

const MIB = 1024 * 1024;
const MAX = 500 * MIB;
const idle = { bytes: 0, keys: 0, recorded: 0, isBusy: false };

/** The limits, in MiB, of the first of ten projects; so many others are busy. */
function limits(used: number, bytes: number, { busy = 0, keys = 0 } = {}) {
  const others = Array.from({ length: 9 }, (_, index) => ({ ...idle, isBusy: index < busy }));
  const own = { bytes: bytes * MIB, keys: keys * MIB, recorded: 0, isBusy: true };
  const [first] = quotasOf({ used: used * MIB, max: MAX }, [own, ...others]);
  if (!first) throw new Error('no limits');
  const { quota, claimQuota, keyQuota } = first;
  return { quota: quota / MIB, claimQuota: claimQuota / MIB, keyQuota: keyQuota / MIB };
}

test.each([
  ['of an empty store half is for one project', limits(0, 0).quota, 150],
  ['of what is free half, beside what it has', limits(200, 60).quota, 110],
  ['where others are busy an equal part of what is free', limits(200, 60, { busy: 3 }).quota, 80],
  ['where nothing is free what it has', limits(320, 100).quota, 100],
  ['but never less than its part of a tenth', limits(450, 0).quota, 5],
])('accepting: %s', (_what, given, expected) => {
  expect(given).toBe(expected);
});

test.each([
  ['half of what is free, beside what it has', limits(200, 60).claimQuota, 160],
  ['above what is accepted, also where nothing is free', limits(450, 150).claimQuota, 155],
  ['never more than two fifths of all', limits(0, 150).claimQuota, 200],
])('claiming: %s', (_what, given, expected) => {
  expect(given).toBe(expected);
});

test.each([
  ['a tenth of half of their share is its own in any case, and half of the rest', 0, 7.5 + 37.5],
  ['it may go on as long as the rest is not used up', 67.5, 67.5 + 7.5],
  ['and then keeps what it has', 82.5, 82.5],
])('dedupe keys: %s', (_what, keys, expected) => {
  expect(limits(0, 0, { keys }).keyQuota).toBe(expected);
});

test('a server without a limit has one for each project all the same, and claims need no room', () => {
  const [quotas] = quotasOf({ used: 10 * MIB, max: 0 }, [{ ...idle, isBusy: true }]);
  expect(quotas).toMatchObject({ quota: 256 * MIB, keyQuota: 256 * MIB });
  expect(quotas?.claimQuota).toBeGreaterThan(2 ** 40);
});

/** The use of ten projects, of which one after the other takes all that the limit named admits. */
function flood(order: readonly number[], take: 'quota' | 'claimQuota' | 'keyQuota') {
  const field = take === 'keyQuota' ? ('keys' as const) : ('bytes' as const);
  const projects = Array.from({ length: 10 }, () => ({ ...idle }));
  for (const index of order) {
    const used = projects.reduce((sum, { bytes, keys }) => sum + bytes + keys, 0);
    const project = projects[index];
    const limit = quotasOf({ used, max: MAX }, projects)[index]?.[take] ?? 0;
    if (project) project[field] = Math.max(project[field], limit);
  }
  return projects.reduce((sum, project) => sum + project[field], 0);
}

test('successive floods, each as large as permitted, never fill more than the share and the reserve', () => {
  const orders = fc.array(fc.nat(9), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(orders, (order) => {
      expect(flood(order, 'quota')).toBeLessThanOrEqual(MAX * 0.7);
      expect(flood(order, 'claimQuota')).toBeLessThanOrEqual(MAX);
      expect(flood(order, 'keyQuota')).toBeLessThanOrEqual(MAX * 0.3 + 10);
    }),
  );
});

test('simultaneous floods of all projects between two updates take no more than is free', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 50 }), (used, busy) => {
      const projects = Array.from({ length: busy }, () => ({ ...idle, isBusy: true }));
      const limits = quotasOf({ used: used * MIB, max: MAX }, projects);
      const all = limits.reduce((sum, { claimQuota }) => sum + claimQuota, used * MIB);
      expect(all).toBeLessThanOrEqual(MAX * 1.01);
    }),
  );
});

const use = {
  ...idle,
  quota: 1_000,
  claimQuota: 2_000,
  keyQuota: 100_000,
  summaries: 0,
  replies: 0,
  recorded: 0,
  unfinished: 10_000,
  beyond: 3,
  isShort: false,
  isPolling: false,
};

test.each([
  ['none where there is room', use, []],
  ['the quota where the next event may be refused', { ...use, bytes: 990 }, ['quota']],
  ['claims where claims are paused', { ...use, isShort: true }, ['claims']],
  ['keys where the next one may be refused', { ...use, keys: 99_900 }, ['keys']],
  ['no limit that was not set yet', { ...use, quota: 64 * MIB, keyQuota: 0, keys: 500 }, []],
])('limits reached: %s', (_what, given, expected) => {
  expect(limitsReached(given)).toEqual(expected);
});

test.each([
  ['all where they take little', 1_000, 10, 10_000],
  ['an equal part where they take nearly all that they may', 24_000, 2, 31],
  ['ten in any case', 24_000, 50, 10],
])('summaries of a workflow: %s', (_what, summaries, workflows, expected) => {
  expect(summariesOf({ ...use, summaries }, workflows)).toBe(expected);
});

test('projects share the memory of their own server, and the recorded runs of all together', () => {
  const use = { ...idle, isBusy: true };
  const memories = new Map([
    ['a', { used: 10 * MIB, max: MAX }],
    ['b', { used: 200 * MIB, max: MAX }],
  ]);
  const projects = [
    { server: 'a', use },
    { server: 'b', use },
    { server: 'c', use },
    { server: undefined, use },
  ];
  const [onA, onB, ...unknown] = quotasOfServers(memories, projects);
  const alone = quotasOf({ used: 10 * MIB, max: MAX }, [use])[0];
  expect(onA).toEqual({
    ...alone,
    unfinished: quotasOf({ used: 0, max: 0 }, [use, use, use, use])[0]?.unfinished,
  });
  expect(onB?.quota).toBeLessThan(onA?.quota ?? 0);
  expect(unknown).toEqual([undefined, undefined]);
});

test('the fullest server has used the greatest part of its limit', () => {
  const fullest = { used: 3, max: 4 };
  expect(fullestOf([{ used: 10, max: 100 }, fullest, { used: 1_000, max: 0 }])).toBe(fullest);
  expect(fullestOf([])).toEqual({ used: 0, max: 0 });
});
