/** Why the API server does not take a CronJob, for those who wait for it, and when that is worth trying again. */
import type { Reason } from '../../api/conditions.ts';
import { ApiError, isForbidden, isInvalid } from '../../kube/errors.ts';

export type CronJobRefusal = {
  reason: Extract<Reason, 'InvalidSchedule' | 'ScheduleRefused' | 'QuotaExceeded'>;
  message: string;
  retryAfterMs: number;
};

/** Room may be made at any time, also by what was just removed here. */
const QUOTA_MS = 10_000;
const AGAIN_MS = 300_000;

/** Undefined for what is no answer to the CronJob as it is written: an outage, a right that is lacking. */
export function refusalOf(error: unknown): CronJobRefusal | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { message: said } = error;
  if (isForbidden(error) && /exceeded quota/.test(said)) {
    const message = `A quota of the namespace admits no further CronJob, raise it or remove one: ${said}`;
    return { reason: 'QuotaExceeded', message, retryAfterMs: QUOTA_MS };
  }
  if (!isInvalid(error)) return undefined;
  if (/\bspec\.(schedule|timeZone)\b/.test(said)) {
    const message = `The API server does not take the schedule: ${said}`;
    return { reason: 'InvalidSchedule', message, retryAfterMs: AGAIN_MS };
  }
  const message = `The API server does not take the CronJob, which is tried again every few minutes: ${said}`;
  return { reason: 'ScheduleRefused', message, retryAfterMs: AGAIN_MS };
}
