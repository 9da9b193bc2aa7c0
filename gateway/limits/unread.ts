/**
 * Limits answers that clients do not read, across all listeners. A client that does not read its answer in
 * time is disconnected; beyond the limit of bytes the one that has not read for longest.
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
  /**
   * Call at intervals on a stream. Sends a comment, so that proxies do not close it; what the client has not
   * read since the last one counts as unread.
   */
  heartbeat: (response: ServerResponse) => void;
};

/** Memory of an answer and its request besides the bytes; a high estimate. */
const OVERHEAD_BYTES = 8_192;
/** A client may take the whole time for each so many bytes that it has not read. */
const BYTES_IN_TIME = 1_048_576;
const MAX_MS = 60_000;

type Counted = { bytes: number; onClose: () => void; deadline: NodeJS.Timeout };

/**
 * `limit` is in bytes. A single answer may be larger: a client that reads gets it. `maxMs`: how long 1 MiB of
 * an answer may be unread.
 */
export function createUnread(limit: number, maxMs = MAX_MS): Unread {
  const counted = new Map<ServerResponse, Counted>();
  let total = 0;
  const remove = (response: ServerResponse): void => {
    const known = counted.get(response);
    if (known === undefined) return;
    total -= known.bytes;
    counted.delete(response);
    clearTimeout(known.deadline);
    response.off('close', known.onClose);
  };
  const disconnect = (response: ServerResponse): void => {
    remove(response);
    response.req.socket.destroy();
  };
  const begin = (response: ServerResponse, bytes: number): Counted => {
    const onClose = () => remove(response);
    response.once('close', onClose);
    const ms = maxMs * Math.ceil(bytes / BYTES_IN_TIME);
    const deadline = setTimeout(() => disconnect(response), ms).unref();
    return { bytes: 0, onClose, deadline };
  };
  /** A counted answer keeps its place and its deadline: its client has not read since. */
  const count = (response: ServerResponse, bytes: number): void => {
    const known = counted.get(response) ?? begin(response, bytes);
    counted.set(response, { ...known, bytes });
    total += bytes - known.bytes;
  };
  const add = (response: ServerResponse, elsewhere = 0): void => {
    if (response.writableLength === 0 || response.destroyed) return;
    count(response, response.writableLength + OVERHEAD_BYTES + elsewhere);
    for (const longest of counted.keys()) {
      if (total <= limit || longest === response) return;
      disconnect(longest);
    }
  };
  return {
    add,
    remove,
    heartbeat: (response) => {
      if (response.writableLength > 0) return add(response);
      remove(response);
      response.write(': still here\n\n');
    },
  };
}
