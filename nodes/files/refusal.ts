/** An answer of a store of files that is no success: the same for those who look at it and for the steps that use it. */
import { StepError, type FailureReason } from '../../api/reasons.ts';
import { PollError, type PollReason } from '../poller.ts';
import { retryAfterMs } from '../retryAfter.ts';

export type RefusalKind =
  | 'Rejected'
  | 'MissingScope'
  | 'Missing'
  | 'RateLimited'
  | 'UpstreamError'
  | 'InvalidAnswer'
  | 'Refused';

/** Its message is one line without secrets. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind;
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(kind: RefusalKind, message: string, answer: { status: number; headers: Headers }) {
    super(message);
    this.kind = kind;
    this.status = answer.status;
    this.retryAfterMs = retryAfterMs(answer.headers);
  }
}

const OF_LOOKS: Record<RefusalKind, PollReason> = {
  Rejected: 'Rejected',
  MissingScope: 'MissingScope',
  Missing: 'FolderMissing',
  RateLimited: 'RateLimited',
  UpstreamError: 'UpstreamError',
  InvalidAnswer: 'InvalidAnswer',
  Refused: 'UpstreamError',
};

const OF_STEPS: Record<RefusalKind, FailureReason> = {
  Rejected: 'CredentialRejected',
  MissingScope: 'CredentialRejected',
  Missing: 'Refused',
  RateLimited: 'RateLimited',
  UpstreamError: 'UpstreamError',
  InvalidAnswer: 'InvalidAnswer',
  Refused: 'Refused',
};

/** What a look fails with; every other error is left as it is. */
export function asPollError(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  const { kind, message, retryAfterMs: ms } = error;
  const wait = ms === undefined ? {} : { retryAfterSeconds: Math.ceil(ms / 1_000) };
  return new PollError(OF_LOOKS[kind], message, { ...wait, cause: error });
}

/** What a step fails with; every other error is left as it is. */
export function asStepError(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  const { kind, message, retryAfterMs: ms } = error;
  return new StepError(OF_STEPS[kind], message, {
    ...(ms !== undefined && { retryAfterMs: ms }),
    cause: error,
  });
}
