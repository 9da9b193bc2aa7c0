/** The credentials that a failure of a node is about. Pure. */
import { credentialsOf } from '../credentials/credentialFields.ts';

/** The reasons of failures that a change of the credential repairs. */
const REASONS: readonly (string | undefined)[] = ['CredentialMissing', 'CredentialRejected'];

export function isAboutCredential(reason: string | undefined): boolean {
  return REASONS.includes(reason);
}

/** A name in a message ends where no further character of a name follows. */
const NAME = /[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/g;

/**
 * The names of the credentials to check: those of the node that the message names, or else all that the
 * node uses. Empty if the failure has another reason. `node`: of a workflow or of a revision.
 */
export function failedCredentials(
  node: unknown,
  { reason, message = '' }: { reason?: string | undefined; message?: string | undefined },
): string[] {
  if (!isAboutCredential(reason)) return [];
  const used = credentialsOf(node);
  const words = new Set(message.match(NAME));
  const named = used.filter((name) => words.has(name));
  return named.length > 0 ? named : used;
}
