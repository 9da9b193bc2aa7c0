/** Forwards an answer of the API server as it arrives, and reads no more than the client takes. */
import type { ServerResponse } from 'node:http';
import type { PassedAnswer } from '../../../kube/passThrough.ts';
import { waitForDrain } from '../../http/response.ts';
import type { Unread } from '../../limits/unread.ts';

/** Headers of the API server that a client gets. */
const PASSED_HEADERS = ['content-type', 'content-length', 'content-encoding', 'retry-after', 'warning'];

/** Headers of every forwarded answer: not cached, and not interpreted as a page. */
export const ANSWER_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/**
 * Forwards status, headers and body. An upstream abort aborts the answer, so that it does not look complete.
 */
export async function forwardAnswer(
  response: ServerResponse,
  answer: PassedAnswer,
  { unread, isLast }: { unread: Unread; isLast: boolean },
): Promise<void> {
  const passed = PASSED_HEADERS.flatMap((name) => {
    const value = answer.header(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  response.writeHead(answer.status, {
    ...Object.fromEntries(passed),
    ...ANSWER_HEADERS,
    ...(isLast && { connection: 'close' }),
  });
  response.flushHeaders();
  try {
    for await (const chunk of answer.body) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await whenTaken(response, unread);
    }
    response.end();
  } catch {
    response.destroy();
  }
}

/** Waits for a slow client, counted as unread meanwhile. */
async function whenTaken(response: ServerResponse, unread: Unread): Promise<void> {
  if (response.destroyed) return;
  unread.add(response);
  await waitForDrain(response);
  unread.remove(response);
}

/** The text of an answer. Throws if it is longer than the limit. */
export async function readText({ body }: PassedAnswer, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) throw new Error('The answer of the API server is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
