/** Errors of Gemini's compatible API in the form in which OpenAI's library reads them. */
import { parseOrUndefined } from '../../../api/parseOrUndefined.ts';
import { isRecord, membersOf } from '../../../api/record.ts';

type Fetch = typeof globalThis.fetch;

/**
 * A fetch whose errors are objects, also where the server sends a list with one error, and say in a header
 * when to retry, also where the server says it in the error.
 */
export function withReadableErrors(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    if (response.status < 400 || !isJson) return response;
    const text = await response.text().catch(() => '');
    const json = parseOrUndefined(text);
    const first: unknown = Array.isArray(json) ? json[0] : json;
    const headers = new Headers(response.headers);
    const delay = retryDelayOf(membersOf(first)['error']);
    if (delay !== undefined && !headers.has('retry-after')) headers.set('retry-after', delay);
    return new Response(isRecord(first) ? JSON.stringify(first) : text, { status: response.status, headers });
  };
}

/** Seconds of a `google.rpc.RetryInfo`, such as `34.07s`. */
function retryDelayOf(error: unknown): string | undefined {
  const { details } = membersOf(error);
  if (!Array.isArray(details)) return undefined;
  const delays = details.map((detail) => membersOf(detail)['retryDelay']);
  const delay = delays.find((each) => typeof each === 'string');
  return /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1];
}
