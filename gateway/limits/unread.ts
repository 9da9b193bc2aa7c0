/**
 * Limits answers that clients do not read, across all listeners. Beyond the limit the client that has not
 * read for longest is disconnected.
 */
import type { ServerResponse } from 'node:http';

export type Unread = {
  /**
   * Call after sending. Counts what the client has not read, plus `elsewhere` bytes in other buffers, until
   * it reads or disconnects.
   */
  add: (response: ServerResponse, elsewhere?: number) => void;
  /** Call when the client has read what was counted, and more of the answer follows. */
  remove: (response: ServerResponse) => void;
};

/** Memory of an answer and its request besides the bytes; a high estimate. */
const OVERHEAD_BYTES = 8_192;

/** `limit` is in bytes. A single answer may be larger: a client that reads gets it. */
export function createUnread(limit: number): Unread {
  const counted = new Map<ServerResponse, { bytes: number; onClose: () => void }>();
  let total = 0;
  const remove = (response: ServerResponse): void => {
    const known = counted.get(response);
    if (known === undefined) return;
    total -= known.bytes;
    counted.delete(response);
    response.off('close', known.onClose);
  };
  /** A counted answer keeps its place: its client has not read since. */
  const count = (response: ServerResponse, bytes: number): void => {
    const known = counted.get(response);
    const onClose = known?.onClose ?? (() => remove(response));
    if (known === undefined) response.once('close', onClose);
    counted.set(response, { bytes, onClose });
    total += bytes - (known?.bytes ?? 0);
  };
  return {
    add: (response, elsewhere = 0) => {
      if (response.writableLength === 0 || response.destroyed) return;
      count(response, response.writableLength + OVERHEAD_BYTES + elsewhere);
      for (const longest of counted.keys()) {
        if (total <= limit || longest === response) return;
        remove(longest);
        longest.req.socket.destroy();
      }
    },
    remove,
  };
}
