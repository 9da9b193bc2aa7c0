import { expect, test } from 'vitest';
import { createHealth } from './health.ts';

type State = { routes: number; lease: number; draining?: boolean };

const unready = ({ routes, lease, draining = false }: State) =>
  createHealth({ routesAgeMs: () => routes, leaseAgeMs: () => lease, draining: () => draining }).unready();

test('a replica is ready once it knows the routes and has said so', () => {
  expect(unready({ routes: Infinity, lease: Infinity })).toBe('the routes are not known yet');
  expect(unready({ routes: 0, lease: Infinity })).toBe('the lease was not written yet');
  expect(unready({ routes: 0, lease: 0 })).toBeUndefined();
});

test('it stays ready while the API server is away', () => {
  expect(unready({ routes: 3_600_000, lease: 3_600_000 })).toBeUndefined();
});

test('it is not ready when it alone has lost the routes', () => {
  expect(unready({ routes: 61_000, lease: 5_000 })).toBe('the routes are out of date');
  expect(unready({ routes: 30_000, lease: 5_000 })).toBeUndefined();
});

test('it is not ready when it is going away', () => {
  expect(unready({ routes: 0, lease: 0, draining: true })).toBe('shutting down');
});
