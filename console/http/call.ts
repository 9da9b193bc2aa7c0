/**
 * Every HTTP call of the console: with the header without which the session cookie counts for nothing, and with failures as
 * `ApiFailure`. A call whose session has ended waits until somebody has signed in again, and is then made once more.
 */
import { ApiFailure, failureOf, failureOfNetwork } from './failure.ts';

export type CallOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON, unless it is a text. */
  body?: unknown;
  contentType?: string;
  accept?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** False: an ended session is a failure like any other. */
  signsIn?: boolean;
};

const CONSOLE_HEADER = { 'x-windlass-console': '1' };

/** Asks for a sign-in and resolves when there is one. */
let renewSession: (() => Promise<void>) | undefined;

/** Names who asks people to sign in again. */
export function onSessionEnded(renew: () => Promise<void>): void {
  renewSession = renew;
}

/** Makes the call and gives its answer, whose status is a good one. Throws an ApiFailure; an AbortError if it was aborted. */
export async function call(path: string, options: CallOptions = {}): Promise<Response> {
  const response = await send(path, options);
  if (response.ok) return response;
  if (response.status === 401 && options.signsIn !== false && renewSession !== undefined) {
    await renewSession();
    return call(path, { ...options, signsIn: false });
  }
  throw failureOf(response.status, await bodyOf(response));
}

/** As `call`, with the JSON of the answer. */
export async function callJson<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await call(path, options);
  const body = await bodyOf(response);
  if (typeof body === 'string' && body !== '') throw failureOf(response.status, body);
  return body as T;
}

async function send(path: string, options: CallOptions): Promise<Response> {
  const { method = 'GET', body, contentType, accept = 'application/json', headers, signal } = options;
  try {
    return await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: {
        accept,
        ...CONSOLE_HEADER,
        ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw failureOfNetwork();
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether the same call may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 500);
}
