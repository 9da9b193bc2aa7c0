import { expect, test } from 'vitest';
import { nextCheckAt, noticeAt, renewalAt, retryMs } from './due.ts';
import type { Grant } from './grant.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const granted = (over: Partial<Grant> = {}): Grant => ({
  connection: 'c',
  accessToken: 'a',
  refreshToken: 'r',
  obtainedAt: 0,
  expiresAt: 60 * MINUTE,
  scopes: [],
  ...over,
});

test('a token of an hour is renewed between 22 and 15 minutes before its end, each at another time', () => {
  const times = Array.from({ length: 100 }, (_, at) => renewalAt(`uid-${at}`, granted()) ?? 0);
  expect(Math.min(...times)).toBeGreaterThanOrEqual(37.5 * MINUTE);
  expect(Math.max(...times)).toBeLessThanOrEqual(45 * MINUTE);
  expect(new Set(times.map((time) => Math.floor(time / MINUTE))).size).toBeGreaterThan(5);
});

test('the renewal time is the same for each replica, and differs for the next token', () => {
  expect(renewalAt('a', granted())).toBe(renewalAt('a', granted()));
  const next = granted({ obtainedAt: 1, expiresAt: 60 * MINUTE + 1 });
  expect(renewalAt('a', next)).not.toBe((renewalAt('a', granted()) ?? 0) + 1);
});

test('a token without expiration is renewed as one of an hour, and one without a refresh token is not', () => {
  const { expiresAt: _end, ...endless } = granted();
  const { refreshToken: _token, ...last } = granted();
  expect([renewalAt('a', endless), renewalAt('a', last)]).toEqual([renewalAt('a', granted()), undefined]);
});

test.each([0, 1, 10])(
  'a token that ends after %d s is renewed after half a minute, and not at once',
  (seconds) => {
    expect(renewalAt('a', granted({ expiresAt: seconds * 1_000 }))).toBe(30_000);
  },
);

test('expiration is reported in advance: early if a person has to act, otherwise after renewals have failed for long', () => {
  const { refreshToken: _token, ...last } = granted({ expiresAt: 90 * DAY });
  expect(noticeAt(last)).toBe(87 * DAY);
  expect(noticeAt({ ...last, expiresAt: 60 * MINUTE })).toBe(45 * MINUTE);
  expect(noticeAt(granted())).toBe(52.5 * MINUTE);
  const { expiresAt: _end, ...endless } = last;
  expect([noticeAt(endless), noticeAt({ ...last, accessToken: '' })]).toEqual([undefined, undefined]);
});

test('renewal is retried with a growing delay of at most five minutes', () => {
  expect(retryMs(1)).toBeLessThanOrEqual(3_000);
  expect(retryMs(4)).toBeGreaterThanOrEqual(8_000);
  expect(retryMs(50)).toBeLessThanOrEqual(300_000);
});

test('a credential is reconciled when something is due, and at least every five minutes', () => {
  expect(nextCheckAt('a', undefined, 0, 0)).toBe(5 * MINUTE);
  const soon = granted({ expiresAt: 4 * MINUTE });
  expect(nextCheckAt('a', soon, 0, 0)).toBe(renewalAt('a', soon));
  expect(nextCheckAt('a', soon, 3.9 * MINUTE, 3.5 * MINUTE)).toBe(3.9 * MINUTE);
  expect(nextCheckAt('a', soon, 0, 4 * MINUTE)).toBeGreaterThan(4 * MINUTE);
  const { refreshToken: _token, ...last } = soon;
  expect(nextCheckAt('a', last, 0, 0)).toBe(noticeAt(last));
});
