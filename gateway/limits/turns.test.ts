import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('work is done in the order in which it came, and so much of it in one turn of the event loop', async () => {
  const turns = createTurns(2);
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

test('what comes while work is done waits for the next turn, and after the last one all begins anew', async () => {
  const turns = createTurns(2);
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
