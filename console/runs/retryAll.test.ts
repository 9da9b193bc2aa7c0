import { expect, test } from 'vitest';
import type { RunPhase } from '../../api/phase.ts';
import { MAX_RETRIES, planRetries, requestOf } from './retryAll.ts';

const failed = ['a', 'b', 'c'].map((run, at) => ({ run, endedAt: 30 - at }));
const retry = (retryOf: string, phase: RunPhase) => ({ retryOf, phase });

test.each<[string, { retryOf: string; phase: RunPhase }[], string[], number]>([
  ['all runs without a retry, oldest first', [], ['c', 'b', 'a'], 0],
  ['none whose retry waits', [retry('a', 'Waiting')], ['c', 'b'], 1],
  ['none whose retry is executed', [retry('b', 'Running')], ['c', 'a'], 1],
  ['none whose retry succeeded', [retry('a', 'Succeeded'), retry('a', 'Cancelled')], ['c', 'b'], 1],
  ['none whose retry failed, which is retried itself', [retry('c', 'Failed')], ['b', 'a'], 1],
  ['those whose retry was cancelled', [retry('a', 'Cancelled')], ['c', 'b', 'a'], 0],
  ['also where other runs were retried', [retry('other', 'Running')], ['c', 'b', 'a'], 0],
])('the plan has %s', (_what, retries, chosen, retried) => {
  const plan = planRetries(failed, retries);
  expect(plan.chosen.map(({ run }) => run)).toEqual(chosen);
  expect(plan).toMatchObject({ retried, left: 0 });
});

test('the oldest runs are retried first, and the others are counted', () => {
  const many = Array.from({ length: MAX_RETRIES + 5 }, (_, at) => ({ run: `r${at}`, endedAt: 1_000 - at }));
  const plan = planRetries(many, []);
  expect(plan.chosen).toHaveLength(MAX_RETRIES);
  expect(plan.chosen[0]?.run).toBe(`r${MAX_RETRIES + 4}`);
  expect(plan.left).toBe(5);
});

test('the same retry has the same request, and the one after a cancelled retry another one', () => {
  const first = { run: 'a', endedAt: 1_700_000_000_000, cancelled: 0 };
  expect(requestOf(first)).toEqual(requestOf({ ...first }));
  expect(requestOf({ ...first, cancelled: 1 }).id).not.toBe(requestOf(first).id);
  expect(requestOf({ ...first, run: 'b' }).id).not.toBe(requestOf(first).id);
  expect(requestOf(first).id).toMatch(/^[0-9a-f]{8}-all-0$/);
});
