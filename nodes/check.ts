/**
 * The contract of credential checks: one harmless request, as triggers and skills would send it, that ends
 * within its deadline.
 */
import type { CheckReason, CheckResult } from '../api/check.ts';
import { StepError, type FailureReason } from '../api/reasons.ts';
import type { Egress } from './egress/egress.ts';
import { Failure, type FailureKind } from './http/failure.ts';
import { callJson, type JsonAnswer, type JsonCall } from './http/json.ts';
import { retryAfterMs } from './http/retryAfter.ts';
import { joinURL } from './http/url.ts';
import type { CredentialAccess } from './node.ts';
import { quoted, type Mask } from './secret.ts';
import { isRecord, membersOf } from '../api/record.ts';

export type CheckContext = {
  /** Where it may connect to. */
  egress: Egress;
  /** Aborted when it must end. */
  signal: AbortSignal;
};

/** What is known of a credential that works. Everything that the provider said is masked. */
export type Found = { message: string; account?: string; models?: string[] };

/** Tries a credential of one kind. Throws a CheckError, or a StepError of what it used. */
export type Check = (credential: CredentialAccess, context: CheckContext) => Promise<Found>;

/** A credential that does not work, with a message for people that says what to do. Without secrets. */
export class CheckError extends Error {
  override readonly name = 'CheckError';
  readonly reason: CheckReason;
  readonly retryAfterMs: number | undefined;

  constructor(reason: CheckReason, message: string, options: { retryAfterMs?: number | undefined } = {}) {
    super(message);
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** How long a check may take. */
const CHECK_TIMEOUT_MS = 15_000;

type Failed = Extract<CheckResult, { works: false }>;

/** Does something with the credential and says what came of it. Only a defect is thrown. */
export async function resultOf<T extends object = Found>(
  check: (credential: CredentialAccess, context: CheckContext) => Promise<T>,
  credential: CredentialAccess,
  context: CheckContext,
  timeoutMs: number = CHECK_TIMEOUT_MS,
): Promise<({ works: true } & T) | Failed> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, deadline]);
  try {
    return { works: true, ...(await check(credential, { ...context, signal })) };
  } catch (error) {
    if (deadline.aborted)
      return failed('Unreachable', `the provider did not answer within ${timeoutMs / 1_000} s`);
    return failedBy(error);
  }
}

function failedBy(thrown: unknown): Failed {
  const error = checkError(thrown);
  if (error instanceof CheckError) return failed(error.reason, error.message, error.retryAfterMs);
  if (error instanceof StepError)
    return failed(REASONS[error.reason] ?? 'Unreachable', error.message, error.retryAfterMs);
  throw error;
}

const OF_FAILURES: Partial<Record<FailureKind, CheckReason>> = {
  Rejected: 'Rejected',
  Forbidden: 'Rejected',
  Missing: 'Rejected',
  MissingScope: 'MissingScope',
};

/** The error of a check for a failed request; any other error is returned as it is. */
function checkError(error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  const { kind, message, cause, retryAfterMs } = error;
  if (kind === 'Egress') return cause;
  return new CheckError(OF_FAILURES[kind] ?? 'Unreachable', message, { retryAfterMs });
}

/**
 * What the errors of steps mean for a credential; whatever else there is lies with the provider, and may
 * pass.
 */
const REASONS: Partial<Record<FailureReason, CheckReason>> = {
  CredentialMissing: 'KeyMissing',
  CredentialRejected: 'Rejected',
  InvalidParameters: 'Rejected',
};

function failed(reason: CheckReason, message: string, retryAfterMs?: number): Failed {
  return { works: false, reason, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** A name that the provider gave, fit for the status: masked, one line, of at most so many characters. */
export function shown(text: unknown, secrets: readonly Mask[], most: number): string | undefined {
  if (typeof text !== 'string') return undefined;
  const line = quoted(text, secrets)
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, most);
  return line === '' ? undefined : line;
}

/** Lists of models have some hundred kilobytes. */
const LIMIT = 4 * 1024 * 1024;
const LONGEST_QUOTE = 300;

/**
 * Calls an API.
 * @throws Failure
 */
export function ask(
  call: Omit<JsonCall, 'limit' | 'method'> & Partial<Pick<JsonCall, 'method'>>,
  context: CheckContext,
): Promise<JsonAnswer> {
  return callJson({ method: 'GET', ...call, limit: LIMIT }, context);
}

/**
 * The error for an answer that a working credential does not get. `what`: what was refused, such as "the API
 * key".
 */
export function refusal(
  { host, status, headers, json }: JsonAnswer,
  what: string,
  secrets: readonly Mask[],
): CheckError {
  const said = shown(messageIn(json), secrets, LONGEST_QUOTE);
  const tail = `${status}${said === undefined ? '' : `: ${said}`}`;
  const isMissingScope = /error="?insufficient_scope/.test(headers['www-authenticate'] ?? '');
  if (isMissingScope) return new CheckError('MissingScope', `${host} requires a scope that ${what} lacks`);
  if (status === 401 || status === 403)
    return new CheckError('Rejected', `${host} refused ${what} with status ${tail}`);
  const options = { retryAfterMs: retryAfterMs(headers) };
  if (status === 429)
    return new CheckError('Unreachable', `${host} limits the rate of requests: status ${tail}`, options);
  return new CheckError('Unreachable', `${host} answered with status ${tail}`, options);
}

/** Where the error of an API has its text: OpenAI's and many others', OAuth's, Telegram's. */
function messageIn(json: unknown): unknown {
  const { error, error_description: described, description, message } = membersOf(json);
  if (isRecord(error)) return error['message'];
  return [described, description, message, error].find((each) => typeof each === 'string');
}

/** The base URL with a path appended. Throws a CheckError `Rejected` where the base is not a URL. */
export function under(base: string, path: string): URL {
  const url = joinURL(base, path);
  if (url) return url;
  throw new CheckError('Rejected', 'the address in the credential is not a URL: correct it');
}
