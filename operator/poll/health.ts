/** Whether a polled trigger works, as a pure function of what the run store knows of it. */
import { type Reason, REASON } from '../../api/conditions.ts';
import { ANNOTATION } from '../../api/group.ts';
import type { PollState } from '../../store/polling/state.ts';
import type { Finding } from '../shared/status.ts';
import { isNoReset } from './trigger.ts';
import type { CronJobRefusal } from '../pods/cronJobRefusal.ts';

/** For a pod to be made and to start, also where its image has to be pulled. */
const LATE_MS = 150_000;
const LOOK = 'kubectl get jobs,pods -l app.kubernetes.io/name=windlass-poll';

/** Why an account is not polled: its credential does not exist, or is of a kind that the trigger cannot use. */
export type Unusable = { reason: 'CredentialMissing' | 'WrongCredentialKind'; message: string };

/** What else counts: the credential, why the API server takes no CronJob, and the annotation that asks to begin anew. */
export type Beside = {
  unusable?: Unusable | undefined;
  refused?: Pick<CronJobRefusal, 'reason' | 'message'> | undefined;
  reset?: string | undefined;
};

/** What the condition says. `state` is undefined where the run store knows nothing of the trigger yet. */
export function healthOf(state: PollState | undefined, { unusable, refused, reset }: Beside = {}): Finding {
  if (unusable)
    return {
      status: 'False',
      reason: unusable.reason,
      message: `The account is not polled: ${unusable.message}`,
    };
  const health = pollsOf(state);
  // As long as the account is polled, an older CronJob does its work.
  const isLeft = health.reason === 'Pending' || health.reason === 'NotPolled';
  if (refused && isLeft) return { status: 'False', reason: refused.reason, message: refused.message };
  return isNoReset(reset) ? { ...health, message: `${health.message} ${NO_RESET}` } : health;
}

const NO_RESET = `The annotation ${ANNOTATION.resetCursor} is not understood, so that nothing begins anew: write now, or a time such as 2026-03-02T09:00:00Z.`;

function pollsOf(state: PollState | undefined): Finding {
  if (!state) return pending;
  const { failure, polledAt, dueAt, now } = state;
  if (now > dueAt + LATE_MS) {
    const message = `The account has not been polled since ${timeOf(polledAt ?? dueAt)}. Look at the pods: ${LOOK}`;
    return { status: 'False', reason: 'NotPolled', message };
  }
  if (failure) {
    const { reason, message, inARow } = failure;
    const times = inARow > 1 ? `${inARow} polls in a row have failed. ` : '';
    const said = /[.!?…]$/.test(message) ? message : `${message}.`;
    const known = Object.hasOwn(REASON, reason) ? (reason as Reason) : 'UpstreamError';
    return {
      status: 'False',
      reason: known,
      message: `${said} ${times}The next poll is at ${timeOf(dueAt)}.`,
    };
  }
  if (polledAt === undefined) return pending;
  return { status: 'True', reason: 'Polled', message: 'The last poll of the account succeeded.' };
}

const pending: Finding = {
  status: 'Unknown',
  reason: 'Pending',
  message: 'The account was not polled yet. The first poll comes within about a minute.',
};

/** RFC 3339, to the second. */
export function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
