/** Why a poll failed: a reason of the register and a message for people. */
import type { Reason } from '../../api/conditions.ts';
import { StepError, type FailureReason } from '../../api/reasons.ts';
import { PollError } from '../../nodes/contract/poller.ts';

export type PollFailure = { reason: Reason; message: string; retryAfterSeconds?: number };

/**
 * The reasons of a trigger for failures of steps, such as those of credentials and egress.
 */
const OF_STEPS: Partial<Record<FailureReason, Reason>> = {
  CredentialMissing: 'CredentialMissing',
  CredentialRejected: 'Rejected',
  AddressForbidden: 'AddressForbidden',
  Unreachable: 'Unreachable',
  RateLimited: 'RateLimited',
  InvalidAnswer: 'InvalidAnswer',
  Timeout: 'Timeout',
  InvalidParameters: 'InvalidTrigger',
};

/** The failure of an error; undefined for a defect, which the log describes. */
export function failureOf(error: unknown): PollFailure | undefined {
  if (error instanceof PollError) {
    const { reason, message, retryAfterSeconds } = error;
    return {
      reason,
      message,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
  }
  if (!(error instanceof StepError)) return undefined;
  const { reason, message, retryAfterMs } = error;
  return {
    reason: OF_STEPS[reason] ?? 'UpstreamError',
    message,
    ...(retryAfterMs !== undefined && { retryAfterSeconds: retryAfterMs / 1_000 }),
  };
}

export const DEFECT: PollFailure = {
  reason: 'Internal',
  message: 'Internal error. See the log of the poll pod.',
};
