/** The errors of the client libraries of model providers as errors of a step. */
import { StepError } from '../../api/reasons.ts';
import { inDoubt, type Effect } from '../contract/node.ts';
import { causesOf, isNotSent, stepErrorIn } from '../contract/failure.ts';
import { isInvalidKey } from '../http/check.ts';
import { retryAfterMs } from '../http/retryAfter.ts';
import { echoesOf, quoted, type Secret } from '../contract/secret.ts';

type ErrorClass<T extends Error> = abstract new (...args: never[]) => T;

/** An error about an answer of the server. Without a status the error came within a stream. */
type ApiError = Error & { status: number | undefined; headers: Headers | undefined };

/**
 * The errors of a client library: their classes, of which `ConnectionError` is an `ApiError` too, and where
 * the message of the server is, if not in `message`.
 */
export type LibraryErrors = {
  ApiError: ErrorClass<ApiError>;
  ConnectionError: ErrorClass<Error>;
  messageOf?: (error: ApiError) => string;
};

export type FailureContext = { key: Secret; effect: Effect; errors: LibraryErrors };

/**
 * The error of the step; with an effect that must not be repeated, also whether the model may have done its
 * work.
 */
export function failureOf(error: unknown, context: FailureContext): StepError {
  const failure = translated(error, context);
  return mayHaveAnswered(error, failure, context)
    ? inDoubt(context.effect, failure, 'the model may have answered')
    : failure;
}

function translated(error: unknown, { key, errors }: FailureContext): StepError {
  const refused = stepErrorIn(error);
  if (refused) return refused;
  const message = quoted(messageOf(error, errors), echoesOf(key));
  const options = { cause: error };
  if (error instanceof errors.ConnectionError) {
    return new StepError(
      'Unreachable',
      `the model's server did not answer: ${codeOf(error) ?? message}`,
      options,
    );
  }
  // JSON of thousands of levels can be parsed, and then neither walked nor written.
  if (error instanceof SyntaxError || error instanceof RangeError)
    return new StepError('InvalidAnswer', `the model's answer cannot be read: ${message}`, options);
  if (!(error instanceof errors.ApiError)) {
    // What breaks while the body is read comes from the HTTP client as it is.
    return new StepError(
      'Unreachable',
      `the connection was lost during the answer: ${codeOf(error) ?? message}`,
      options,
    );
  }
  return ofStatus(error, message);
}

/** The message of a library's error, unmasked. */
export function messageOf(error: unknown, errors: LibraryErrors): string {
  if (error instanceof errors.ApiError && errors.messageOf) return errors.messageOf(error);
  return error instanceof Error ? error.message : String(error);
}

function ofStatus(error: ApiError, message: string): StepError {
  const { status } = error;
  const wait = retryAfterMs(Object.fromEntries(error.headers ?? []));
  const options = { cause: error, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
  if (status === undefined)
    return new StepError('UpstreamError', `the model's server failed: ${message}`, options);
  if (status === 401 || status === 403 || isInvalidKey(message)) {
    return new StepError('CredentialRejected', `the model's server refused the API key: ${message}`, options);
  }
  if (status === 429)
    return new StepError('RateLimited', `the model's server asks to wait: ${message}`, options);
  if (status === 408 || status === 409 || status >= 500) {
    return new StepError('UpstreamError', `the model's server failed: ${message}`, options);
  }
  if (isContextTooLong(error, message))
    return new StepError('ContextTooLong', `the conversation is too long for the model: ${message}`, options);
  return new StepError('Refused', `the model's server refused the request: ${message}`, options);
}

/** What servers say about a request that exceeds the context of a model. Most have no code for it. */
const TOO_LONG =
  /maximum context length|context (window|length|size)|(prompt|input|request) (is|was) too (long|large)|input token count.*exceeds|too many (input )?tokens/i;

function isContextTooLong(error: ApiError, message: string): boolean {
  return ('code' in error && error.code === 'context_length_exceeded') || TOO_LONG.test(message);
}

function mayHaveAnswered(error: unknown, failure: StepError, { errors }: FailureContext): boolean {
  if (error instanceof errors.ApiError && error.status !== undefined && error.status < 500) return false;
  const isSent = failure.reason !== 'InvalidParameters' && failure.reason !== 'AddressForbidden';
  return isSent && !isNotSent(error);
}

/** Statuses of proxies that lost the answer of a server, which may charge for it. */
const LOST_ANSWER = new Set([502, 504]);

/**
 * Whether a provider charges nothing for the request that failed with this error: it was not sent, or a
 * server error came in place of the stream. docs/budgets.md has the reasons.
 */
export function isUncharged(error: unknown): boolean {
  const statuses = causesOf(error).map((cause) => ('status' in cause ? Number(cause.status) : Number.NaN));
  return isNotSent(error) || statuses.some((status) => status >= 500 && !LOST_ANSWER.has(status));
}

/** The code of the first cause that has one, such as ECONNREFUSED. */
function codeOf(error: unknown): string | undefined {
  const codes = causesOf(error).map((cause) => ('code' in cause ? cause.code : undefined));
  return codes.find((code) => typeof code === 'string');
}
