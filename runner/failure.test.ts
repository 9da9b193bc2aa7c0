import { expect, test } from 'vitest';
import { ExpressionError, MissingValueError } from '../api/expression/errors.ts';
import { StepError, type FailureReason } from '../api/reasons.ts';
import { endOfFail, failedEnd, afterFailure, asStepError } from './failure.ts';

const retry = { limit: 2, initialMs: 1_000, factor: 2, maxMs: 60_000 };
const half = () => 0.5;

test.each<[FailureReason, number, 'retry' | 'Failed' | 'Unknown' | 'Cancelled']>([
  ['UpstreamError', 1, 'retry'],
  ['UpstreamError', 2, 'retry'],
  ['UpstreamError', 3, 'Failed'],
  ['Timeout', 1, 'retry'],
  ['Refused', 1, 'Failed'],
  ['CredentialRejected', 1, 'Failed'],
  ['EffectUnknown', 1, 'Unknown'],
  ['Cancelled', 1, 'Cancelled'],
  ['RunTimeout', 1, 'Failed'],
])('after %s in attempt %i: %s', (reason, attempt, expected) => {
  const next = afterFailure(new StepError(reason, 'why'), attempt, retry, half);
  expect(next.kind === 'retry' ? 'retry' : next.end.phase).toBe(expected);
});

test('the delay grows by the factor, up to the maximum', () => {
  const waits = [1, 2, 3, 9].map((attempt) => {
    const next = afterFailure(new StepError('Timeout', ''), attempt, { ...retry, limit: 20 }, half);
    return next.kind === 'retry' ? next.delayMs : undefined;
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 60_000]);
});

test('Retry-After is the least delay', () => {
  const error = new StepError('RateLimited', '', { retryAfterMs: 90_000 });
  expect(afterFailure(error, 1, retry, half)).toMatchObject({ kind: 'retry', delayMs: 90_000 });
  const short = new StepError('RateLimited', '', { retryAfterMs: 10 });
  expect(afterFailure(short, 1, retry, half)).toMatchObject({ delayMs: 1_000 });
});

test.each([
  [new MissingValueError('$x', 'gone'), 'MissingValue'],
  [new ExpressionError('Limit', 'large'), 'OutputTooLarge'],
  [new ExpressionError('Type', 'odd'), 'InvalidParameters'],
  [new TypeError('a.b is not a function'), 'Internal'],
])('%s becomes %s', (error, reason) => {
  expect(asStepError(error).reason).toBe(reason);
});

test('the text of a defect is not shown', () => {
  expect(asStepError(new TypeError('secret stuff')).message).not.toContain('secret');
});

test('a message that is cut ends with no half character', () => {
  const text = `${'a'.repeat(4_095)}😀`;
  const ends = [
    endOfFail({ reason: 'Stop', message: '' }, text),
    failedEnd(new StepError('CodeError', text)),
  ];
  for (const { message } of ends) expect(message).toBe(`${'a'.repeat(4_095)}\ufffd`);
});
