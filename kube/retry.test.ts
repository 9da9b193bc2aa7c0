import { expect, test } from 'vitest';
import { ApiError } from './errors.ts';
import { parseRetryAfter, retryDelay } from './retry.ts';

const middle = (): number => 0.5;

function failure(status: number, more: { retryAfterMs?: number; notSent?: boolean } = {}): ApiError {
  return new ApiError({ status, reason: '', message: 'failed', ...more });
}

test.each([
  { what: 'a refused connection', error: failure(0, { notSent: true }), idempotent: false, again: true },
  { what: 'a broken connection', error: failure(0), idempotent: false, again: false },
  { what: 'a broken connection', error: failure(0), idempotent: true, again: true },
  { what: '429', error: failure(429), idempotent: false, again: true },
  { what: '503', error: failure(503), idempotent: false, again: false },
  { what: '503', error: failure(503), idempotent: true, again: true },
  { what: '404', error: failure(404), idempotent: true, again: false },
  { what: '409', error: failure(409), idempotent: true, again: false },
  { what: '422', error: failure(422), idempotent: true, again: false },
  { what: 'a mistake of the program', error: new TypeError('x'), idempotent: true, again: false },
])(
  'after $what, a call that is idempotent=$idempotent is sent again: $again',
  ({ error, idempotent, again }) => {
    expect(retryDelay(error, 0, idempotent, middle) !== undefined).toBe(again);
  },
);

test('the server is given at least the time that it asked for', () => {
  expect(retryDelay(failure(429, { retryAfterMs: 2_000 }), 0, false, middle)).toBe(2_100);
  expect(retryDelay(failure(429), 2, false, middle)).toBe(900);
});

test('a wait that is longer than half a minute is left to the caller', () => {
  expect(retryDelay(failure(429, { retryAfterMs: 31_000 }), 0, true, middle)).toBeUndefined();
});

test.each([
  { value: undefined, expected: undefined },
  { value: '3', expected: 3_000 },
  { value: ' 0 ', expected: 0 },
  { value: 'Thu, 01 Jan 2026 00:00:05 GMT', expected: 5_000 },
  { value: 'Wed, 31 Dec 2025 00:00:00 GMT', expected: 0 },
  { value: 'soon', expected: undefined },
])('Retry-After $value means $expected ms', ({ value, expected }) => {
  expect(parseRetryAfter(value, new Date('2026-01-01T00:00:00Z'))).toBe(expected);
});
