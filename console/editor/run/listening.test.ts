import { expect, test } from 'vitest';
import type { RunObject } from '../../kube/resources.ts';
import { hasBegun, refusalOf } from './listening.ts';

type Status = NonNullable<RunObject['status']>;
const at = { url: 'https://hooks.example.com/webhook/shop.orders/test-1', until: '2026-06-01T00:02:00Z' };

test.each<[string, Status | undefined, boolean, string | undefined]>([
  ['was just created', undefined, false, undefined],
  ['listens', { phase: 'Pending', listening: at }, false, undefined],
  ['waits for a runner with its event', { phase: 'Pending', sequence: 1, listening: at }, true, undefined],
  [
    'has failed with its event',
    { phase: 'Failed', sequence: 4, reason: 'NodeFailed', listening: at },
    true,
    'NodeFailed',
  ],
  ['got no event', { phase: 'Cancelled', reason: 'NoEvent', message: 'No event came.' }, false, 'NoEvent'],
  ['cannot listen', { phase: 'Failed', reason: 'CannotListen', message: 'No.' }, false, 'CannotListen'],
])('a run that %s', (_what, status, begun, refused) => {
  const run = { ...(status && { status }) };
  expect(hasBegun(run)).toBe(begun);
  expect(refusalOf(run)?.reason).toBe(refused);
});
