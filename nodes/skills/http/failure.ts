/**
 * What went wrong with a request, as an error of the step. Messages name the host and never the URL, which may hold a secret; for
 * the same reason the errors of the HTTP client are not kept as causes.
 */
import { StepError, type FailureReason } from '../../../api/reasons.ts';
import { isOfConnected } from '../../egress/connect.ts';
import { abortion, inDoubt, quoted, type Effect } from '../../node.ts';
import { retryAfterMs } from '../../retryAfter.ts';
import type { Mask } from '../../secret.ts';
import { beginningOf, type Received } from './answer.ts';
import { mayHaveChanged, type Request } from './request.ts';

/** Errors of connecting: nothing was sent. */
const NOT_SENT = new Set([
  'EADDRNOTAVAIL',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The error of a request that broke off. `signal` is that of the step. */
export function brokenOff(
  error: unknown,
  request: Request,
  { signal, effect }: { signal: AbortSignal; effect: Effect },
): StepError {
  if (signal.aborted) return doubted(abortion(signal), request, effect);
  const failure = translated(error, request);
  return mayHaveArrived(error) || request.afterChange ? doubted(failure, request, effect) : failure;
}

/** Whether a request that broke off with that error may have come to the other side. */
export function mayHaveArrived(error: unknown): boolean {
  return !(error instanceof StepError) && !isNotSent(error) && !isTls(codeOf(error));
}

/** The error of a status that the step does not take for a success. */
export async function unexpectedStatus(
  received: Received,
  request: Request,
  { effect, secrets }: { effect: Effect; secrets: readonly Mask[] },
): Promise<StepError> {
  const { status, headers, from } = received;
  const said = quoted(await beginningOf(received, secrets), secrets);
  const message = `${from} answered ${request.method} with status ${status}${said === '' ? '' : `: ${said}`}`;
  const { 'retry-after': after = '', date = '' } = headers;
  const wait = retryAfterMs(new Headers({ 'retry-after': after, date }));
  const options = wait === undefined ? {} : { retryAfterMs: wait };
  const failure = new StepError(reasonOf(status, request), message, options);
  return failure.reason === 'UpstreamError' || request.afterChange
    ? doubted(failure, request, effect)
    : failure;
}

function reasonOf(status: number, { authority }: Request): FailureReason {
  if (status === 429) return 'RateLimited';
  if (status === 408 || status >= 500) return 'UpstreamError';
  return (status === 401 || status === 403) && authority ? 'CredentialRejected' : 'Refused';
}

/** What asked for a change and was not answered as hoped may have made it. */
function doubted(failure: StepError, request: Request, effect: Effect): StepError {
  return mayHaveChanged(request)
    ? inDoubt(effect, failure, 'the server may have done what was asked')
    : failure;
}

function translated(error: unknown, { url: { host } }: Request): StepError {
  if (error instanceof StepError) return error;
  const code = codeOf(error);
  if (isTls(code)) return new StepError('Unreachable', `no TLS with ${host}: ${code}`);
  if (isNotSent(error)) return new StepError('Unreachable', `no connection with ${host}: ${code}`);
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new StepError('InvalidAnswer', `the answer of ${host} is no HTTP that can be read: ${code}`);
  return new StepError('Unreachable', `the connection with ${host} broke off: ${code}`);
}

function isNotSent(error: unknown): boolean {
  return NOT_SENT.has(codeOf(error)) && !isOfConnected(error);
}

/** Of what OpenSSL and Node.js say of certificates and handshakes. */
function isTls(code: string): boolean {
  return /CERT|TLS|SSL|EPROTO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH/.test(code);
}

/** The parser of HTTP has no codes, but a name. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no code';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'HTTPParserError' ? 'HPE_INVALID' : error.name;
}
