import { expect, test } from 'vitest';
import { limitSettings } from './settings.ts';
import { createUnverifiedRates, type Attempt, type Unverified } from './unverified.ts';

const HOOK = 'uid-orders';
const HONEST = '140.82.112.7';
const STRANGER = '198.51.100.9';
const TOO_MANY = { reason: 'rate-unverified', retryAfter: 1 };

function unverified(over: object = {}): Unverified {
  const settings = {
    unverifiedPerAddress: { requestsPerSecond: 1, burst: 3 },
    unverifiedPerRoute: { requestsPerSecond: 1, burst: 6 },
    perRoute: { requestsPerSecond: 100, burst: 100 },
  };
  return createUnverifiedRates(limitSettings.parse({ ...settings, ...over }));
}

/** How many of so many calls may be verified. */
function admitted({ begin }: Unverified, calls: number, address = STRANGER, now = 0, webhook = HOOK): number {
  return Array.from({ length: calls }, () => begin(webhook, address, now)).filter((told) => 'key' in told)
    .length;
}

function pass(limit: Unverified, address: string, now = 0): void {
  limit.passed(limit.begin(HOOK, address, now) as Attempt, now);
}

test('an address may fail at its rate, and refusals say when to retry', () => {
  const limit = unverified();
  expect(admitted(limit, 5)).toBe(3);
  expect(limit.begin(HOOK, STRANGER, 500)).toEqual(TOO_MANY);
  expect(admitted(limit, 5, STRANGER, 2_000)).toBe(2);
});

test('a verified call does not count', () => {
  const limit = unverified();
  for (let call = 0; call < 1_000; call += 1) pass(limit, HONEST);
  expect(admitted(limit, 10, STRANGER)).toBe(3);
});

test('failed calls of one address affect neither other addresses nor other webhooks', () => {
  const limit = unverified();
  expect(admitted(limit, 1_000)).toBe(3);
  expect(admitted(limit, 3, HONEST)).toBe(3);
  expect(admitted(limit, 3, STRANGER, 0, 'uid-returns')).toBe(3);
});

test('many addresses together may fail at the rate of the webhook', () => {
  const limit = unverified();
  const flood = Array.from({ length: 500 }, (_, at) => admitted(limit, 1, `203.0.113.${at}`));
  expect(flood.filter((count) => count === 1)).toHaveLength(6);
});

test('an address with a verified call is refused neither for other addresses nor for failures of its own', () => {
  const limit = unverified();
  pass(limit, HONEST);
  for (let at = 0; at < 50_000; at += 1) limit.begin(HOOK, `2001:db8:${at.toString(16)}::/64`, 0);
  expect(admitted(limit, 1, STRANGER)).toBe(0);
  expect(admitted(limit, 60, HONEST)).toBe(60);
});

test('failures of a trusted address are bounded, and trust ends ten minutes after its last verified call', () => {
  const limit = unverified();
  pass(limit, HONEST);
  expect(admitted(limit, 150, HONEST)).toBe(100);
  expect(admitted(limit, 150, HONEST, 599_999)).toBe(100);
  expect(admitted(limit, 150, HONEST, 600_000)).toBe(3);
});

test('a rate of 0 means unlimited', () => {
  const none = { requestsPerSecond: 0 };
  const limit = unverified({ unverifiedPerAddress: none, unverifiedPerRoute: none, perRoute: none });
  expect(admitted(limit, 10_000)).toBe(10_000);
  pass(limit, STRANGER);
  expect(admitted(limit, 10_000)).toBe(10_000);
});
