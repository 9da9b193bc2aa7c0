import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createWaits } from './waits.ts';

/** A response as far as waiting looks at it. */
function responseOf() {
  const response = Object.assign(new EventEmitter(), { destroyed: false });
  return { response: response as unknown as ServerResponse, close: () => response.emit('close') };
}

test('a project may have half of all places, and gives each back when its caller is answered or gone', () => {
  const { enter } = createWaits(4);
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

test('who has gone before takes no place', () => {
  const { enter } = createWaits(4);
  for (let caller = 0; caller < 10; caller += 1) {
    const { response } = responseOf();
    response.destroyed = true;
    enter('shop', response);
  }
  expect(enter('shop', responseOf().response)).toBe(true);
});
