import { expect, test } from 'vitest';
import { createManualClock } from '../test/support/time/manualClock.ts';
import type { KubeObject } from './resource.ts';
import { createWriteGuard } from './writeGuard.ts';

function version(resourceVersion: string, uid = 'u1'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'shop', name: 'a', uid, resourceVersion },
  };
}

test('until the watch delivers what we wrote, every other copy is older', () => {
  const guard = createWriteGuard(createManualClock());
  guard.note(version('20'), version('10'));
  expect(guard.isOlder(version('10'))).toBe(true);
  expect(guard.isOlder(version('20'))).toBe(false);
  guard.delivered(version('15'), false);
  expect(guard.isOlder(version('15'))).toBe(true);
  guard.delivered(version('20'), false);
  expect(guard.isOlder(version('20'))).toBe(false);
});

test('a version that the watch delivered before the answer to the write is not pending', () => {
  const guard = createWriteGuard(createManualClock());
  guard.delivered(version('20'), false);
  guard.delivered(version('30'), false);
  guard.note(version('20'), version('30'));
  expect(guard.isOlder(version('30'))).toBe(false);
});

test('a write that changed nothing is not waited for', () => {
  const guard = createWriteGuard(createManualClock());
  guard.note(version('10'), version('10'));
  expect(guard.isPending('shop/a')).toBe(false);
});

test('an object that we made is pending until it is delivered', () => {
  const guard = createWriteGuard(createManualClock());
  guard.note(version('10'), undefined);
  expect(guard.isPending('shop/a')).toBe(true);
  guard.delivered(version('10'), false);
  expect(guard.isPending('shop/a')).toBe(false);
});

test('its deletion ends the wait, the deletion of its predecessor of the same name does not', () => {
  const guard = createWriteGuard(createManualClock());
  guard.note(version('20', 'second'), version('10', 'first'));
  guard.delivered(version('15', 'first'), true);
  expect(guard.isPending('shop/a')).toBe(true);
  guard.delivered(version('30', 'second'), true);
  expect(guard.isPending('shop/a')).toBe(false);
});

test('a list that was asked for after the write ends the wait, one from before does not', async () => {
  const clock = createManualClock();
  const guard = createWriteGuard(clock);
  const before = clock.now();
  await clock.advance(10);
  guard.note(version('20'), version('10'));
  guard.listed(before);
  expect(guard.isPending('shop/a')).toBe(true);
  await clock.advance(10);
  guard.listed(clock.now());
  expect(guard.isPending('shop/a')).toBe(false);
});

test('after a minute the wait is given up', async () => {
  const clock = createManualClock();
  const guard = createWriteGuard(clock);
  guard.note(version('20'), version('10'));
  await clock.advance(59_999);
  expect(guard.isOlder(version('10'))).toBe(true);
  await clock.advance(1);
  expect(guard.isOlder(version('10'))).toBe(false);
});
