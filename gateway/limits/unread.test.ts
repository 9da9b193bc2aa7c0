import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createUnread } from './unread.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The part of a response that is used here. */
function responseOf(writableLength: number) {
  const socket = { destroyed: false, destroy: () => void (socket.destroyed = true) };
  const response = Object.assign(new EventEmitter(), { destroyed: false, writableLength, req: { socket } });
  return { response: response as unknown as ServerResponse, socket, close: () => response.emit('close') };
}

test('beyond the limit the client that has not read for longest is disconnected', () => {
  const { add } = createUnread(100_000);
  const [first, second, read, last] = [
    responseOf(50_000),
    responseOf(30_000),
    responseOf(0),
    responseOf(1_000),
  ];
  for (const { response } of [first, second, read]) add(response);
  expect(first.socket.destroyed).toBe(false);
  add(last.response);
  expect([first, second, read, last].map(({ socket }) => socket.destroyed)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('an answer that was read no longer counts', () => {
  const { add } = createUnread(100_000);
  const callers = Array.from({ length: 20 }, () => responseOf(90_000));
  for (const { response, close } of callers) {
    add(response);
    close();
  }
  expect(callers.some(({ socket }) => socket.destroyed)).toBe(false);
});

test('a stream whose client has caught up no longer counts and is not disconnected later', () => {
  const { add, remove } = createUnread(100_000);
  const [stream, next] = [responseOf(60_000), responseOf(60_000)];
  for (let times = 0; times < 20; times += 1) {
    add(stream.response);
    remove(stream.response);
  }
  expect(stream.response.listenerCount('close')).toBe(0);
  add(next.response);
  expect([stream, next].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
});

test('a stream with several writers counts once, while it waits', () => {
  const { add, remove } = createUnread(100_000);
  const [stream, next, last] = [responseOf(60_000), responseOf(30_000), responseOf(30_000)];
  for (let times = 0; times < 20; times += 1) add(stream.response);
  expect(stream.response.listenerCount('close')).toBe(1);
  for (let times = 0; times < 20; times += 1) remove(stream.response);
  expect(stream.response.listenerCount('close')).toBe(0);
  add(next.response);
  add(last.response);
  expect([stream, next, last].map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
});

test('a client that does not read in time is disconnected, with more time for larger answers', () => {
  const { add, remove } = createUnread(10_000_000, 1_000);
  const [stuck, large, read] = [responseOf(1), responseOf(1_500_000), responseOf(1)];
  for (const { response } of [stuck, large, read]) add(response);
  vi.advanceTimersByTime(900);
  // Neither what follows nor another writer begins the time again.
  add(stuck.response);
  remove(read.response);
  add(read.response);
  vi.advanceTimersByTime(100);
  expect([stuck, large, read].map(({ socket }) => socket.destroyed)).toEqual([true, false, false]);
  remove(read.response);
  vi.advanceTimersByTime(1_000);
  expect([large, read].map(({ socket }) => socket.destroyed)).toEqual([true, false]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream whose client reads nothing between two heartbeats counts, and gets no more of them', () => {
  const { heartbeat } = createUnread(10_000_000, 1_000);
  const { response, socket } = responseOf(0);
  const sent: unknown[] = [];
  const stream = Object.assign(response, { write: (text: unknown) => sent.push(text) > 0 });
  heartbeat(stream);
  expect(sent).toEqual([': still here\n\n']);
  Object.assign(stream, { writableLength: 14 });
  heartbeat(stream);
  vi.advanceTimersByTime(999);
  expect([sent.length, socket.destroyed]).toEqual([1, false]);
  vi.advanceTimersByTime(1);
  expect(socket.destroyed).toBe(true);
});

test('a single answer may be larger than the limit', () => {
  const { add } = createUnread(100_000);
  const [large, next] = [responseOf(500_000), responseOf(1)];
  add(large.response);
  expect(large.socket.destroyed).toBe(false);
  add(next.response);
  expect([large, next].map(({ socket }) => socket.destroyed)).toEqual([true, false]);
});

test('many small unread answers count like large ones', () => {
  const { add } = createUnread(100_000);
  const callers = Array.from({ length: 20 }, () => responseOf(1));
  for (const { response } of callers) add(response);
  expect(callers.filter(({ socket }) => !socket.destroyed)).toHaveLength(12);
});
