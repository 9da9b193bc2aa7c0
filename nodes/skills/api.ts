/**
 * One request of a skill to the JSON API of a service. Guarantees that what is read of an answer is bounded, that no redirect is
 * followed, that messages name the host and never the URL, which may hold a secret, and that a change that may have been made without
 * our knowing is reported as in doubt.
 */
import { StepError } from '../../api/reasons.ts';
import { fetchThrough } from '../egress/connect.ts';
import { abortion, inDoubt, quoted, type StepContext } from '../node.ts';
import { retryAfterMs } from '../retryAfter.ts';
import type { Mask } from '../secret.ts';
import { brokenOff } from './http/failure.ts';

export type ApiCall = {
  method: 'GET' | 'POST' | 'PUT';
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Bytes that the answer may have, uncompressed. */
  limit: number;
};

export type ApiAnswer = {
  host: string;
  status: number;
  headers: Headers;
  /** The body as JSON; undefined where it is none. */
  json: unknown;
};

/**
 * Asks once. Whatever the status, it is an answer.
 * @throws StepError `OutputTooLarge` for an answer beyond the limit, those of connections that fail, and those of the step's end
 */
export async function callApi(call: ApiCall, context: StepContext): Promise<ApiAnswer> {
  const { method, url, headers = {}, body, limit } = call;
  const { egress, signal } = context;
  if (signal.aborted) throw abortion(signal);
  let text: string | undefined;
  let response: Response;
  try {
    response = await fetchThrough(egress)(url.href, {
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'Windlass',
        ...(body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
        ...headers,
      },
      redirect: 'manual',
      signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    text = await readUpTo(response, limit);
  } catch (error) {
    throw brokenOff(innermost(error), { method, url, headers: {} }, context);
  }
  if (text === undefined)
    throw new StepError('OutputTooLarge', `${url.host} answered with more than ${limit} bytes: ask for less`);
  return { host: url.host, status: response.status, headers: response.headers, json: parsed(text) };
}

/** The HTTP client wraps what happened. */
function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : error;
}

/** The body; undefined where it has more. */
async function readUpTo({ body }: Response, limit: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > limit) return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type Refusal = {
  /** What the service says of it. */
  said: string | undefined;
  secrets: readonly Mask[];
  /** Where the service says in the body how long to wait. */
  retryAfterMs?: number;
};

/**
 * The error for an answer with a status that means the same at every service: those for waiting, for a service that has an error of its
 * own, and for a credential that is refused; any other is `Refused`. What was asked for with a method that changes may have been done where
 * the service broke down over it.
 */
export function refusalOf(
  answer: ApiAnswer,
  refusal: Refusal,
  { effect }: StepContext,
  call: ApiCall,
): StepError {
  const { host, status, headers } = answer;
  const said = `: ${quoted(refusal.said ?? `status ${status}`, refusal.secrets)}`;
  const wait = refusal.retryAfterMs ?? retryAfterMs(headers);
  const options = wait === undefined ? {} : { retryAfterMs: wait };
  if (status === 429) return new StepError('RateLimited', `${host} asks to wait${said}`, options);
  if (status === 401) return new StepError('CredentialRejected', `${host} refused the credential${said}`);
  if (status !== 408 && status < 500)
    return new StepError('Refused', `${host} refused what was asked${said}`);
  const failure = new StepError('UpstreamError', `${host} has an error of its own${said}`, options);
  return call.method === 'GET' ? failure : inDoubt(effect, failure, `${host} may have done what was asked`);
}

/** The error for an answer that says that all is well, in words that cannot be read. */
export function unreadable({ host }: ApiAnswer, { effect }: StepContext, call: ApiCall): StepError {
  const failure = new StepError('InvalidAnswer', `${host} answered with something that cannot be read`);
  return call.method === 'GET' ? failure : inDoubt(effect, failure, `${host} may have done what was asked`);
}
