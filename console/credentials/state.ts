/** What the condition `Ready` of a credential means to a person: a word, how bad it is, and what to do. Pure. */
import type { Reason } from '../../api/conditions.ts';

export type Tone = 'good' | 'warning' | 'bad' | 'unknown';

export type CredentialState = {
  word: string;
  tone: Tone;
  /** What to do; undefined: nothing. */
  advice?: string;
};

export type ReadyWords = { status?: string | undefined; reason?: string | undefined };

type ByReason = Partial<Record<Reason, CredentialState>>;

const GOOD: ByReason = {
  Checked: { word: 'Works', tone: 'good' },
  Complete: {
    word: 'Complete',
    tone: 'good',
    advice: 'It cannot be checked. Enter a page to check with.',
  },
  Unused: {
    word: 'Not checked',
    tone: 'unknown',
    advice: 'Press Test to check it. It is also checked once a workflow uses it.',
  },
  Connected: { word: 'Connected', tone: 'good' },
  Expiring: {
    word: 'Ends soon',
    tone: 'warning',
    advice: 'Connect the account again, or mend what the message names.',
  },
  MissingScope: {
    word: 'Lacks a right',
    tone: 'warning',
    advice: 'Workflows need more than was granted: connect the account again.',
  },
};

const UNKNOWN: ByReason = {
  NotChecked: {
    word: 'Not checked',
    tone: 'unknown',
    advice: 'Waiting for a runner to check it.',
  },
  Pending: {
    word: 'New',
    tone: 'unknown',
    advice: 'The operator processes it within seconds. If this stays, the operator does not run.',
  },
  StoreUnavailable: {
    word: 'Not checked',
    tone: 'unknown',
    advice: 'The run store is away. Whoever manages the cluster must look at it; then this is tried again.',
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
    word: 'Refused',
    tone: 'bad',
    advice: 'The other side refuses it: correct user, password or key, then test again.',
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
    advice: 'The access has ended: connect the account again, or enter a new token.',
  },
  MissingScope: {
    word: 'Lacks a right',
    tone: 'bad',
    advice: 'Give the token that right, or connect the account again.',
  },
  NotConnected: {
    word: 'Not connected',
    tone: 'bad',
    advice: 'Press Connect, and sign in with the account that workflows shall use.',
  },
  Unauthorized: {
    word: 'Not readable',
    tone: 'bad',
    advice:
      'The operator may not read the Secret. Whoever manages the cluster must give it the right that the message names.',
  },
};

/** The state in words; what no table knows is told by its reason. */
export function credentialState({ status, reason }: ReadyWords): CredentialState {
  if (status === undefined || reason === undefined) return UNKNOWN.Pending as CredentialState;
  const table = status === 'True' ? GOOD : status === 'False' ? BAD : UNKNOWN;
  const tone = status === 'True' ? 'good' : status === 'False' ? 'bad' : 'unknown';
  return (Object.hasOwn(table, reason) ? table[reason as Reason] : undefined) ?? { word: reason, tone };
}

/** Whether an account has to be connected, or may be connected again. */
export function connectWord({ status, reason }: ReadyWords): 'Connect' | 'Reconnect' {
  return reason === 'NotConnected' || status === undefined || reason === 'Pending' ? 'Connect' : 'Reconnect';
}
