/** Writes the events of several watches into one answer, a line each. Who waits for the client counts for what it holds meanwhile. */
import type { ServerResponse } from 'node:http';
import { writable } from '../../http/response.ts';
import type { Unread } from '../../limits/unread.ts';

export type Out = { event: (line: string) => Promise<void>; end: (status: End) => Promise<void> };
export type End = { status: number; reason?: string; message?: string };

/** What a watch holds that waits: the chunk that its line is of, and the one that was read behind it. */
const HELD_BYTES = 131_072;

/** Writers by the id of their watch. */
export function createLineWriters(response: ServerResponse, unread: Unread): (id: string) => Out {
  let waiting = 0;
  let taken: Promise<void> | undefined;
  const write = async (line: string): Promise<void> => {
    waiting += 1;
    // Others of the stream may have filled it meanwhile.
    while (response.writableNeedDrain && !response.destroyed) {
      unread.add(response, waiting * HELD_BYTES);
      taken ??= writable(response).finally(() => {
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
