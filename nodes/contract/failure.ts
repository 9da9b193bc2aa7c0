/**
 * The one failure value of requests to providers. Steps, polls and credential checks make their own errors of
 * it (`stepError`, `pollError`, `checkError`). Its message is one line that names the host and holds no URL
 * and no secret; for the same reason an error of the HTTP library is never kept as its cause.
 */
import { StepError } from '../../api/reasons.ts';

export type FailureKind =
  /** The signal was aborted: `cause` is its reason. */
  | 'Stopped'
  /** The egress refused or could not resolve the host: `cause` is its StepError. */
  | 'Egress'
  | 'Unreachable'
  | 'InvalidAnswer'
  | 'TooLarge'
  | 'Rejected'
  | 'MissingScope'
  /** The credential is valid, and the account may not do this. */
  | 'Forbidden'
  | 'Missing'
  | 'RateLimited'
  | 'UpstreamError'
  | 'Refused'
  /** A status that the provider does not document for the request. */
  | 'Unexpected';

export type FailureOptions = {
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  /** The provider may have done what the request asked. Only for requests that change something. */
  isInDoubt?: boolean;
  /** Retrying does not help, whatever the kind. */
  isPermanent?: boolean;
  cause?: unknown;
};

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isInDoubt: boolean;
  readonly isPermanent: boolean;

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.isInDoubt = options.isInDoubt ?? false;
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** What a failed request asked for. */
export type Asked = {
  /** Host and port, for messages. */
  host: string;
  signal: AbortSignal;
  /** Whether the request, or one that was redirected to it, asks for a change. */
  mayChange: boolean;
  /** Whether a request that was redirected to this one may have made a change already. */
  afterChange: boolean;
};

/** The failure of a request that got no complete answer. */
export function connectionFailure(error: unknown, { host, signal, mayChange, afterChange }: Asked): Failure {
  if (signal.aborted)
    return new Failure('Stopped', 'the request was stopped', { isInDoubt: mayChange, cause: signal.reason });
  const refused = stepErrorIn(error);
  if (refused) return new Failure('Egress', refused.message, { isInDoubt: afterChange, cause: refused });
  const [kind, problem] = judge(error, host);
  return new Failure(kind, problem, { isInDoubt: afterChange || (mayChange && mayHaveArrived(error)) });
}

function judge(error: unknown, host: string): [FailureKind, string] {
  const code = codeOf(error);
  if (isTls(code)) return ['Unreachable', `the TLS handshake with ${host} failed: ${code}`];
  if (isNotSent(error)) return ['Unreachable', `cannot connect to ${host}: ${code}`];
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return ['InvalidAnswer', `${host} did not answer with valid HTTP (${code}). Is it an HTTP port?`];
  return ['Unreachable', `the connection to ${host} was lost: ${code}`];
}

/** Errors of connecting: nothing was sent. */
const NOT_SENT = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether the error says that no connection was made, so that nothing was sent. */
export function isNotSent(error: unknown): boolean {
  return causesOf(error).some((cause) => NOT_SENT.has(codeOf(cause)) && !isOfConnected(cause));
}

/** Whether the error of a socket came after it was connected: the same codes stand for both. */
function isOfConnected(error: unknown): boolean {
  const { syscall } = error as { syscall?: unknown };
  return syscall === 'read' || syscall === 'write';
}

function mayHaveArrived(error: unknown): boolean {
  return !isNotSent(error) && !isTls(codeOf(error));
}

/** Codes of OpenSSL and Node.js about certificates and handshakes. */
function isTls(code: string): boolean {
  return /CERT|TLS|SSL|EPROTO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH/.test(code);
}

/** The StepError that the egress threw, also where an HTTP library wrapped it. */
export function stepErrorIn(error: unknown): StepError | undefined {
  return causesOf(error).find((cause) => cause instanceof StepError);
}

/** The error and its causes, outermost first. */
export function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** The HTTP parser's errors have no code; they are told by their name. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no code';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'HTTPParserError' ? 'HPE_INVALID' : error.name;
}
