/** The problems of the credentials that a workflow names. Pure. */
import type { Reason } from '../../api/conditions.ts';
import { credentialKind } from '../../api/credential.ts';
import { allowedHostsOf } from '../../api/hosts.ts';
import type { Credential } from '../../api/kinds.ts';
import { findCondition, isConditionTrue } from '../../kube/conditions.ts';
import { scopesFor } from '../../nodes/scopes.ts';
import { missingScopes } from '../oauth/scopes.ts';
import type { CredentialRef } from '../shared/credentialRefs.ts';

export type CredentialProblem = {
  reason: Extract<
    Reason,
    'CredentialMissing' | 'WrongCredentialKind' | 'CredentialNotReady' | 'MissingScope' | 'NoAllowedHosts'
  >;
  message: string;
  /** False while the credential is being checked. */
  isKnown: boolean;
  /** Only a change of the workflow, or of a credential that it names, solves it. */
  needsChange?: true;
};

/** The problems in the order of the nodes. `find` looks up a credential of the workflow's namespace. */
export function credentialProblems(
  refs: readonly CredentialRef[],
  find: (name: string) => Credential | undefined,
): CredentialProblem[] {
  return refs.flatMap((ref) => problemOf(ref, find(ref.name)));
}

function problemOf(ref: CredentialRef, credential: Credential | undefined): CredentialProblem[] {
  const place = `node ${ref.node}: Credential ${ref.name}`;
  if (!credential) {
    const message = `${place} does not exist in this namespace: apply it, or name another one`;
    return [{ reason: 'CredentialMissing', message, isKnown: true }];
  }
  const kind = credentialKind(credential.spec);
  if (ref.kinds.length > 0 && !ref.kinds.includes(kind)) {
    const message = `${place} is of kind ${kind}, the node needs ${ref.kinds.join(' or ')}: name another one`;
    return [{ reason: 'WrongCredentialKind', message, isKnown: true, needsChange: true }];
  }
  return [
    ...readinessProblem(place, credential),
    ...scopeProblem(place, ref, credential),
    ...hostsProblem(place, ref, credential),
  ];
}

/** A ready account may name no host for `http_request`, the only skill that accepts the kind http. */
function hostsProblem(
  place: string,
  { kinds, hostEntry }: CredentialRef,
  { spec }: Credential,
): CredentialProblem[] {
  if (!spec.oauth2 || !kinds.includes('http') || allowedHostsOf(spec).length > 0) return [];
  const what = hostEntry === undefined ? "the host of the node's url" : `"${hostEntry}"`;
  const message = `${place} names no host that it may be sent to: add ${what} to its spec.oauth2.allowedHosts`;
  return [{ reason: 'NoAllowedHosts', message, isKnown: true, needsChange: true }];
}

/** Scopes that the node needs and the account did not grant. Not reported before the account is connected. */
function scopeProblem(place: string, { scopes }: CredentialRef, credential: Credential): CredentialProblem[] {
  const { connectURL = '', grantedScopes } = credential.status ?? {};
  const needed = scopesFor(scopes, credential.spec);
  const missing = missingScopes(needed, grantedScopes ?? []);
  if (grantedScopes === undefined || missing.length === 0) return [];
  const message = `${place} lacks scopes that the node needs: ${missing.join(', ')}. Connect it again: POST to ${connectURL} and open the link in the response`;
  return [{ reason: 'MissingScope', message, isKnown: true }];
}

function readinessProblem(place: string, credential: Credential): CredentialProblem[] {
  const ready = findCondition(credential.status?.conditions, 'Ready');
  const isCurrent = ready?.observedGeneration === credential.metadata.generation;
  if (isCurrent && ready?.status === 'True') return [];
  const reason = 'CredentialNotReady';
  if (isCurrent && ready?.status === 'False') {
    const message = `${place} is not ready (${ready.reason}): ${ready.message}`;
    const needsChange = isConditionTrue(credential.status?.conditions, 'Stalled');
    return [{ reason, message, isKnown: true, ...(needsChange && { needsChange }) }];
  }
  const why = isCurrent && ready ? `: ${ready.message}` : '';
  return [{ reason, message: `${place} is being checked${why}`, isKnown: false }];
}
