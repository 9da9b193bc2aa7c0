import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { pollUntil } from '../../test/support/time/poll.ts';
import { createPacedQueue, type PacedQueue } from './pacedQueue.ts';

test('items run in order, a few per turn of the event loop', async () => {
  const turns = createPacedQueue({ perTurn: 2 });
  const done: number[] = [];
  for (const piece of [1, 2, 3, 4, 5]) turns.add(() => void done.push(piece));
  expect(done).toEqual([]);
  const seen: number[][] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn();
    seen.push([...done]);
  }
  expect(seen).toEqual([
    [1, 2],
    [1, 2, 3, 4],
    [1, 2, 3, 4, 5],
  ]);
});

test('items added meanwhile wait for the next turn, and an empty queue starts again', async () => {
  const turns = createPacedQueue({ perTurn: 2 });
  const done: string[] = [];
  turns.add(() => {
    done.push('first');
    turns.add(() => void done.push('second'));
  });
  await nextTurn();
  await nextTurn();
  expect(done).toEqual(['first', 'second']);
  turns.add(() => void done.push('third'));
  await nextTurn();
  expect(done).toEqual(['first', 'second', 'third']);
});

test('finished items are released, though the queue is never empty', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const turns = createPacedQueue({ perTurn: 2 });
  let goesOn = true;
  const again = () => {
    if (goesOn) turns.add(again);
  };
  for (let piece = 0; piece < 10; piece += 1) turns.add(again);
  const what = new WeakRef(addOwn(turns));
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  collect();
  expect(what.deref()).toBeUndefined();
  goesOn = false;
});

test('an item runs at once when too many wait', () => {
  const turns = createPacedQueue({ most: 2 });
  const done: number[] = [];
  for (const piece of [1, 2, 3]) turns.add(() => void done.push(piece));
  expect(done).toEqual([3]);
});

test('items beyond the rate wait', async () => {
  const turns = createPacedQueue({ perTurn: 10, rate: { requestsPerSecond: 1_000, burst: 3 } });
  const begin = performance.now();
  const times: number[] = [];
  for (let piece = 0; piece < 13; piece += 1) turns.add(() => void times.push(performance.now() - begin));
  await pollUntil('all being done', () => times.length === 13, { timeoutMs: 10_000, everyMs: 1 });
  expect(times.slice(3).every((time, at) => time >= at)).toBe(true);
});

/** Adds work that holds an object, which it returns. */
function addOwn(turns: PacedQueue): object {
  const own = {};
  turns.add(() => void own);
  return own;
}
