import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createWaits } from './waits.ts';

/** A response as far as waiting looks at it. */
function responseOf(writableLength = 0) {
  const socket = { destroyed: false, destroy: () => void (socket.destroyed = true) };
  const response = Object.assign(new EventEmitter(), { destroyed: false, writableLength, req: { socket } });
  return { response: response as unknown as ServerResponse, socket, close: () => response.emit('close') };
}

const LIMITS = { waiting: 4, unreadBytes: 100 };

test('a project may have half of all places, and gives each back when its caller is answered or gone', () => {
  const { enter } = createWaits(LIMITS);
  const callers = [responseOf(), responseOf()];
  for (const { response } of callers) expect(enter('flood', response)).toBeDefined();
  expect(enter('flood', responseOf().response)).toBeUndefined();
  expect(enter('other', responseOf().response)).toBeDefined();
  expect(enter('other', responseOf().response)).toBeDefined();
  expect(enter('third', responseOf().response)).toBeUndefined();
  callers[0]?.close();
  expect(enter('third', responseOf().response)).toBeDefined();
  expect(enter('flood', responseOf().response)).toBeUndefined();
});

test('who has gone before takes no place', () => {
  const { enter } = createWaits(LIMITS);
  for (let caller = 0; caller < 10; caller += 1) {
    const { response } = responseOf();
    response.destroyed = true;
    enter('shop', response)?.answered();
  }
  expect(enter('shop', responseOf().response)).toBeDefined();
});

test('when too much lies about unread, whoever has not read for longest is disconnected', () => {
  const { enter } = createWaits({ ...LIMITS, waiting: 100 });
  const [first, second, read, last] = [responseOf(60), responseOf(40), responseOf(0), responseOf(10)];
  for (const { response } of [first, second, read]) enter('shop', response)?.answered();
  expect(first.socket.destroyed).toBe(false);
  enter('shop', last.response)?.answered();
  expect([first, second, read, last].map(({ socket }) => socket.destroyed)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('what was read at last counts no more', () => {
  const { enter } = createWaits({ ...LIMITS, waiting: 100 });
  const callers = Array.from({ length: 20 }, () => responseOf(90));
  for (const { response, close } of callers) {
    enter('shop', response)?.answered();
    close();
  }
  expect(callers.some(({ socket }) => socket.destroyed)).toBe(false);
});
