import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createUnread } from '../../limits/unread.ts';
import { createLineWriters } from './lineWriters.ts';

/** An answer whose client reads when it is told to. */
function answerOf() {
  const socket = { destroyed: false, destroy: () => void (socket.destroyed = true) };
  const written: string[] = [];
  const answer = Object.assign(new EventEmitter(), {
    destroyed: false,
    writableLength: 1,
    writableNeedDrain: false,
    req: { socket },
    write: (line: string) => {
      written.push(line);
      answer.writableNeedDrain = true;
    },
  });
  const read = (): void => {
    answer.writableNeedDrain = false;
    answer.emit('drain');
  };
  return { response: answer as unknown as ServerResponse, socket, written, read };
}

test('each watch writes when the client has taken what another wrote, and a line is whole', async () => {
  const { response, written, read } = answerOf();
  const writerOf = createLineWriters(response, createUnread(10_000_000));
  const [a, b] = [writerOf('a'), writerOf('b')];
  const all = Promise.all([a.event('{"n":1}'), b.event('{"n":2}'), b.end({ status: 200 })]);
  for (let lines = 1; lines < 3; lines += 1) {
    expect(written).toHaveLength(lines);
    read();
    await new Promise(setImmediate);
  }
  await all;
  expect(written).toEqual([
    '{"id":"a","event":{"n":1}}\n',
    '{"id":"b","event":{"n":2}}\n',
    '{"id":"b","end":{"status":200}}\n',
  ]);
});

test('a stream of many watches that nobody reads counts for all that they hold', () => {
  const unread = createUnread(1_000_000);
  const [slow, next] = [answerOf(), answerOf()];
  const writerOf = createLineWriters(slow.response, unread);
  for (let watch = 0; watch < 9; watch += 1) void writerOf(`w${watch}`).event('{}');
  expect(slow.response.listenerCount('drain')).toBe(1);
  unread.add(next.response);
  expect([slow.socket.destroyed, next.socket.destroyed]).toEqual([true, false]);
});
