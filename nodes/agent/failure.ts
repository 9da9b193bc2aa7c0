/** What went wrong between us and a model, as an error of the step. */
import { APIConnectionError, APIError } from 'openai';
import { StepError } from '../../api/reasons.ts';
import { isOfConnected } from '../egress/connect.ts';
import { inDoubt, quoted, type Effect } from '../node.ts';
import { retryAfterMs } from '../retryAfter.ts';
import { echoesOf, type Secret } from '../secret.ts';

/** Errors of connecting: the model was never asked. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The error of the step; with an effect that must not be repeated, also whether the model may have done its work. */
export function failureOf(error: unknown, { key, effect }: { key: Secret; effect: Effect }): StepError {
  const failure = translated(error, key);
  return mayHaveAnswered(error, failure) ? inDoubt(effect, failure, 'the model may have answered') : failure;
}

function translated(error: unknown, key: Secret): StepError {
  const refused = stepErrorIn(error);
  if (refused) return refused;
  const message = quoted(error instanceof Error ? error.message : String(error), echoesOf(key));
  const options = { cause: error };
  if (error instanceof APIConnectionError) {
    return new StepError(
      'Unreachable',
      `the model's server did not answer: ${causeOf(error) ?? message}`,
      options,
    );
  }
  if (error instanceof SyntaxError)
    return new StepError('InvalidAnswer', `the model's answer cannot be read: ${message}`, options);
  if (!(error instanceof APIError)) {
    // What breaks while the body is read comes from the HTTP client as it is.
    return new StepError('Unreachable', `the answer broke off: ${causeOf(error) ?? message}`, options);
  }
  return ofStatus(error, message);
}

function ofStatus(error: APIError, message: string): StepError {
  const status: number | undefined = error.status;
  const wait = retryAfterMs(error.headers);
  const options = { cause: error, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
  if (status === undefined)
    return new StepError('UpstreamError', `the model's server failed: ${message}`, options);
  if (status === 401 || status === 403) {
    return new StepError('CredentialRejected', `the model's server refused the API key: ${message}`, options);
  }
  if (status === 429)
    return new StepError('RateLimited', `the model's server asks to wait: ${message}`, options);
  if (status === 408 || status === 409 || status >= 500) {
    return new StepError('UpstreamError', `the model's server failed: ${message}`, options);
  }
  return new StepError('Refused', `the model's server refused the request: ${message}`, options);
}

function mayHaveAnswered(error: unknown, failure: StepError): boolean {
  if (error instanceof APIError && error.status !== undefined && error.status < 500) return false;
  const isSent = failure.reason !== 'InvalidParameters' && failure.reason !== 'AddressForbidden';
  return isSent && !isNotSent(error);
}

function isNotSent(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && NOT_SENT.has(String(cause.code))) return !isOfConnected(cause);
  }
  return false;
}

/** The error of a step, also where the HTTP client has wrapped it: a host that may not be connected to is no failure of the network. */
function stepErrorIn(error: unknown): StepError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof StepError) return cause;
  }
  return undefined;
}

/** The code of the innermost cause, such as ECONNREFUSED. */
function causeOf(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return undefined;
}
