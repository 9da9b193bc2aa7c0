/** The end of a connection as a signal. */
import type { ServerResponse } from 'node:http';

/** Aborted when the client has gone before it was answered. */
export function closedSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else {
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
  }
  return gone.signal;
}
