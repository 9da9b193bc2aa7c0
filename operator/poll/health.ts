/** The health of a polled trigger, by its state in the run store. Pure. */
import { type Reason, REASON } from '../../api/conditions.ts';
import { ANNOTATION } from '../../api/group.ts';
import type { PollState } from '../../store/polling/state.ts';
import type { Finding } from '../shared/status.ts';
import { isInvalidReset } from './trigger.ts';
import type { CronJobRefusal } from '../pods/cronJobRefusal.ts';

/** For a pod to be created and to start, including an image pull. */
const LATE_MS = 150_000;
const PODS = "kubectl get pods -l 'app.kubernetes.io/name in (windlass-runner, windlass-poll)'";
/** Their events say why they cannot create a pod, such as a quota that is used up. */
const JOBS = 'kubectl describe jobs -l app.kubernetes.io/name=windlass-poll';

/**
 * Why an account is not polled: its credential does not exist, or is of a kind that the trigger cannot use.
 */
export type Unusable = { reason: 'CredentialMissing' | 'WrongCredentialKind'; message: string };

/**
 * Further facts: a problem of the credential, why the API server refuses the CronJob, and the annotation that
 * resets the cursor.
 */
export type PollFacts = {
  unusable?: Unusable | undefined;
  refused?: Pick<CronJobRefusal, 'reason' | 'message'> | undefined;
  reset?: string | undefined;
};

/**
 * The finding of the condition `TriggerHealthy`. `state` is undefined while the run store does not know the
 * trigger.
 */
export function healthOf(
  state: PollState | undefined,
  { unusable, refused, reset }: PollFacts = {},
): Finding {
  if (unusable)
    return {
      status: 'False',
      reason: unusable.reason,
      message: `The account is not polled: ${unusable.message}`,
    };
  const health = pollsOf(state);
  // If the account is polled, an existing CronJob still works.
  const isIdle = health.reason === 'Pending' || health.reason === 'NotPolled';
  if (refused && isIdle) return { status: 'False', reason: refused.reason, message: refused.message };
  return isInvalidReset(reset) ? { ...health, message: `${health.message} ${INVALID_RESET}` } : health;
}

const INVALID_RESET = `The annotation ${ANNOTATION.resetCursor} is invalid, so the cursor is not reset: set it to now, or to a time such as 2026-03-02T09:00:00Z.`;

function pollsOf(state: PollState | undefined): Finding {
  if (!state) return pending;
  const { failure, polledAt, dueAt, now, intervalMs } = state;
  // While runners sleep, an account that failed is polled with the next pod, at most an interval later.
  if (now > dueAt + LATE_MS + (failure ? intervalMs : 0)) {
    const message = `The account has not been polled since ${timeOf(polledAt ?? dueAt)}. Inspect the pods: ${PODS}. Without pods, inspect the Jobs that create them: ${JOBS}`;
    return { status: 'False', reason: 'NotPolled', message };
  }
  if (failure) {
    const { reason, message, inARow } = failure;
    const times = inARow > 1 ? `${inARow} consecutive polls have failed. ` : '';
    const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
    const known = Object.hasOwn(REASON, reason) ? (reason as Reason) : 'UpstreamError';
    return {
      status: 'False',
      reason: known,
      message: `${sentence} ${times}The next poll is at ${timeOf(dueAt)}.`,
    };
  }
  if (polledAt === undefined) return pending;
  return { status: 'True', reason: 'Polled', message: 'The last poll of the account succeeded.' };
}

const pending: Finding = {
  status: 'Unknown',
  reason: 'Pending',
  message: 'The account was not polled yet. The first poll starts within about a minute.',
};

/** RFC 3339, to the second. */
export function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
