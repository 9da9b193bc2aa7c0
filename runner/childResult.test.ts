import { expect, test } from 'vitest';
import type { ChildResult } from '../runs/types/result.ts';
import { resultOfChild } from './childResult.ts';

test.each<[string, ChildResult, boolean]>([
  ['that failed', { phase: 'Failed', reason: 'NodeFailed', message: 'no' }, true],
  ['that was cancelled', { phase: 'Cancelled', reason: 'Cancelled' }, true],
  ['with an effect in doubt', { phase: 'Failed', reason: 'EffectUnknown', message: 'mail' }, false],
  ['that was lost', { phase: 'Failed', reason: 'DataLost', message: 'gone' }, false],
  ['whose output was lost', { phase: 'Succeeded' }, false],
])('whether a retry may start another child run after one %s', (_what, result, retryable) => {
  expect(() => resultOfChild({ name: 'report' }, 'report-1', result)).toThrow(
    expect.objectContaining({ reason: 'ChildFailed', retryable }),
  );
});
