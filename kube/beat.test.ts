import { expect, test } from 'vitest';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { nextBeat, untilBeat } from './beat.ts';

const SECOND = 1_000;

test.each([
  ['at its end', 5_000, 10_000],
  ['a moment later', 5_020, 10_000],
  ['a moment too early', 4_999, 10_000],
  ['after work of nearly half of it', 7_499, 10_000],
  ['after work of more than half of it', 7_501, 15_000],
])('a pause of five seconds that begins %s ends at a multiple of its length', (_what, now, end) => {
  expect(nextBeat(now, 5 * SECOND)).toBe(end);
});

test('pauses of different lengths that end at the same time share one timer', async () => {
  const clock = createManualClock();
  const { signal } = new AbortController();
  const ended: string[] = [];
  await clock.advance(5_030);
  void untilBeat(5 * SECOND, signal, clock).then(() => ended.push('five seconds'));
  await clock.advance(3 * SECOND);
  void untilBeat(2 * SECOND, signal, clock).then(() => ended.push('two seconds'));
  await clock.advance(SECOND);
  void untilBeat(SECOND, signal, clock).then(() => ended.push('one second'));
  expect(clock.timers()).toBe(1);
  await clock.advance(969);
  expect(ended).toEqual([]);
  await clock.advance(1);
  expect(ended).toEqual(['five seconds', 'two seconds', 'one second']);
  expect(clock.timers()).toBe(0);
});

test('a pause whose signal is aborted ends at once, and the others at their time', async () => {
  const clock = createManualClock();
  const [stopping, other] = [new AbortController(), new AbortController()];
  const ended: string[] = [];
  void untilBeat(SECOND, stopping.signal, clock).then(() => ended.push('stopped'));
  void untilBeat(SECOND, other.signal, clock).then(() => ended.push('other'));
  stopping.abort();
  await clock.advance(0);
  expect(ended).toEqual(['stopped']);
  await clock.advance(SECOND);
  expect(ended).toEqual(['stopped', 'other']);
  await untilBeat(SECOND, stopping.signal, clock);
  void untilBeat(SECOND, other.signal, clock);
  other.abort();
  expect(clock.timers()).toBe(0);
});
