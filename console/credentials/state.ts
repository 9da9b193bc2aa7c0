/** The condition `Ready` of a credential for people: a word, a severity, and advice. Pure. */
import type { Reason } from '../../api/conditions.ts';
import { withoutRequest } from './connectText.ts';

export type Tone = 'good' | 'warning' | 'bad' | 'unknown';

export type CredentialState = {
  word: string;
  tone: Tone;
  /** How to fix it; undefined: nothing to do. */
  advice?: string;
};

export type ReadyCondition = { status?: string | undefined; reason?: string | undefined };

type ByReason = Partial<Record<Reason, CredentialState>>;

const GOOD: ByReason = {
  Checked: { word: 'Works', tone: 'good' },
  Complete: {
    word: 'Complete',
    tone: 'good',
    advice: 'Windlass cannot check this credential. Set a test URL to have it checked.',
  },
  Unused: {
    word: 'Not checked',
    tone: 'unknown',
    advice: 'Click Test, or use it in a workflow: it is checked on first use.',
  },
  Connected: { word: 'Connected', tone: 'good' },
  Expiring: {
    word: 'Expires soon',
    tone: 'warning',
    advice: 'Reconnect the account, or fix the problem in the message.',
  },
  MissingScope: {
    word: 'Missing scope',
    tone: 'warning',
    advice: 'Workflows need scopes that were not granted. Reconnect the account.',
  },
};

const UNKNOWN: ByReason = {
  NotChecked: {
    word: 'Not checked',
    tone: 'unknown',
    advice: 'It is checked within seconds, as soon as a runner is ready.',
  },
  Pending: {
    word: 'New',
    tone: 'unknown',
    advice: 'The operator processes it within seconds. If this status stays, the operator is not running.',
  },
  StoreUnavailable: {
    word: 'Not checked',
    tone: 'unknown',
    advice: 'The run store is unavailable. An administrator must restore it; the check is then repeated.',
  },
};

const BAD: ByReason = {
  SecretMissing: { word: 'Secret missing', tone: 'bad', advice: 'Edit the credential and enter the value.' },
  KeyMissing: { word: 'Value missing', tone: 'bad', advice: 'Edit the credential and enter the value.' },
  NoAllowedHosts: {
    word: 'No allowed hosts',
    tone: 'bad',
    advice: 'Edit the credential and enter the hosts that may receive it under Allowed hosts.',
  },
  Rejected: {
    word: 'Rejected',
    tone: 'bad',
    advice: 'The provider rejected it. Correct the user, password or key, then test again.',
  },
  Unreachable: {
    word: 'Unreachable',
    tone: 'bad',
    advice:
      'Check host and port. An address inside the cluster must be in runner.egress.allow of the chart or egress.allow of ProjectSettings.',
  },
  Expired: {
    word: 'Expired',
    tone: 'bad',
    advice: 'The token expired. Reconnect the account or enter a new token.',
  },
  MissingScope: {
    word: 'Missing scope',
    tone: 'bad',
    advice: 'Grant the token that scope, or reconnect the account.',
  },
  NotConnected: {
    word: 'Not connected',
    tone: 'bad',
    advice: 'Click Connect and sign in with the account that workflows should use.',
  },
  Unauthorized: {
    word: 'Not readable',
    tone: 'bad',
    advice:
      'The operator is not allowed to read the Secret. An administrator must grant the permission in the message.',
  },
};

/** Reasons that no table contains are shown as they are. */
export function credentialState({ status, reason }: ReadyCondition): CredentialState {
  if (status === undefined || reason === undefined) return UNKNOWN.Pending as CredentialState;
  const table = status === 'True' ? GOOD : status === 'False' ? BAD : UNKNOWN;
  const tone = status === 'True' ? 'good' : status === 'False' ? 'bad' : 'unknown';
  return (Object.hasOwn(table, reason) ? table[reason as Reason] : undefined) ?? { word: reason, tone };
}

/** What a form says of a credential beside its buttons; undefined: nothing has to be done. */
export function messageBeside({ status, reason, message }: Partial<Condition>): string | undefined {
  if (!needsConnecting({ status, reason })) return undefined;
  return reason === 'NotConnected' ? BAD.NotConnected?.advice : message;
}

/** Whether a form offers to connect the account: it does not work, or will not for long. */
export function needsConnecting({ status, reason }: ReadyCondition): boolean {
  return status !== 'True' || credentialState({ status, reason }).tone === 'warning';
}

/** Whether the account needs to be connected, or can be reconnected. */
export function connectLabel({ status, reason }: ReadyCondition): 'Connect' | 'Reconnect' {
  return reason === 'NotConnected' || status === undefined || reason === 'Pending' ? 'Connect' : 'Reconnect';
}

/** The condition `Ready` of an object. */
export type Condition = {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number | undefined;
};

type WithConditions = { conditions?: readonly Condition[] | undefined };

/** In the words of the console. Undefined before the operator has processed the object. */
export function readyOf(status: WithConditions | undefined): Condition | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready && { ...ready, message: withoutRequest(ready.message) };
}
