import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { lines } from '../../../kube/watch.ts';
import { createMutex, serializeLongLines, createLineWriters } from './lines.ts';
import { createUnread } from '../../limits/unread.ts';

/** Streams of these chunks, which note what was read of them. */
function streamsOf(...streams: string[][]) {
  const read: string[] = [];
  async function* chunksOf(name: number, chunks: string[]): AsyncGenerator<Buffer> {
    for (const [at, chunk] of chunks.entries()) {
      read.push(`${name}.${at}`);
      yield Buffer.from(chunk);
    }
  }
  return { read, streams: streams.map((chunks, name) => chunksOf(name, chunks)) };
}

test('only one stream at a time reads the rest of a long line', async () => {
  const long = ['a', 'b', 'c\n'];
  const { read, streams } = streamsOf(long, long, ['short\n', 'short\n']);
  const turn = createMutex();
  const taking = Promise.withResolvers<void>();
  const taken: string[] = [];
  const all = streams.map(async (stream, name) => {
    for await (const line of lines(serializeLongLines(stream, turn))) {
      taken.push(`${name} ${line}`);
      if (name === 0) await taking.promise;
    }
  });
  await all[2];
  expect(taken).toEqual(expect.arrayContaining(['0 abc', '2 short', '2 short']));
  expect(read.filter((each) => each.startsWith('1.'))).toEqual(['1.0']);
  taking.resolve();
  await Promise.all(all);
  expect(taken.toSorted()).toEqual(['0 abc', '1 abc', '2 short', '2 short']);
});

test('a stream that ends or fails within a line releases the others', async () => {
  const turn = createMutex();
  const { streams } = streamsOf(['a', 'b\n'], ['one\n', 'tw', 'o\n']);
  const [broken, other] = streams;
  async function* breaking(): AsyncGenerator<Buffer> {
    yield Buffer.from('begun');
    throw new Error('lost');
  }
  const lost = (async () => {
    for await (const line of lines(serializeLongLines(breaking(), turn))) expect(line).toBe('never');
  })();
  await expect(lost).rejects.toThrow('lost');
  for await (const line of lines(serializeLongLines(broken!, turn))) {
    expect(line).toBe('ab');
    break;
  }
  const taken: string[] = [];
  for await (const line of lines(serializeLongLines(other!, turn))) taken.push(line);
  expect(taken).toEqual(['one', 'two']);
});

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

test('watches write whole lines, one after the other, as the client reads', async () => {
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

test('an unread stream counts the buffers of all its watches', () => {
  const unread = createUnread(1_000_000);
  const [slow, next] = [answerOf(), answerOf()];
  const writerOf = createLineWriters(slow.response, unread);
  for (let watch = 0; watch < 9; watch += 1) void writerOf(`w${watch}`).event('{}');
  expect(slow.response.listenerCount('drain')).toBe(1);
  unread.add(next.response);
  expect([slow.socket.destroyed, next.socket.destroyed]).toEqual([true, false]);
});
