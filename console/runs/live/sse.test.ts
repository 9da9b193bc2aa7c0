import { expect, test } from 'vitest';
import { createEventParser } from './sse.ts';

const parse = (...pieces: string[]) => {
  const take = createEventParser();
  return pieces.flatMap((piece) => take(piece));
};

const EVENT = { id: '3', event: 'text', data: '{"a":1}' };

test.each([
  ['line feeds', 'id: 3\nevent: text\ndata: {"a":1}\n\n'],
  ['carriage returns', 'id: 3\revent: text\rdata: {"a":1}\r\r\n'],
  ['both', 'id: 3\r\nevent: text\r\ndata: {"a":1}\r\n\r\n'],
  ['no blank behind the colon', 'id:3\nevent:text\ndata:{"a":1}\n\n'],
  ['comments and fields that nobody knows', ': hello\nretry: 5\nid: 3\nevent: text\nmore\ndata: {"a":1}\n\n'],
  ['a byte order mark', '\uFEFFid: 3\nevent: text\ndata: {"a":1}\n\n'],
])('an event with %s is the same however the stream is split', (_what, text) => {
  expect(parse(text)).toEqual([EVENT]);
  expect(parse(...text.split(''))).toEqual([EVENT]);
});

test('data lines are joined, and an incomplete event is not returned', () => {
  expect(parse('data: a\ndata:\ndata:  b\n\ndata: c\n')).toEqual([
    { id: '', event: 'message', data: 'a\n\n b' },
  ]);
});

test('an ID applies until the next one, and an event without data is dropped', () => {
  expect(parse('id: 7\n\ndata: a\n\nevent: node\n\ndata: b\n\n')).toEqual([
    { id: '7', event: 'message', data: 'a' },
    { id: '7', event: 'message', data: 'b' },
  ]);
});
