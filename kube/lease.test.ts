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

test('a leader whose renewal was not answered in time tries once more before it gives up', async () => {
  const clock = createManualClock();
  const stopping = new AbortController();
  const renewals: number[] = [];
  let isLost = false;
  const leaseAt = (version: number): Lease => ({
    ...leaseOf('operator-1'),
    metadata: { namespace: 'system', name: 'operator', resourceVersion: String(version) },
  });
  const client = {
    find: async () => undefined,
    create: async () => leaseAt(0),
    replace: async () => {
      renewals.push(clock.now());
      // As the client does: an answer that does not come is given up after 5 to 5.6 s.
      if (renewals.length === 2)
        await new Promise((_resolve, reject) => clock.timer(5_500, () => reject(new Error('no answer'))));
      return leaseAt(renewals.length);
    },
  } as unknown as Parameters<typeof runWithLease>[0]['client'];
  const leading = runWithLease({
    client,
    namespace: 'system',
    name: 'operator',
    identity: 'operator-1',
    onStarted: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    onLost: () => (isLost = true),
    log: createCollectedLog(),
    signal: stopping.signal,
    clock,
  });
  await clock.advance(0);
  await clock.advance(14_000);
  expect(isLost).toBe(false);
  expect(renewals.slice(0, 3)).toEqual([2_000, 4_000, 11_500]);
  stopping.abort();
  await clock.advance(3_000);
  await leading;
});
