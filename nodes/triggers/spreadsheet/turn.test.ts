import { expect, test } from 'vitest';
import { createTurns } from './turn.ts';

const never = new AbortController().signal;

test('one works at a time, in the order in which they came, also after one that failed', async () => {
  const turns = createTurns();
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
  const all = ['a', 'b', 'c'].map((name) => turns.take(work(name), never));
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(done).toEqual(['a', 'b', 'c']);
  expect(await turns.take(work('d'), never)).toEqual({ result: 'd' });
});

test('whoever gives up waiting takes the turn of nobody', async () => {
  const turns = createTurns();
  let end = () => {};
  const first = turns.take(() => new Promise<void>((resolve) => (end = resolve)), never);
  const giveUp = new AbortController();
  const second = turns.take(async () => 'second', giveUp.signal);
  const third = turns.take(async () => 'third', never);
  giveUp.abort();
  expect(await second).toBeUndefined();
  end();
  await first;
  expect(await third).toEqual({ result: 'third' });
});
