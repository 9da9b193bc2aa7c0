import { expect, test } from 'vitest';
import { createQueue } from './queue.ts';

test('items leave in order of arrival', () => {
  const queue = createQueue<number>();
  queue.push(1);
  queue.push(2);
  expect(queue.shift()).toBe(1);
  queue.push(3);
  expect([queue.size(), queue.shift(), queue.shift(), queue.shift(), queue.size()]).toEqual([
    2,
    2,
    3,
    undefined,
    0,
  ]);
});
