/** The condition `CredentialsReady`. Pure. */
import type { Reason } from '../../../api/conditions.ts';
import type { CredentialProblem } from '../../credential/problems.ts';
import { listed, type Facts, type Update } from './facts.ts';

export function credentialsReady(facts: Facts): Update {
  const type = 'CredentialsReady';
  const all = credentialsOf(facts);
  const known = all.filter(({ isKnown }) => isKnown);
  // A check in progress is not reported beside known problems.
  const credentials = known.length > 0 ? known : all;
  const [first] = credentials;
  if (!first) {
    const message = facts.namesCredentials
      ? 'All credentials are ready.'
      : 'The workflow names no credentials.';
    return { type, status: 'True', reason: 'CredentialsFound', message };
  }
  return {
    type,
    status: first.isKnown ? 'False' : 'Unknown',
    reason: first.reason,
    message: listed(credentials),
  };
}

/** Problems of Secrets and credentials: first those that close the webhook, then those that fail runs. */
export function credentialsOf({
  credentials,
  unverifiable,
}: Facts): (Pick<CredentialProblem, 'message' | 'isKnown' | 'needsChange'> & { reason: Reason })[] {
  return unverifiable === undefined ? [...credentials] : [{ ...unverifiable, isKnown: true }, ...credentials];
}
