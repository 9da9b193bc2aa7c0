/** What becomes of a connection while it is answered: the client has gone, or has caught up. */
import type { ServerResponse } from 'node:http';

/** Aborted when the client has gone before it was answered. */
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

/** Resolves when a slow reader has caught up, or has gone. */
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
