/**
 * The login that a credential of kind http or oauth2 adds to a request, and the secrets to mask afterwards.
 * Secrets are sent only to the scheme, host and port of the step's URL, and only if `allowedHosts` contains
 * it.
 */
import { admitsURL, allowedHostsOf, hostEntryFor } from '../../../api/hosts.ts';
import { credentialKind } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import type { SecretKeyRef } from '../../../api/value.ts';
import { isHeaderName, isHeaderValue, RESERVED_HEADERS } from '../../../api/headers.ts';
import { accessToken, partOf, type CredentialAccess } from '../../contract/node.ts';
import { echoesOf, Secret, type Mask } from '../../contract/secret.ts';
import type { Login } from '../../http/request.ts';

export type Authority = {
  login: Login;
  /** What is masked in everything that comes back: the secrets, and the forms in which others repeat them. */
  secrets: readonly Mask[];
};

/**
 * What the credential adds to a request for that URL.
 * @throws StepError `InvalidParameters` when the credential is of another kind, does not admit the URL's
 * host, or cannot be sent
 */
export function authorityFor(credential: CredentialAccess, url: URL): Authority {
  if (credential.spec.oauth2) {
    refuseOtherHosts(credential, url);
    return bearerAuthority(credential, accessToken(credential));
  }
  const { basic, bearer, header, query } = partOf(credential, 'http');
  refuseOtherHosts(credential, url);
  if (query) return authority('query', query.name, [secretOf(credential, query.valueRef)]);
  if (header) {
    const problem = headerNameProblem(header.name);
    if (problem !== undefined) throw refused(credential, `names a header that ${problem}`);
    const value = sendable(credential, secretOf(credential, header.valueRef));
    return authority('headers', header.name.toLowerCase(), [value]);
  }
  if (bearer) return bearerAuthority(credential, secretOf(credential, bearer.tokenRef));
  if (basic) return basicAuthority(credential, basic);
  throw refused(credential, 'has no login: set basic, bearer, header or query');
}

function refuseOtherHosts(credential: CredentialAccess, url: URL): void {
  const allowed = allowedHostsOf(credential.spec);
  if (admitsURL(allowed, url)) return;
  const field = `spec.${credentialKind(credential.spec)}.allowedHosts`;
  const problem = allowed.length === 0 ? 'has no allowed hosts' : 'may not be sent to this host';
  throw refused(credential, `${problem}: to allow it, add "${hostEntryFor(url)}" to its ${field}`);
}

/** RFC 6750, section 2.1. */
function bearerAuthority(credential: CredentialAccess, secret: Secret): Authority {
  const token = sendable(credential, secret);
  return authority('headers', 'authorization', [new Secret(`Bearer ${token.reveal()}`), token]);
}

/** RFC 7617: user and password with a colon between, so that none may be in the user's name. */
function basicAuthority(
  credential: CredentialAccess,
  { username, passwordRef }: { username: string; passwordRef: SecretKeyRef },
): Authority {
  if (username.includes(':'))
    throw refused(credential, 'has a user name with a colon, which Basic does not allow');
  const password = secretOf(credential, passwordRef);
  const pair = new Secret(Buffer.from(`${username}:${password.reveal()}`, 'utf8').toString('base64'));
  return authority('headers', 'authorization', [new Secret(`Basic ${pair.reveal()}`), pair, password]);
}

function authority(to: 'headers' | 'query', name: string, secrets: [value: Secret, ...Secret[]]): Authority {
  return { login: { to, name, value: secrets[0] }, secrets: secrets.flatMap(echoesOf) };
}

/** Files and `echo` end with a line break that nobody meant. */
function secretOf(credential: CredentialAccess, ref: SecretKeyRef): Secret {
  return new Secret(
    credential
      .secret(ref)
      .reveal()
      .replace(/[\r\n]+$/, ''),
  );
}

function sendable(credential: CredentialAccess, secret: Secret): Secret {
  if (isHeaderValue(secret.reveal())) return secret;
  throw refused(credential, 'has a secret with characters that HTTP headers cannot hold');
}

function refused({ name }: CredentialAccess, problem: string): StepError {
  return new StepError('InvalidParameters', `credential ${name} ${problem}`);
}

/** Why a header of that name cannot be sent; undefined when it can. */
export function headerNameProblem(name: string): string | undefined {
  if (!isHeaderName(name)) return 'is not a valid HTTP header name: use letters, digits and -';
  if (RESERVED_HEADERS.has(name.toLowerCase())) return 'is set by the connection: remove it';
  return undefined;
}
