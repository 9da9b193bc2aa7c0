import { expect, test } from 'vitest';
import { createCollectedLog } from '../test/support/logs/collectedLog.ts';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { runWithLease } from './lease.ts';
import type { Lease } from './resource.ts';

const leaseOf = (holderIdentity: string): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'system', name: 'operator', resourceVersion: holderIdentity },
  spec: { holderIdentity, leaseDurationSeconds: 15 },
});

test('who waits for a lease logs once who holds it, and again when another does', async () => {
  const clock = createManualClock();
  const log = createCollectedLog();
  const stopping = new AbortController();
  let holder = 'operator-1';
  const client = {
    find: async () => leaseOf(holder),
    create: () => Promise.reject(new Error('not expected')),
    replace: () => Promise.reject(new Error('not expected')),
  } as unknown as Parameters<typeof runWithLease>[0]['client'];
  const waiting = runWithLease({
    client,
    namespace: 'system',
    name: 'operator',
    identity: 'operator-2',
    onStarted: () => Promise.resolve(),
    onLost: () => undefined,
    log,
    signal: stopping.signal,
    clock,
  });
  for (holder of ['operator-1', 'operator-1', 'operator-3']) await clock.advance(3_000);
  stopping.abort();
  await clock.advance(3_000);
  await waiting;
  expect(log.entries.map(({ message, fields }) => [message, fields])).toEqual([
    ['waiting for the lease', { lease: 'operator', holder: 'operator-1' }],
    ['waiting for the lease', { lease: 'operator', holder: 'operator-3' }],
  ]);
});
