/** Whose endpoints a credential of kind oauth2 uses: those of a preset, or those that it names. Pure. */
import type { CredentialSpec } from './credential.ts';

type OAuth2Spec = NonNullable<CredentialSpec['oauth2']>;
export type Preset = NonNullable<OAuth2Spec['preset']>;

export type Provider = {
  /** Where a person allows the access. */
  authorizationURL: string;
  /** Where tokens are issued. */
  tokenURL: string;
  /** Where the access is taken back when the credential is deleted; undefined: nowhere. */
  revocationURL?: string;
  /** Where the account is named; undefined: it is known from the ID token, or not at all. */
  userinfoURL: string | undefined;
  /** Who must have answered (RFC 9207, and `iss` of ID tokens); undefined: not known. */
  issuer: string | undefined;
  /** Whether an answer that names no issuer is refused. */
  mustNameIssuer: boolean;
  /** What the provider wants to be asked with, so that it gives a refresh token. */
  parameters: Readonly<Record<string, string>>;
  /** What is always asked for, so that the account is known and the access can be renewed. */
  scopes: readonly string[];
  /** How the client shows who it is where tokens are issued (RFC 6749, section 2.3.1). */
  clientAuthentication: 'Basic' | 'Post';
};

const PRESETS: Record<Exclude<Preset, 'custom'>, Provider> = {
  // https://developers.google.com/identity/protocols/oauth2/web-server: without `prompt` a second connecting brings no refresh token.
  // Nothing is taken back: that would end all that the account has granted to the client, to other credentials, too.
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
  // https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow: the issuer has the tenant's id, which nobody knows before.
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

/** The endpoints of the preset; what the credential names itself counts for custom alone. */
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
 * Names the client and every place that a token is shown to. A token belongs to what it was given for: where the name is another one, it is
 * not used any more, so that nobody gets it by naming hosts of their own. `allowedHosts` is not part of it: hosts can be added without
 * connecting again, by whoever may read the token.
 */
export function connectionOf(spec: OAuth2Spec): string {
  const { authorizationURL, tokenURL, userinfoURL, revocationURL, issuer } = providerOf(spec);
  const places = placesOf(spec);
  const names = [authorizationURL, tokenURL, userinfoURL ?? '', issuer ?? '', spec.clientID];
  // At the end and only where they are there: what was granted before there were such members is still for the same.
  const further = [revocationURL, Object.keys(places).length === 0 ? undefined : places];
  return JSON.stringify([...names, ...further.filter((each) => each !== undefined)]);
}

/** Fields that lead a token nowhere else, and those that the endpoints and the client stand for. */
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

/** All else that the spec says, so that a field which is added later counts by itself. */
function placesOf(spec: OAuth2Spec): object {
  const { imap = {}, ...others } = spec;
  const server = without(imap, APART_OF_IMAP);
  return without({ ...others, ...(Object.keys(server).length > 0 && { imap: server }) }, APART);
}

/** The members by their names in order. */
function without(members: object, names: ReadonlySet<string>): object {
  const kept = Object.entries(members).filter(([name, value]) => !names.has(name) && value !== undefined);
  return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
