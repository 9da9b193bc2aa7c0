/** Decides which failed calls are retried, and when. */
import { backoffDelay, type Backoff } from './backoff.ts';
import { ApiError, isTransient } from './errors.ts';

/** The default number of retries of a call: about 4 s of waiting in total. */
export const defaultRetries = 4;

const callBackoff: Backoff = { initialMs: 100, factor: 3, maxMs: 5_000, jitter: 0.5 };

/** With a longer `Retry-After` the call fails, and the caller applies its own back-off. */
const longestWaitMs = 30_000;

/**
 * The delay before the call is retried, in milliseconds; undefined if it must not be. A call that the server
 * refused to process (429) or did not receive may always be repeated; one that may have been processed only
 * if it is idempotent. `Retry-After` is the least delay.
 */
export function retryDelay(
  error: unknown,
  retriesDone: number,
  idempotent: boolean,
  random: () => number = Math.random,
): number | undefined {
  if (!(error instanceof ApiError) || !isTransient(error)) return undefined;
  const unprocessed = error.status === 429 || error.notSent;
  if (!unprocessed && !idempotent) return undefined;
  const asked = error.retryAfterMs ?? 0;
  if (asked > longestWaitMs) return undefined;
  const own = backoffDelay(callBackoff, retriesDone + 1, random);
  return asked === 0 ? own : asked + Math.min(own, 1_000);
}

/**
 * `Retry-After` in milliseconds: seconds or a date (RFC 9110, section 10.2.3); undefined if it is neither.
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(date - now.getTime(), 0);
}
