import { expect, test } from 'vitest';
import type { Use } from '../../runs/storeUse.ts';
import { createManualClock } from '../../test/support/time/manualClock.ts';
import { createFullProjects } from './fullProjects.ts';

const project = (use: Partial<Use>) => ({
  namespace: 'shop',
  use: { bytes: 0, quota: 100, keys: 0, keyQuota: 100, isShort: false, ...use } as Use,
});

test.each<[sentence: string, use: Partial<Use>, limit: string | undefined]>([
  ['has room', {}, undefined],
  ['has reached its quota', { bytes: 99 }, 'quota'],
  ['has reached its limit of keys', { keys: 99 }, 'keys'],
  ['has reached both', { bytes: 99, keys: 99 }, 'quota'],
  ['has no room for further claims', { isShort: true }, undefined],
])('a project that %s', (_sentence, use, limit) => {
  const full = createFullProjects(createManualClock());
  expect(full.seen([project(use)])).toEqual(limit === undefined ? [] : ['shop']);
  expect(full.limitOf('shop')).toBe(limit);
});

test('a project is full until it was below its limit for a minute, and each change is reported once', async () => {
  const clock = createManualClock();
  const full = createFullProjects(clock);
  const seen = (bytes: number) => full.seen([project({ bytes })]);
  expect([seen(99), seen(99), seen(10)]).toEqual([['shop'], [], []]);
  await clock.advance(59_000);
  expect([seen(99), full.limitOf('shop')]).toEqual([[], 'quota']);
  await clock.advance(59_000);
  expect(seen(10)).toEqual([]);
  await clock.advance(1_000);
  expect([seen(10), full.limitOf('shop'), seen(10)]).toEqual([['shop'], undefined, []]);
});
