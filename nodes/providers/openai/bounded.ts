/**
 * What a model's server sends, within bounds: an answer that never ends, or a line that never does, takes no memory for ever, and no
 * redirect takes key and prompt to another host.
 */
import { StepError } from '../../../api/reasons.ts';

/** A long answer is some hundred bytes for each token. */
const MOST_BYTES = 64 * 1024 * 1024;
/** A line holds one chunk, which at most is a whole answer. The client copies what it has of a line with every piece. */
const MOST_LINE_BYTES = 4 * 1024 * 1024;
const NEWLINE = 10;

type Fetch = typeof globalThis.fetch;

/** A fetch that follows no redirect, and whose bodies fail with a StepError `OutputTooLarge` where they are beyond all bounds. */
export function boundedFetch(fetch: Fetch): Fetch {
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
        throw new StepError('OutputTooLarge', "the answer of the model's server does not end");
      controller.enqueue(chunk);
    },
  });
}
