/**
 * Chunks of several streams of lines, so that one of them at a time has a line that is longer than a chunk: however many there are, and
 * however long their lines, what waits to be taken is one line and a chunk of each.
 */
import type { ServerResponse } from 'node:http';
import { waitForDrain } from '../../http/response.ts';
import type { Unread } from '../../limits/unread.ts';

/** WaiterLimit for its turn; what is returned ends it. */
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

/** The chunks of one of them. The turn begins with a line that goes on in the next chunk, and ends when that line was taken. */
export async function* serializeLongLines(
  chunks: AsyncIterable<Buffer>,
  turn: Mutex,
): AsyncGenerator<Buffer> {
  let end: (() => void) | undefined;
  try {
    for await (const chunk of chunks) {
      yield chunk;
      if (chunk.includes(NEWLINE)) {
        end?.();
        end = undefined;
      }
      if (chunk.at(-1) !== NEWLINE) end ??= await turn();
    }
  } finally {
    end?.();
  }
}

export type LineWriter = { event: (line: string) => Promise<void>; end: (status: End) => Promise<void> };
export type End = { status: number; reason?: string; message?: string };

/** What a watch holds that waits: the chunk that its line is of, and the one that was read behind it. */
const HELD_BYTES = 131_072;

/** Writers by the id of their watch. */
export function createLineWriters(response: ServerResponse, unread: Unread): (id: string) => LineWriter {
  let waiting = 0;
  let taken: Promise<void> | undefined;
  const write = async (line: string): Promise<void> => {
    waiting += 1;
    // Others of the stream may have filled it meanwhile.
    while (response.writableNeedDrain && !response.destroyed) {
      unread.add(response, waiting * HELD_BYTES);
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
