import { expect, test } from 'vitest';
import { createMutex } from './mutex.ts';

const never = new AbortController().signal;

test('one caller works at a time, in order, also after a failure', async () => {
  const mutex = createMutex();
  const done: string[] = [];
  let isAtWork = false;
  const work = (name: string) => async () => {
    expect(isAtWork).toBe(false);
    isAtWork = true;
    await new Promise((resolve) => setImmediate(resolve));
    isAtWork = false;
    done.push(name);
    if (name === 'b') throw new Error('b failed');
    return name;
  };
  const all = ['a', 'b', 'c'].map((name) => mutex.run(work(name), never));
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(done).toEqual(['a', 'b', 'c']);
  expect(await mutex.run(work('d'), never)).toEqual({ result: 'd' });
});

test('a caller that gives up waiting does not hold the mutex', async () => {
  const mutex = createMutex();
  let end = () => {};
  const first = mutex.run(() => new Promise<void>((resolve) => (end = resolve)), never);
  const giveUp = new AbortController();
  const second = mutex.run(async () => 'second', giveUp.signal);
  const third = mutex.run(async () => 'third', never);
  giveUp.abort();
  expect(await second).toBeUndefined();
  end();
  await first;
  expect(await third).toEqual({ result: 'third' });
});
