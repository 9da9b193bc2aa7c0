/** The progress of connecting an account, as the status of the credential shows it. Pure. */
import { ApiFailure } from '../http/failure.ts';
import type { CredentialObject } from '../kube/resources.ts';
import { readyOf } from './state.ts';

/** Changes whenever connecting changed the status. */
export function connectionMark({ status }: Pick<CredentialObject, 'status'>): string {
  const { expires, account, grantedScopes } = status ?? {};
  const { status: ready, reason, message, lastTransitionTime } = readyOf(status) ?? {};
  return JSON.stringify([ready, reason, message, lastTransitionTime, expires, account, grantedScopes]);
}

export type Connecting = 'waiting' | 'connected' | 'refused';

/** The result of connecting since the mark was taken. */
export function connectingState(credential: Pick<CredentialObject, 'status'>, before: string): Connecting {
  if (connectionMark(credential) === before) return 'waiting';
  const { status, reason } = readyOf(credential.status) ?? {};
  if (status === 'True') return 'connected';
  // The operator checks the connection again after each change.
  return reason === 'Pending' || status === 'Unknown' ? 'waiting' : 'refused';
}

/** The provider's sign-in URL and when it expires. */
export type Link = { url: string; expires: string };

const WEB = ['http:', 'https:'];

/**
 * Returns the link if it is a web address. Throws an ApiFailure for other schemes, which could run a script
 * in this page.
 */
export function webLink(link: Link): Link {
  if (URL.canParse(link.url) && WEB.includes(new URL(link.url).protocol)) return link;
  throw new ApiFailure({
    status: -1,
    title: 'The authorization URL is not a web address',
    detail: 'It must start with https:// or http://. Correct the authorization URL of the credential.',
    reason: 'link',
  });
}
