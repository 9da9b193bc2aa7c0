import { expect, test } from 'vitest';
import { createHealth } from './health.ts';

type State = { routes: number; lease: number; steady?: number; draining?: boolean };

const unready = ({ routes, lease, steady = 0, draining = false }: State) =>
  createHealth({
    routesAgeMs: () => routes,
    lease: () => ({ ageMs: lease, steadyMs: steady }),
    draining: () => draining,
  }).unready();

test('a replica is ready once it has synced and acknowledged the routes', () => {
  expect(unready({ routes: Infinity, lease: Infinity })).toBe('routes are not synced yet');
  expect(unready({ routes: 0, lease: Infinity })).toBe('lease is not written yet');
  expect(unready({ routes: 0, lease: 0 })).toBeUndefined();
});

test('it stays ready while the API server is unavailable', () => {
  expect(unready({ routes: 3_600_000, lease: 3_600_000 })).toBeUndefined();
});

test('it is not ready when it alone lags behind', () => {
  expect(unready({ routes: 61_000, lease: 5_000, steady: 61_000 })).toBe('routes are out of date');
  expect(unready({ routes: 30_000, lease: 5_000, steady: 61_000 })).toBeUndefined();
});

test('it stays ready when the API server is back and accepts its Lease before the watch restarts', () => {
  expect(unready({ routes: 75_000, lease: 1_000, steady: 15_000 })).toBeUndefined();
  expect(unready({ routes: 121_000, lease: 1_000, steady: 61_000 })).toBe('routes are out of date');
});

test('it is not ready while it shuts down', () => {
  expect(unready({ routes: 0, lease: 0, draining: true })).toBe('shutting down');
});
