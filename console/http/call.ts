/**
 * HTTP calls of the console. They send the header that the session cookie requires, and fail with
 * `ApiFailure`. A call with an expired session waits for a new sign-in and is then repeated.
 */
import { parseExact } from '../../api/exact/exactNumber.ts';
import { ApiFailure, failureOf, failureOfNetwork } from './failure.ts';

export type CallOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON, unless it is a string. */
  body?: unknown;
  contentType?: string;
  accept?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** After this time without the whole answer the call fails as if the gateway could not be reached. */
  timeoutMs?: number;
  /** False: an expired session is an ordinary failure. */
  signsIn?: boolean;
};

const CONSOLE_HEADER = { 'x-windlass-console': '1' };

/** Asks the user to sign in and resolves afterwards. */
let renewSession: (() => Promise<void>) | undefined;

/** Sets the function that asks the user to sign in. */
export function onSessionEnded(renew: () => Promise<void>): void {
  renewSession = renew;
}

/** Returns the response if it is successful. Throws an ApiFailure, or an AbortError if it was aborted. */
export async function call(path: string, options: CallOptions = {}): Promise<Response> {
  const response = await send(path, options);
  if (response.ok) return response;
  if (response.status === 401 && options.signsIn !== false && renewSession !== undefined) {
    await renewSession();
    return call(path, { ...options, signsIn: false });
  }
  throw failureOf(response.status, await bodyOf(response, path, options));
}

/** As `call`, with the parsed JSON body. */
export async function callJson<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await call(path, options);
  const body = await bodyOf(response, path, options);
  if (typeof body === 'string' && body !== '') throw failureOf(response.status, body);
  return body as T;
}

async function send(path: string, options: CallOptions): Promise<Response> {
  const { method = 'GET', body, contentType, accept = 'application/json', headers, signal } = options;
  const { timeoutMs } = options;
  const signals = [signal ?? [], timeoutMs === undefined ? [] : AbortSignal.timeout(timeoutMs)].flat();
  const request: RequestInit = {
    method,
    credentials: 'same-origin',
    headers: {
      accept,
      ...CONSOLE_HEADER,
      ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  };
  return unlessBroken(() => fetch(path, request), signal);
}

/** A connection that breaks, before the answer or in it, is a failure of the network. */
async function unlessBroken<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw failureOfNetwork();
  }
}

/** The API server rounds the numbers of its objects; runs of the gateway have exact ones. */
async function bodyOf(response: Response, path: string, { signal }: CallOptions): Promise<unknown> {
  const text = await unlessBroken(() => response.text(), signal);
  try {
    return path.startsWith('/kube/') ? JSON.parse(text) : parseExact(text);
  } catch {
    return text;
  }
}

/** Whether a retry may succeed. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 500);
}
