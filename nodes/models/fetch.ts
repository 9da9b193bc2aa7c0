/**
 * The HTTP client that the libraries of model providers use. Guarantees that what a server sends is bounded,
 * also an answer or a line that never ends, and that no redirect takes key and prompt to another host.
 */
import { StepError } from '../../api/reasons.ts';
import { fetchThrough } from '../egress/connect.ts';
import type { Egress } from '../egress/egress.ts';

/** The timers of the libraries end when headers arrive, so the watch on silence replaces them. */
const NO_TIMEOUT_MS = 2_147_483_647;
/** A long answer is some hundred bytes for each token. */
const MOST_BYTES = 64 * 1024 * 1024;
/**
 * A line holds one chunk, which at most is a whole answer. The client copies what it has of a line with every
 * piece.
 */
const MOST_LINE_BYTES = 4 * 1024 * 1024;
const NEWLINE = 10;

/** Options of every client library: no retries, no log, connections through the egress. */
export function clientOptions(egress: Egress) {
  return { fetch: boundedFetch(egress), maxRetries: 0, timeout: NO_TIMEOUT_MS, logLevel: 'off' } as const;
}

/**
 * A fetch that follows no redirect, and whose bodies fail with a StepError `OutputTooLarge` where they are
 * beyond all bounds.
 */
function boundedFetch(egress: Egress): typeof globalThis.fetch {
  const fetch = fetchThrough(egress);
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    const { status, statusText, headers, body } = response;
    if (status >= 300 && status < 400) {
      await body?.cancel();
      const message = "the model's server redirects to another address: correct baseURL of the credential";
      throw new StepError('Refused', message);
    }
    if (!body) return response;
    return new Response(body.pipeThrough(createBound()), { status, statusText, headers });
  };
}

function createBound(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let lineBytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      const newline = chunk.lastIndexOf(NEWLINE);
      lineBytes = newline < 0 ? lineBytes + chunk.length : chunk.length - newline - 1;
      if (bytes > MOST_BYTES || lineBytes > MOST_LINE_BYTES)
        throw new StepError('OutputTooLarge', "the answer of the model's server is too large");
      controller.enqueue(chunk);
    },
  });
}
