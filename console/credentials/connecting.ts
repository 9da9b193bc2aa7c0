/** Connecting an account: what is seen of it in the credential's status while somebody signs in elsewhere. Pure. */
import type { CredentialObject } from '../kube/resources.ts';
import { readyOf } from './ready.ts';

/** What connecting changes: whoever compares two of them sees whether something came of it. */
export function connectionMark({ status }: Pick<CredentialObject, 'status'>): string {
  const { expires, account, grantedScopes } = status ?? {};
  const { status: ready, reason, message, lastTransitionTime } = readyOf(status) ?? {};
  return JSON.stringify([ready, reason, message, lastTransitionTime, expires, account, grantedScopes]);
}

export type Connecting = 'waiting' | 'connected' | 'refused';

/** What came of connecting since the mark was taken. */
export function connectingState(credential: Pick<CredentialObject, 'status'>, before: string): Connecting {
  if (connectionMark(credential) === before) return 'waiting';
  const { status, reason } = readyOf(credential.status) ?? {};
  if (status === 'True') return 'connected';
  // Whether an account is connected is looked at anew after each change.
  return reason === 'Pending' || status === 'Unknown' ? 'waiting' : 'refused';
}
