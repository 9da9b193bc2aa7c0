/** Connecting an account: what is seen of it in the credential's status while somebody signs in elsewhere. Pure. */
import { ApiFailure } from '../http/failure.ts';
import type { CredentialObject } from '../kube/resources.ts';
import { readyOf } from './state.ts';

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

/** Where to sign in at a provider, and until when. */
export type Link = { url: string; expires: string };

const WEB = ['http:', 'https:'];

/** The link, if it leads to a page of the web. Any other scheme could run a script as this page: it throws an ApiFailure. */
export function webLink(link: Link): Link {
  if (URL.canParse(link.url) && WEB.includes(new URL(link.url).protocol)) return link;
  throw new ApiFailure({
    status: -1,
    title: 'The authorization URL is not a web address',
    detail: 'It must start with https:// or http://. Correct the authorization URL of the credential.',
    reason: 'link',
  });
}
