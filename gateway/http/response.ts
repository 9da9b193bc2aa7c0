/** Signals about the client of a response. */
import type { ServerResponse } from 'node:http';

/** Aborted when the client disconnects before the response is finished. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else {
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
  }
  return gone.signal;
}

/** Resolves when a slow client has read what was buffered, or has disconnected. */
export function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end);
      response.off('close', end);
      resolve();
    };
    response.on('drain', end);
    response.on('close', end);
  });
}
