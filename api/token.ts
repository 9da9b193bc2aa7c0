/** The Secret of a project's access tokens, and the Secret keys of a credential that runners may read. */
import { secretRefs, type CredentialSpec } from './credential.ts';
import type { SecretKeyRef } from './value.ts';

/**
 * The Secret of a project that holds the access tokens of its oauth2 credentials, each under the name of its
 * credential.
 */
export const TOKENS = 'windlass-tokens';

/** The Secret key of the access token of a credential. */
export function tokenRef(credential: string): SecretKeyRef {
  return { name: TOKENS, key: credential };
}

const LONGEST_KEY = 253;
const CONNECTION = '_connection';

/**
 * The key that holds the connection of the token (`connectionOf`). Names of credentials have no underscore,
 * so the keys do not collide. Names of more than 242 characters are cut: two with the same beginning then
 * invalidate each other's token.
 */
export function connectionKey(credential: string): string {
  return credential.slice(0, LONGEST_KEY - CONNECTION.length) + CONNECTION;
}

/**
 * The Secret keys of a credential that runners read: for oauth2 only the access token, never the client
 * secret.
 */
export function runnerRefs(name: string, spec: CredentialSpec): SecretKeyRef[] {
  return spec.oauth2 ? [tokenRef(name)] : secretRefs(spec);
}
