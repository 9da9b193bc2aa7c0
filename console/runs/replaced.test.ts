import { expect, test } from 'vitest';
import type { NodeView } from './live/nodeView.ts';
import { replacedBy, withReasonOf } from './replaced.ts';

const message = 'Run slow-0mwubq7a6n2dyb5 replaced this run (concurrency.policy: Replace).';

test.each([
  [{ reason: 'Replaced', message }, 'slow-0mwubq7a6n2dyb5'],
  [{ reason: 'Replaced' }, undefined],
  [{ reason: 'Cancelled', message: 'somebody cancelled the run' }, undefined],
  [{}, undefined],
])('the run that replaced a run with %j is %s', (run, newer) => {
  expect(replacedBy(run)).toBe(newer);
});

test('a cancelled node of a replaced run has the reason of the run', () => {
  const run = { reason: 'Replaced', message };
  const cancelled: NodeView = { id: 'a', phase: 'Cancelled', message: 'somebody cancelled the run' };
  expect(withReasonOf(run, cancelled)).toEqual({ ...cancelled, reason: 'Replaced', message });
  const done: NodeView = { id: 'a', phase: 'Succeeded' };
  expect(withReasonOf(run, done)).toBe(done);
  expect(withReasonOf({ reason: 'Cancelled', message: 'x' }, cancelled)).toBe(cancelled);
});
