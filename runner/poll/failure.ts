/** Why a look failed, in one word of the register and one line for people. */
import type { Reason } from '../../api/conditions.ts';
import { StepError, type FailureReason } from '../../api/reasons.ts';
import { PollError } from '../../nodes/poller.ts';

export type PollFailure = { reason: Reason; message: string; retryAfterSeconds?: number };

/**
 * What a failure of what pollers use, such as a credential or the egress, is called where a trigger shows it.
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

/** What is told of an error; undefined for a defect of ours, of which the log has the details. */
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
  message: 'A defect of Windlass; the log of the poll pod has the details.',
};
