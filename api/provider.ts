/** The OAuth 2.0 endpoints of a credential of kind oauth2: those of its preset, or its own. Pure. */
import type { CredentialSpec } from './credential.ts';

type OAuth2Spec = NonNullable<CredentialSpec['oauth2']>;
export type Preset = NonNullable<OAuth2Spec['preset']>;

export type Provider = {
  /** The authorization endpoint. */
  authorizationURL: string;
  /** The token endpoint. */
  tokenURL: string;
  /** The revocation endpoint, called when the credential is deleted; undefined: the access is not revoked. */
  revocationURL?: string;
  /** The userinfo endpoint; undefined: only the ID token names the account. */
  userinfoURL: string | undefined;
  /** The expected issuer (RFC 9207, and `iss` of ID tokens); undefined: unknown. */
  issuer: string | undefined;
  /** Whether an answer without an issuer is refused. */
  mustNameIssuer: boolean;
  /** Parameters of the authorization request that make the provider issue a refresh token. */
  parameters: Readonly<Record<string, string>>;
  /** Scopes that are always requested, to identify the account and to refresh tokens. */
  scopes: readonly string[];
  /** How the client authenticates at the token endpoint (RFC 6749, section 2.3.1). */
  clientAuthentication: 'Basic' | 'Post';
};

const PRESETS: Record<Exclude<Preset, 'custom'>, Provider> = {
  // https://developers.google.com/identity/protocols/oauth2/web-server: without `prompt`, connecting again
  // yields no refresh token. Nothing is revoked: a revocation would end all grants of the account to the
  // client, also those of other credentials.
  google: {
    authorizationURL: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenURL: 'https://oauth2.googleapis.com/token',
    userinfoURL: 'https://openidconnect.googleapis.com/v1/userinfo',
    issuer: 'https://accounts.google.com',
    mustNameIssuer: false,
    parameters: { access_type: 'offline', prompt: 'consent' },
    scopes: ['openid', 'email'],
    clientAuthentication: 'Post',
  },
  // https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow: the issuer contains the ID
  // of the tenant, which is not known in advance.
  microsoft: {
    authorizationURL: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenURL: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    userinfoURL: 'https://graph.microsoft.com/oidc/userinfo',
    issuer: undefined,
    mustNameIssuer: false,
    parameters: { prompt: 'select_account' },
    scopes: ['openid', 'email', 'offline_access'],
    clientAuthentication: 'Post',
  },
};

/** The endpoints of the preset. The credential's own endpoints apply only to preset custom. */
export function providerOf(spec: OAuth2Spec): Provider {
  const { preset = 'custom' } = spec;
  if (preset !== 'custom') return PRESETS[preset];
  const { authorizationURL = '', tokenURL = '', userinfoURL, revocationURL, issuer } = spec;
  return {
    authorizationURL,
    tokenURL,
    userinfoURL,
    ...(revocationURL !== undefined && { revocationURL }),
    issuer,
    mustNameIssuer: issuer !== undefined,
    // OpenID Connect Core, section 11: without it a request for offline access is ignored.
    parameters: (spec.scopes ?? []).includes('offline_access') ? { prompt: 'consent' } : {},
    scopes: [],
    clientAuthentication: spec.clientAuthentication ?? 'Basic',
  };
}

/**
 * Identifies the client and every endpoint that receives a token. A token is only used with the connection
 * that it was issued for, so that nobody obtains it by changing hosts of the credential. `allowedHosts` is
 * not part of it: users who may read the token can add hosts without connecting again.
 */
export function connectionOf(spec: OAuth2Spec): string {
  const { authorizationURL, tokenURL, userinfoURL, revocationURL, issuer } = providerOf(spec);
  const places = placesOf(spec);
  const names = [authorizationURL, tokenURL, userinfoURL ?? '', issuer ?? '', spec.clientID];
  // Appended only if present, so that grants from before these members existed keep their connection.
  const further = [revocationURL, Object.keys(places).length === 0 ? undefined : places];
  return JSON.stringify([...names, ...further.filter((each) => each !== undefined)]);
}

/** Fields that do not change where a token is sent, and fields that `names` covers already. */
const APART: ReadonlySet<string> = new Set<keyof OAuth2Spec>([
  'preset',
  'authorizationURL',
  'tokenURL',
  'userinfoURL',
  'revocationURL',
  'issuer',
  'clientID',
  'clientSecretRef',
  'clientAuthentication',
  'scopes',
  'allowedHosts',
]);
const APART_OF_IMAP: ReadonlySet<string> = new Set(['username']);

/** All other fields of the spec, so that a field that is added later is part of the connection by default. */
function placesOf(spec: OAuth2Spec): object {
  const { imap = {}, ...others } = spec;
  const server = without(imap, APART_OF_IMAP);
  return without({ ...others, ...(Object.keys(server).length > 0 && { imap: server }) }, APART);
}

/** The other members, sorted by name. */
function without(members: object, names: ReadonlySet<string>): object {
  const kept = Object.entries(members).filter(([name, value]) => !names.has(name) && value !== undefined);
  return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The URL that names the account to every token; undefined if there is none. Microsoft issues tokens for one
 * service each, and names the account to those of one service only.
 */
export function userinfoOf(account: OAuth2Spec): string | undefined {
  return account.preset === 'microsoft' ? undefined : providerOf(account).userinfoURL;
}
