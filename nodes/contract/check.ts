/**
 * The contract of credential checks: one harmless request, as triggers and skills would send it, that ends
 * within its deadline.
 */
import type { CheckReason, CheckResult } from '../../api/check.ts';
import { StepError, type FailureReason } from '../../api/reasons.ts';
import { Failure, type FailureKind } from './failure.ts';
import type { CredentialAccess, Wire } from './node.ts';

export type CheckContext = Wire;

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
