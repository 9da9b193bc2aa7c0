import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { pollUntil } from '../../test/support/time/poll.ts';
import { createProjectConcurrency, createWaiterLimit } from './projectLimits.ts';

test('a project at its limit waits, in order, and other projects do not', async () => {
  const concurrency = createProjectConcurrency({ most: 2 });
  const entered: string[] = [];
  const enter = (project: string, name: string) =>
    concurrency.enter(project).then((mayEnter) => mayEnter && entered.push(name));
  for (const name of ['a1', 'a2', 'a3', 'a4']) void enter('a', name);
  void enter('b', 'b1');
  await nextTurn();
  expect(entered).toEqual(['a1', 'a2', 'b1']);
  concurrency.leave('a');
  await nextTurn();
  expect(entered).toEqual(['a1', 'a2', 'b1', 'a3']);
  concurrency.leave('a');
  await nextTurn();
  expect(entered.at(-1)).toBe('a4');
});

test('a submission that waited too long is refused and takes no place', async () => {
  const concurrency = createProjectConcurrency({ most: 1, maxWaitMs: 20 });
  expect(await concurrency.enter('a')).toBe(true);
  const begin = performance.now();
  const late = [concurrency.enter('a'), concurrency.enter('a')];
  await pollUntil('both being late', () => performance.now() - begin > 20, { timeoutMs: 1_000, everyMs: 5 });
  concurrency.leave('a');
  expect(await Promise.all(late)).toEqual([false, false]);
  expect(await concurrency.enter('a')).toBe(true);
});

/** The part of a response that waiting uses. */
function responseOf() {
  const response = Object.assign(new EventEmitter(), { destroyed: false });
  return { response: response as unknown as ServerResponse, close: () => response.emit('close') };
}

test('a project gets half of the places, and each is free again when the response closes', () => {
  const { enter } = createWaiterLimit(4);
  const callers = [responseOf(), responseOf()];
  for (const { response } of callers) expect(enter('flood', response)).toBe(true);
  expect(enter('flood', responseOf().response)).toBe(false);
  expect(enter('other', responseOf().response)).toBe(true);
  expect(enter('other', responseOf().response)).toBe(true);
  expect(enter('third', responseOf().response)).toBe(false);
  callers[0]?.close();
  expect(enter('third', responseOf().response)).toBe(true);
  expect(enter('flood', responseOf().response)).toBe(false);
});

test('a closed response takes no place', () => {
  const { enter } = createWaiterLimit(4);
  for (let caller = 0; caller < 10; caller += 1) {
    const { response } = responseOf();
    response.destroyed = true;
    enter('shop', response);
  }
  expect(enter('shop', responseOf().response)).toBe(true);
});
