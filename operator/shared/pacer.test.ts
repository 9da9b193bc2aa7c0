import { expect, test } from 'vitest';
import { createManualClock, settled } from '../../test/support/time/manualClock.ts';
import { createPacer } from './pacer.ts';

test('the first one is permitted at once, and later ones at the rate', async () => {
  const clock = createManualClock();
  const pacer = createPacer(10, clock);
  const times: number[] = [];
  for (let index = 0; index < 4; index += 1) void pacer.take().then(() => times.push(clock.now()));
  await settled();
  await clock.advance(1_000);
  expect(times).toEqual([0, 100, 200, 300]);
});

test('idle time does not accumulate', async () => {
  const clock = createManualClock();
  const pacer = createPacer(10, clock);
  await clock.advance(60_000);
  const times: number[] = [];
  for (let index = 0; index < 3; index += 1) void pacer.take().then(() => times.push(clock.now()));
  await settled();
  await clock.advance(1_000);
  expect(times).toEqual([60_000, 60_100, 60_200]);
});
