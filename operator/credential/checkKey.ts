/** Identifies checks of credentials. Pure. */
import { createHash } from 'node:crypto';
import type { CredentialSpec } from '../../api/credential.ts';
import { canonicalJson } from '../../kube/json.ts';

/**
 * Identifies a check: by the spec, the versions of the Secrets, the requested check, and the access token
 * behind a dot.
 */
export function checkKey(
  spec: CredentialSpec,
  { versions }: { versions: Record<string, string> },
  { token = 0, requested }: { token?: number | undefined; requested?: string | undefined } = {},
): string {
  // The names of the members are part of hashes in the run store.
  const checked = { spec, versions, token: 0, ...(requested !== undefined && { wish: requested }) };
  const hash = createHash('sha256').update(canonicalJson(checked)).digest('hex').slice(0, 32);
  return token === 0 ? hash : `${hash}.${token}`;
}

/** Whether two keys differ in the access token at most, which is renewed all the time. */
export function isSameButToken(key: string, other: string): boolean {
  return key.split('.')[0] === other.split('.')[0];
}
