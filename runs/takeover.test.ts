import { expect, test } from 'vitest';
import { createBeatWatch } from './takeover.ts';

const at = (beat: string) => new Map([['other', beat]]);
const dead = [['other', '1']];

test('a beat that stands still for the time is dead, and one that moves is not', () => {
  const watch = createBeatWatch(4_000);
  for (let now = 0; now < 20_000; now += 2_000) expect(watch.seen(at('1'), 20_000, now)).toEqual([]);
  expect(watch.seen(at('1'), 20_000, 20_000)).toEqual(dead);
  expect(watch.seen(at('2'), 20_000, 22_000)).toEqual([]);
});

test('time in which the store was not reached does not count', () => {
  const watch = createBeatWatch(4_000);
  watch.seen(at('1'), 5_000, 0);
  watch.seen(at('1'), 5_000, 2_000);
  watch.interrupted();
  expect(watch.seen(at('1'), 5_000, 60_000)).toEqual([]);
  expect(watch.seen(at('1'), 5_000, 62_000)).toEqual([]);
  expect(watch.seen(at('1'), 5_000, 64_000)).toEqual(dead);
});

test('a process that was suspended itself does not take the time for that of others', () => {
  const watch = createBeatWatch(4_000);
  watch.seen(at('1'), 20_000, 0);
  expect(watch.seen(at('1'), 20_000, 3_600_000)).toEqual([]);
});

test('a runner that never beat is dead as any other, and one that is gone is forgotten', () => {
  const watch = createBeatWatch(4_000);
  watch.seen(at(''), 4_000, 0);
  expect(watch.seen(at(''), 4_000, 4_000)).toEqual([['other', '']]);
  expect(watch.seen(new Map(), 4_000, 8_000)).toEqual([]);
  expect(watch.seen(at(''), 4_000, 12_000)).toEqual([]);
});
