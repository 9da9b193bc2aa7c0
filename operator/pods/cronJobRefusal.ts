/** Why the API server refuses a CronJob, and when to try again. */
import type { Reason } from '../../api/conditions.ts';
import { ApiError, isForbidden, isInvalid } from '../../kube/errors.ts';

export type CronJobRefusal = {
  reason: Extract<Reason, 'InvalidSchedule' | 'ScheduleRefused' | 'QuotaExceeded'>;
  message: string;
  retryAfterMs: number;
};

/** A quota may have room at any time, also after the operator deleted an object. */
const QUOTA_MS = 10_000;
const AGAIN_MS = 300_000;

/** Undefined for errors that do not concern the CronJob itself, such as an outage or a missing right. */
export function refusalOf(error: unknown): CronJobRefusal | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { message: said } = error;
  if (isForbidden(error) && /exceeded quota/.test(said)) {
    const message = `A ResourceQuota of the namespace admits no further CronJob. Raise it, or delete a CronJob: ${said}`;
    return { reason: 'QuotaExceeded', message, retryAfterMs: QUOTA_MS };
  }
  if (!isInvalid(error)) return undefined;
  if (/\bspec\.(schedule|timeZone)\b/.test(said)) {
    const message = `The API server refuses the schedule. Correct it: ${said}`;
    return { reason: 'InvalidSchedule', message, retryAfterMs: AGAIN_MS };
  }
  const message = `The API server refuses the CronJob. The operator tries again every few minutes: ${said}`;
  return { reason: 'ScheduleRefused', message, retryAfterMs: AGAIN_MS };
}
