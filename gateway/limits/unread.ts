/**
 * Answers that their clients do not read, of all listeners together: when they are more than the limit, whoever has not read
 * for longest loses the connection.
 */
import type { ServerResponse } from 'node:http';

export type Unread = {
  /** To be told when an answer was given: whatever of it the client has not taken is counted until it has, or has gone. */
  add: (response: ServerResponse) => void;
};

/** What an answer takes beside its bytes, with the request that it belongs to: rather too much. */
const OVERHEAD_BYTES = 8_192;

/** `limit` is in bytes. One answer alone may be larger: a client that reads gets it. */
export function createUnread(limit: number): Unread {
  const bytesOf = new Map<ServerResponse, number>();
  let total = 0;
  const remove = (response: ServerResponse): void => {
    total -= bytesOf.get(response) ?? 0;
    bytesOf.delete(response);
  };
  return {
    add: (response) => {
      if (response.writableLength === 0 || response.destroyed) return;
      const bytes = response.writableLength + OVERHEAD_BYTES;
      bytesOf.set(response, bytes);
      total += bytes;
      response.once('close', () => remove(response));
      for (const longest of bytesOf.keys()) {
        if (total <= limit || longest === response) return;
        remove(longest);
        longest.req.socket.destroy();
      }
    },
  };
}
