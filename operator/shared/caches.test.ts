import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { KubeClient } from '../../kube/client.ts';
import { createCollectedLog } from '../../test/support/logs/collectedLog.ts';
import { createCaches, startCaches } from './caches.ts';

type Watched = { of: string; seconds: number };

/** The watches that caches of these namespaces ask an API server without objects for. */
async function watchesOf(watched: readonly string[]): Promise<Watched[]> {
  const stopping = new AbortController();
  const found: Watched[] = [];
  const client = {
    listAll: async () => ({ metadata: { resourceVersion: '1' }, items: [] }),
    watch: async function* (_resource: unknown, { namespace, fieldSelector, timeoutSeconds }: Request) {
      found.push({ of: namespace ?? fieldSelector?.split('=')[1] ?? '', seconds: timeoutSeconds });
      await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
      yield* [];
    },
  } as unknown as KubeClient;
  const caches = createCaches({ client, namespace: 'windlass', watched, log: createCollectedLog() });
  const running = startCaches(caches, stopping.signal);
  const { leases: _leases, slices: _slices, ...ofNamespaces } = caches;
  const expected = Object.keys(ofNamespaces).length * Math.max(1, watched.length) + 2;
  while (found.length < expected) await turn();
  stopping.abort();
  await running;
  return found;
}

type Request = { namespace?: string; fieldSelector?: string; timeoutSeconds: number };

const spread = (seconds: readonly number[]) => Math.max(...seconds) - Math.min(...seconds);

test('all watches of an operator end together', async () => {
  const watches = await watchesOf([]);
  expect(spread(watches.map(({ seconds }) => seconds))).toBeLessThanOrEqual(1);
});

test('with watched namespaces those of each end together, and not those of all', async () => {
  const namespaces = Array.from({ length: 30 }, (_, index) => `shop-${index}`);
  const watches = await watchesOf(namespaces);
  const ofEach = namespaces.map((name) =>
    watches.filter(({ of }) => of === name).map(({ seconds }) => seconds),
  );
  expect(Math.max(...ofEach.map(spread))).toBeLessThanOrEqual(1);
  expect(new Set(ofEach.map(([first]) => first)).size).toBeGreaterThan(1);
});
