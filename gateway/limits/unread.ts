/**
 * Answers that their clients do not read, of all listeners together: when they are more than the limit, whoever has not read
 * for longest loses the connection.
 */
import type { ServerResponse } from 'node:http';

export type Unread = {
  /** To be told when an answer was given: what of it the client has not taken, and `held` for it elsewhere, is counted until it has, or has gone. */
  add: (response: ServerResponse, held?: number) => void;
  /** To be told when the client has taken what was counted, and more of the answer is to come. */
  remove: (response: ServerResponse) => void;
};

/** What an answer takes beside its bytes, with the request that it belongs to: rather too much. */
const OVERHEAD_BYTES = 8_192;

/** `limit` is in bytes. One answer alone may be larger: a client that reads gets it. */
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
  /** Whoever is counted already keeps its place: it has not read since then. */
  const count = (response: ServerResponse, bytes: number): void => {
    const known = counted.get(response);
    const onClose = known?.onClose ?? (() => remove(response));
    if (known === undefined) response.once('close', onClose);
    counted.set(response, { bytes, onClose });
    total += bytes - (known?.bytes ?? 0);
  };
  return {
    add: (response, held = 0) => {
      if (response.writableLength === 0 || response.destroyed) return;
      count(response, response.writableLength + OVERHEAD_BYTES + held);
      for (const longest of counted.keys()) {
        if (total <= limit || longest === response) return;
        remove(longest);
        longest.req.socket.destroy();
      }
    },
    remove,
  };
}
