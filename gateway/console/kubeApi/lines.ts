/**
 * Merges the events of several watches into one answer, one line each. Only one watch at a time reads a line
 * that is longer than a chunk, so that all of them together buffer one line and a chunk each.
 */
import type { ServerResponse } from 'node:http';
import { waitForDrain } from '../../http/response.ts';
import type { Unread } from '../../limits/unread.ts';

/** Waits for the lock; the result releases it. */
export type Mutex = () => Promise<() => void>;

const NEWLINE = 0x0a;

export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    return resolve;
  };
}

/**
 * The chunks of one watch. The lock is taken for a line that continues in the next chunk, and released after
 * that line.
 */
export async function* serializeLongLines(
  chunks: AsyncIterable<Buffer>,
  lock: Mutex,
): AsyncGenerator<Buffer> {
  let end: (() => void) | undefined;
  try {
    for await (const chunk of chunks) {
      yield chunk;
      if (chunk.includes(NEWLINE)) {
        end?.();
        end = undefined;
      }
      if (chunk.at(-1) !== NEWLINE) end ??= await lock();
    }
  } finally {
    end?.();
  }
}

export type LineWriter = { event: (line: string) => Promise<void>; end: (status: End) => Promise<void> };
export type End = { status: number; reason?: string; message?: string };

/** What a waiting watch buffers: the chunk of its line and the next one. */
const WAITING_BYTES = 131_072;

/** Creates the writer of a watch by its ID. Waiting writers count as unread bytes. */
export function createLineWriters(response: ServerResponse, unread: Unread): (id: string) => LineWriter {
  let waiting = 0;
  let taken: Promise<void> | undefined;
  const write = async (line: string): Promise<void> => {
    waiting += 1;
    // Other watches may have filled the buffer meanwhile.
    while (response.writableNeedDrain && !response.destroyed) {
      unread.add(response, waiting * WAITING_BYTES);
      taken ??= waitForDrain(response).finally(() => {
        unread.remove(response);
        taken = undefined;
      });
      await taken;
    }
    waiting -= 1;
    if (!response.destroyed) response.write(line);
  };
  return (id) => ({
    event: (line) => write(`{"id":"${id}","event":${line}}\n`),
    end: (end) => write(`${JSON.stringify({ id, end })}\n`),
  });
}
