import { expect, test } from 'vitest';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { createWatchRounds } from './watchRounds.ts';

test('watches that begin together, or a while later, end together', async () => {
  const clock = createManualClock();
  const seconds = createWatchRounds(clock, () => 0.5);
  expect(seconds()).toBe(21);
  await clock.advance(30);
  expect(seconds()).toBe(21);
  await clock.advance(8_000);
  expect(seconds()).toBe(13);
});

test('a watch that begins at the end of a round begins the next one, which the others join', async () => {
  const clock = createManualClock();
  const seconds = createWatchRounds(clock, () => 0.999);
  expect(seconds()).toBe(23);
  await clock.advance(19_000);
  expect(seconds()).toBe(23);
  await clock.advance(4_000);
  expect(seconds()).toBe(19);
});

test('no watch is shorter than 5 s or longer than 23 s, so that a dead connection is noticed', async () => {
  const clock = createManualClock();
  const seconds = createWatchRounds(clock);
  const found: number[] = [];
  for (let begun = 0; begun < 500; begun += 1) {
    found.push(seconds());
    await clock.advance(700);
  }
  expect(Math.min(...found)).toBeGreaterThanOrEqual(5);
  expect(Math.max(...found)).toBeLessThanOrEqual(23);
});
