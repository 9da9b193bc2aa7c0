import { expect, test } from 'vitest';
import type { DeletionProgress } from './workflowDeletion.ts';
import { progressNote } from './deleteRuns.ts';

const progress: DeletionProgress = {
  project: 'p',
  workflowUid: 'w',
  name: 'orders',
  total: 100_000,
  left: 57_300,
  running: 0,
  seconds: 20,
};
const LEFT = 'Workflow orders was deleted: 57,300 of its 100,000 runs are left to be cancelled.';

test.each<[string, Partial<DeletionProgress>, string]>([
  ['how many runs are left', {}, LEFT],
  ['no runners, while other runs are left too', { running: 50 }, LEFT],
  [
    'that runners have those that are left',
    { left: 2, running: 2 },
    'Workflow orders was deleted: 2 of its 100,000 runs are left to be cancelled. Runners execute them and were asked to stop. If a runner is gone, another one must start first.',
  ],
])('the note of a deletion names %s', (_what, changes, expected) => {
  expect(progressNote({ ...progress, ...changes })).toBe(expected);
});
