/** Where the access tokens of a project lie, and what of a credential's secrets those who execute workflows may read. */
import { secretRefs, type CredentialSpec } from './credential.ts';
import type { SecretKeyRef } from './value.ts';

/** The Secret of a project that holds the access tokens of its oauth2 credentials, each under the name of its credential. */
export const TOKENS = 'windlass-tokens';

/** Where the access token of the credential of that name lies. */
export function tokenRef(credential: string): SecretKeyRef {
  return { name: TOKENS, key: credential };
}

const LONGEST_KEY = 253;
const CONNECTION = '_connection';

/**
 * The key beside it that names the connection which the token was given for. No credential has an underscore in its name. Of names that
 * leave no room the end is cut; two that begin alike then take the token from each other.
 */
export function connectionKey(credential: string): string {
  return credential.slice(0, LONGEST_KEY - CONNECTION.length) + CONNECTION;
}

/** The Secret keys that runners read of a credential: of an oauth2 credential its access token alone, never the client's secret. */
export function runnerRefs(name: string, spec: CredentialSpec): SecretKeyRef[] {
  return spec.oauth2 ? [tokenRef(name)] : secretRefs(spec);
}
