import { expect, test } from 'vitest';
import { createManualClock, settled } from '../test/support/time/manualClock.ts';
import { createQueue, type QueueOptions } from './queue.ts';

/** A queue whose runs end when the test says so. */
function setUp(options: QueueOptions = {}) {
  const clock = createManualClock();
  const queue = createQueue({ clock, random: () => 0.5, ...options });
  const started: string[] = [];
  const open = new Map<string, () => void>();
  const work = (key: string): Promise<void> => {
    started.push(key);
    return new Promise((resolve) => open.set(key, resolve));
  };
  const finish = async (key: string): Promise<void> => {
    const end = open.get(key);
    if (end === undefined) throw new Error(`${key} is not running`);
    open.delete(key);
    end();
    await settled();
  };
  return { clock, queue, started, work, finish };
}

test('keys that were added before the start are worked on once each, in order', () => {
  const { queue, started, work } = setUp({ concurrency: 10 });
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
  queue.start(work);
  expect(started).toEqual(['a', 'b', 'c']);
});

test('no more keys are worked on at once than the limit says', async () => {
  const { queue, started, work, finish } = setUp({ concurrency: 2 });
  queue.start(work);
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  expect(started).toEqual(['a', 'b']);
  expect(queue.stats()).toEqual({ ready: 2, delayed: 0, running: 2, failing: 0 });
  await finish('a');
  expect(started).toEqual(['a', 'b', 'c']);
});

test('a burst for a key that is worked on gives exactly one more run, after it', async () => {
  const { queue, started, work, finish } = setUp({ concurrency: 10 });
  queue.start(work);
  queue.add('a');
  for (let count = 0; count < 100; count += 1) queue.add('a');
  expect(started).toEqual(['a']);
  await finish('a');
  expect(started).toEqual(['a', 'a']);
  await finish('a');
  expect(started).toEqual(['a', 'a']);
});

test('a delayed key runs at its time, and the earlier of two times counts', async () => {
  const { clock, queue, started, work, finish } = setUp();
  queue.start(work);
  queue.addAfter('a', 1_000);
  queue.addAfter('a', 500);
  queue.addAfter('a', 5_000);
  await clock.advance(499);
  expect(started).toEqual([]);
  await clock.advance(1);
  expect(started).toEqual(['a']);
  await finish('a');
  await clock.advance(10_000);
  expect(started).toEqual(['a']);
});

test('a key that is added meanwhile runs at once, and its delay is forgotten', async () => {
  const { clock, queue, started, work, finish } = setUp();
  queue.start(work);
  queue.addAfter('a', 1_000);
  queue.add('a');
  expect(started).toEqual(['a']);
  await finish('a');
  await clock.advance(2_000);
  expect(started).toEqual(['a']);
});

test('a delay that a run asked for while it ran counts from then', async () => {
  const { clock, queue, started, work, finish } = setUp();
  queue.start(work);
  queue.add('a');
  queue.addAfter('a', 100);
  await finish('a');
  await clock.advance(100);
  expect(started).toEqual(['a', 'a']);
});

test('retries of a key are further and further apart, up to the maximum, until it is forgotten', async () => {
  const { queue } = setUp({ backoff: { initialMs: 100, factor: 2, maxMs: 500, jitter: 0.2 } });
  expect([1, 2, 3, 4, 5].map(() => queue.retry('a'))).toEqual([100, 200, 400, 500, 500]);
  expect(queue.stats().failing).toBe(1);
  queue.forget('a');
  expect(queue.retry('a')).toBe(100);
  expect(queue.retry('b')).toBe(100);
});

test('one failing key does not hold up another', async () => {
  const { queue, started, work, finish } = setUp({ concurrency: 1 });
  queue.start(work);
  queue.add('bad');
  queue.add('good');
  queue.retry('bad');
  await finish('bad');
  expect(started).toEqual(['bad', 'good']);
});

test('keys without state use no memory', async () => {
  const { clock, queue, work, finish } = setUp();
  queue.start(work);
  for (let count = 0; count < 1_000; count += 1) {
    queue.add(`key-${count}`);
    await finish(`key-${count}`);
  }
  expect(queue.stats()).toEqual({ ready: 0, delayed: 0, running: 0, failing: 0 });
  expect(clock.timers()).toBe(0);
});

test('drain starts nothing more and waits for what is running', async () => {
  const { clock, queue, started, work, finish } = setUp({ concurrency: 1 });
  queue.start(work);
  for (const key of ['a', 'b']) queue.add(key);
  queue.addAfter('c', 100);
  let drained = false;
  const drain = async (): Promise<void> => {
    await queue.drain();
    drained = true;
  };
  const end = drain();
  queue.add('a');
  queue.add('d');
  await clock.advance(1_000);
  expect({ drained, started }).toEqual({ drained: false, started: ['a'] });
  await finish('a');
  await end;
  expect(started).toEqual(['a']);
  expect(clock.timers()).toBe(0);
});

test('an idle queue is drained at once', async () => {
  await expect(setUp().queue.drain()).resolves.toBeUndefined();
});
