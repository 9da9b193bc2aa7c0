import { expect, test } from 'vitest';
import { freshCounts, type UnfinishedRuns } from './unfinishedRuns.ts';

const runs = (isAll: boolean, ...names: string[]): UnfinishedRuns => ({
  items: names.map((run) => ({ run, workflow: 'shop.orders', phase: 'Running' })),
  isAll,
});
const KNOWN = { running: 1, waiting: 4 };

test.each([
  ['runs that have ended do not count', runs(true), runs(true), { running: 0, waiting: 0 }],
  ['a run that starts counts once', runs(true, 'a'), runs(true, 'a', 'b'), { running: 1, waiting: 1 }],
  ['an incomplete list counts no less', runs(false, 'a', 'b'), runs(false, 'c'), { running: 2, waiting: 4 }],
])('%s', (_name, running, waiting, counts) => {
  expect(freshCounts({ running, waiting }, KNOWN)).toEqual(counts);
});
