/** Sends an answer of the API server on as it comes: no more of it is read than the client takes. */
import type { ServerResponse } from 'node:http';
import type { PassedAnswer } from '../../../kube/passThrough.ts';
import { waitForDrain } from '../../http/response.ts';
import type { Unread } from '../../limits/unread.ts';

/** What a client may know of how the API server answered. */
const PASSED_HEADERS = ['content-type', 'content-length', 'content-encoding', 'retry-after', 'warning'];

/** What every answer in the name of the API server has: nobody keeps it, and no browser takes it for a page. */
export const ANSWER_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Status, headers and body. An answer that breaks off upstream breaks off here, so that nobody takes it for whole. */
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

/** WaiterLimit for a slow reader, who counts as such meanwhile. */
async function whenTaken(response: ServerResponse, unread: Unread): Promise<void> {
  if (response.destroyed) return;
  unread.add(response);
  await waitForDrain(response);
  unread.remove(response);
}

/** The text of a small answer. Throws if it is larger than that. */
export async function readText({ body }: PassedAnswer, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) throw new Error('The answer of the API server is larger than it may be.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
