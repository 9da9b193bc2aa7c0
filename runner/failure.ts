/**
 * Decides what follows the failure of an attempt: a retry or the end of the node. Pure.
 */
import { ExpressionError } from '../api/expression/errors.ts';
import type { FoundBy } from '../api/expression/found.ts';
import { toText } from '../api/expression/evaluate.ts';
import { StepError, type FailureReason } from '../api/reasons.ts';
import type { RetryPolicy } from '../api/revision.ts';
import type { FailStep } from '../api/step.ts';
import { backoffDelay } from '../kube/backoff.ts';

const JITTER = 0.2;
/** The longest message of a record. */
const MESSAGE_LIMIT = 4_096;

/** `reason` is a FailureReason, or that of a fail node. */
export type FailedEnd = {
  phase: 'Failed' | 'Unknown' | 'Cancelled';
  reason: string;
  message: string;
  log?: string;
  /** Of a reference without a value. */
  missing?: FoundBy;
};
/** `isFail`: a fail node has ended the scope, so that reason and message are the author's. */
export type ScopeFailure = FailedEnd & { isFail?: true };
export type AfterFailure =
  | { kind: 'retry'; delayMs: number; end: FailedEnd }
  | { kind: 'end'; end: FailedEnd };

/**
 * Decides what follows the failure of attempt `attempt` (from 1). `Retry-After` is the least delay.
 */
export function afterFailure(
  error: StepError,
  attempt: number,
  retry: RetryPolicy,
  random: () => number = Math.random,
): AfterFailure {
  const end = failedEnd(error);
  if (end.phase !== 'Failed' || !error.retryable || attempt > retry.limit) return { kind: 'end', end };
  const own = backoffDelay({ ...retry, jitter: JITTER }, attempt, random);
  return { kind: 'retry', delayMs: Math.max(own, error.retryAfterMs ?? 0), end };
}

/** The end of a fail node. `message` is the evaluated message, of any type. */
export function endOfFail({ reason }: FailStep, message: unknown): FailedEnd {
  return { phase: 'Failed', reason, message: toText(message).slice(0, MESSAGE_LIMIT).toWellFormed() };
}

/** The end of a node that failed with this error. */
export function failedEnd({ reason, message, log, cause }: StepError): FailedEnd {
  const phases: Partial<Record<FailureReason, FailedEnd['phase']>> = {
    EffectUnknown: 'Unknown',
    Cancelled: 'Cancelled',
  };
  return {
    phase: phases[reason] ?? 'Failed',
    reason,
    message: message.slice(0, MESSAGE_LIMIT).toWellFormed(),
    ...(log && { log }),
    ...(cause instanceof ExpressionError && cause.missing && { missing: cause.missing }),
  };
}

/**
 * Converts a thrown value to a StepError. An unknown error is a defect, and only the log has its text.
 */
export function asStepError(error: unknown): StepError {
  if (error instanceof StepError) return error;
  if (error instanceof ExpressionError) {
    const reasons = { MissingValue: 'MissingValue', Limit: 'OutputTooLarge' } as const;
    const reason =
      error.code === 'MissingValue' || error.code === 'Limit' ? reasons[error.code] : 'InvalidParameters';
    return new StepError(reason, error.message, { cause: error });
  }
  return new StepError('Internal', 'internal error: see the log of the runner', {
    cause: error,
  });
}
