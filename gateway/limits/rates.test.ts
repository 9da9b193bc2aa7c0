import { expect, test } from 'vitest';
import type { RouteSpec } from '../../api/route.ts';
import { createRates, type Called } from './rates.ts';
import { createRecentMap } from './boundedMaps.ts';
import { limitSettings } from './settings.ts';

const NONE = { requestsPerSecond: 0 };

function rates(over: object) {
  return createRates(limitSettings.parse({ perRoute: NONE, perProject: NONE, perAddress: NONE, ...over }));
}

function routeOf(rateLimit?: NonNullable<RouteSpec['webhook']>['rateLimit']): Called {
  const webhook = { path: 'new', reply: false, replyTimeoutSeconds: 30, ...(rateLimit && { rateLimit }) };
  return { spec: { projectUID: 'shop', webhook } };
}

test('after its burst a route accepts calls at its rate, and refusals say when to retry', () => {
  const { ofRoute } = rates({ perRoute: { requestsPerSecond: 2, burst: 3 } });
  const orders = routeOf();
  for (let call = 0; call < 3; call += 1) expect(ofRoute(orders, 0)).toBeUndefined();
  expect(ofRoute(orders, 0)).toEqual({ reason: 'rate-per-route', retryAfter: 1 });
  expect(ofRoute(orders, 400)).toMatchObject({ reason: 'rate-per-route' });
  expect(ofRoute(orders, 500)).toBeUndefined();
  expect(ofRoute(orders, 500)).toMatchObject({ reason: 'rate-per-route' });
  expect(ofRoute(routeOf(), 500)).toBeUndefined();
});

test('with a rate below one a second a refusal names the whole wait', () => {
  const { ofAddress } = rates({ perAddress: { requestsPerSecond: 1, burst: 1 } });
  expect(ofAddress('203.0.113.9', 0)).toBeUndefined();
  expect(ofAddress('203.0.113.9', 100)).toEqual({ reason: 'rate-per-address', retryAfter: 1 });
  expect(ofAddress('203.0.113.8', 100)).toBeUndefined();
});

test('a rate without a burst admits the calls of two seconds at once', () => {
  const { ofRoute } = rates({ perRoute: { requestsPerSecond: 5 } });
  const orders = routeOf();
  for (let call = 0; call < 10; call += 1) expect(ofRoute(orders, 0)).toBeUndefined();
  expect(ofRoute(orders, 0)).toBeDefined();
});

test("a webhook's own limit counts in place of the installation's, the project's beside it", () => {
  const { ofRoute } = rates({
    perRoute: { requestsPerSecond: 1, burst: 1 },
    perProject: { requestsPerSecond: 1, burst: 3 },
  });
  const own = routeOf({ requestsPerSecond: 10, burst: 10 });
  for (let call = 0; call < 3; call += 1) expect(ofRoute(own, 0)).toBeUndefined();
  expect(ofRoute(own, 0)).toMatchObject({ reason: 'rate-per-project' });
  expect(ofRoute(routeOf(), 0)).toMatchObject({ reason: 'rate-per-project' });
});

test('a clock that stops or goes back adds no tokens', () => {
  const { ofRoute } = rates({ perRoute: { requestsPerSecond: 1, burst: 1 } });
  const orders = routeOf();
  expect(ofRoute(orders, 5_000)).toBeUndefined();
  expect(ofRoute(orders, 1_000)).toBeDefined();
});

test('the number of remembered addresses is bounded, and active ones stay', () => {
  const recent = createRecentMap<{ calls: number }>(100);
  const regular = recent.of('regular', () => ({ calls: 1 }));
  const stayed: boolean[] = [];
  for (let stranger = 0; stranger < 10_000; stranger += 1) {
    recent.of(`stranger-${stranger}`, () => ({ calls: 1 }));
    if (stranger % 40 === 0) stayed.push(recent.of('regular', () => ({ calls: 0 })) === regular);
  }
  expect(new Set(stayed)).toEqual(new Set([true]));
  expect(recent.size()).toBeLessThanOrEqual(100);
});
