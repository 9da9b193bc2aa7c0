/** The errors of calls to the API server, and their classification. */

export type ApiErrorDetails = {
  /** HTTP status code; 0 without an answer (network, timeout). */
  status: number;
  /**
   * The machine-readable reason of the server's `Status`, such as `AlreadyExists`, or a network error code.
   */
  reason: string;
  message: string;
  /** How long the server asked to wait, in milliseconds. */
  retryAfterMs?: number;
  /** True if the request did not reach the server, so that any call may be repeated. */
  notSent?: boolean;
  cause?: unknown;
};

/** A failed call to the API server. The message has method and path, never a body or a token. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly notSent: boolean;

  constructor(details: ApiErrorDetails) {
    super(details.message, { cause: details.cause });
    this.status = details.status;
    this.reason = details.reason;
    this.retryAfterMs = details.retryAfterMs;
    this.notSent = details.notSent ?? false;
  }
}

const tooLargeMessage =
  /request is too large|trying to send message larger than max|exceeds the limit|too long: must have at most/i;

export function isNotFound(error: unknown): boolean {
  return hasStatus(error, 404);
}

/**
 * The object changed since it was read, or a precondition failed. Read it again and decide again.
 */
export function isConflict(error: unknown): boolean {
  return hasStatus(error, 409) && !isAlreadyExists(error);
}

export function isAlreadyExists(error: unknown): boolean {
  return hasStatus(error, 409) && (error as ApiError).reason === 'AlreadyExists';
}

/** The resourceVersion or `continue` token is too old (410, reasons `Expired` and `Gone`): list again. */
export function isGone(error: unknown): boolean {
  return hasStatus(error, 410);
}

/**
 * The server asks to wait: it is overloaded, or not ready for the kind yet (`storage is (re)initializing`).
 */
export function isTooManyRequests(error: unknown): boolean {
  return hasStatus(error, 429);
}

export function isUnauthorized(error: unknown): boolean {
  return hasStatus(error, 401);
}

export function isForbidden(error: unknown): boolean {
  return hasStatus(error, 403);
}

/** The object is invalid (400, 422): a retry does not help. */
export function isInvalid(error: unknown): boolean {
  return hasStatus(error, 422) || hasStatus(error, 400);
}

/**
 * The namespace is being deleted, so nothing can be created in it (a 403 that is not a missing permission).
 */
export function isTerminating(error: unknown): boolean {
  return isForbidden(error) && /because it is being terminated/.test((error as ApiError).message);
}

/**
 * The object is too large for the server or etcd: permanent, although the refusal of etcd arrives as a 500
 * (kubernetes#74600, #112152).
 */
export function isTooLarge(error: unknown): boolean {
  return (
    hasStatus(error, 413) ||
    (error instanceof ApiError && error.status >= 500 && tooLargeMessage.test(error.message))
  );
}

/** Whether a retry may help: no answer, 408, 429 or 5xx, unless the object is too large. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError) || isTooLarge(error)) return false;
  return error.status === 0 || error.status === 408 || error.status === 429 || error.status >= 500;
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}
