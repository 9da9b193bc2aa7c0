import { expect, test } from 'vitest';
import { createHeartbeatWatch } from './takeover.ts';

const at = (beat: string) => new Map([['other', beat]]);
const dead = [['other', '1']];

test('a runner is dead when its heartbeat has stopped for the time', () => {
  const watch = createHeartbeatWatch(4_000);
  for (let now = 0; now < 20_000; now += 2_000) expect(watch.deadRunners(at('1'), 20_000, now)).toEqual([]);
  expect(watch.deadRunners(at('1'), 20_000, 20_000)).toEqual(dead);
  expect(watch.deadRunners(at('2'), 20_000, 22_000)).toEqual([]);
});

test('time without the store does not count', () => {
  const watch = createHeartbeatWatch(4_000);
  watch.deadRunners(at('1'), 5_000, 0);
  watch.deadRunners(at('1'), 5_000, 2_000);
  watch.interrupted();
  expect(watch.deadRunners(at('1'), 5_000, 60_000)).toEqual([]);
  expect(watch.deadRunners(at('1'), 5_000, 62_000)).toEqual([]);
  expect(watch.deadRunners(at('1'), 5_000, 64_000)).toEqual(dead);
});

test('time in which this process was suspended does not count', () => {
  const watch = createHeartbeatWatch(4_000);
  watch.deadRunners(at('1'), 20_000, 0);
  expect(watch.deadRunners(at('1'), 20_000, 3_600_000)).toEqual([]);
});

test('a runner without any heartbeat is dead too, and one that is gone is forgotten', () => {
  const watch = createHeartbeatWatch(4_000);
  watch.deadRunners(at(''), 4_000, 0);
  expect(watch.deadRunners(at(''), 4_000, 4_000)).toEqual([['other', '']]);
  expect(watch.deadRunners(new Map(), 4_000, 8_000)).toEqual([]);
  expect(watch.deadRunners(at(''), 4_000, 12_000)).toEqual([]);
});
