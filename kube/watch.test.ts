import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from './errors.ts';
import { lines, parseEvent, startDeadline } from './watch.ts';

async function* stream(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function collect(iterable: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const item of iterable) all.push(item);
  return all;
}

test('lines are the same wherever the stream is cut, also inside a character', async () => {
  const bytes = Buffer.from('{"a":"ä€"}\n\n{"b":1}\n{"cut off":');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const whole = await collect(lines(stream(bytes.subarray(0, cut), bytes.subarray(cut))));
    expect(whole).toEqual(['{"a":"ä€"}', '{"b":1}']);
  }
  const single = [...bytes].map((byte) => Uint8Array.of(byte));
  expect(await collect(lines(stream(...single)))).toEqual(['{"a":"ä€"}', '{"b":1}']);
});

test('an ERROR event is thrown with the status that it carries', () => {
  const line = JSON.stringify({
    type: 'ERROR',
    object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (5)' },
  });
  expect(() => parseEvent(line)).toThrow(
    expect.objectContaining({ status: 410, reason: 'Expired', message: expect.stringContaining('too old') }),
  );
});

test.each(['not json', 'null', '{"type":"ADDED"}', '{"type":"ADDED","object":null}'])(
  'a line that is no event, such as %s, breaks the watch with an ApiError',
  (line) => {
    expect(() => parseEvent(line)).toThrow(ApiError);
  },
);

test('a bookmark gives its version alone, and a type from the future is passed over', () => {
  expect(parseEvent('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}')).toEqual({
    type: 'BOOKMARK',
    resourceVersion: '7',
  });
  expect(parseEvent('{"type":"NEWS","object":{"metadata":{}}}')).toBeUndefined();
});

describe('a deadline', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('of a process that stood still lets it read first what the server sent meanwhile', () => {
    let time = 0;
    let acted = 0;
    startDeadline(
      20,
      120,
      () => (acted += 1),
      () => time,
    );
    time = 100;
    vi.advanceTimersByTime(20);
    expect(acted).toBe(0);
    time = 220;
    vi.advanceTimersByTime(119);
    expect(acted).toBe(0);
    vi.advanceTimersByTime(1);
    expect(acted).toBe(1);
  });

  test('that is stopped does not act', () => {
    let acted = false;
    startDeadline(1, 100, () => void (acted = true))();
    vi.advanceTimersByTime(1_000);
    expect(acted).toBe(false);
  });
});
