/**
 * Requests to OAuth providers: tokens for a code or a refresh token, revocation, and the name of the account.
 * Authors choose the addresses of custom providers: connections are limited to where steps may connect to,
 * and responses in size and time. Messages contain nothing of a response except error codes that standards
 * define.
 */
import * as oauth from 'oauth4webapi';
import type { CredentialSpec } from '../../api/credential.ts';
import { providerOf } from '../../api/provider.ts';
import { StepError } from '../../api/reasons.ts';
import { fetchThrough } from '../../nodes/egress/connect.ts';
import type { Egress } from '../../nodes/egress/egress.ts';

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 65_536;
/** Secrets and headers have limits. */
const LONGEST_TOKEN = 16_384;
const LONGEST_ACCOUNT = 256;
/** Later expirations are cut: dates have limits. */
const LONGEST_MS = 10 * 365 * 24 * 3_600_000;
const NOBODY = 'https://unknown.invalid';

/** Error codes that messages may contain (RFC 6749, section 5.2; OpenID Connect Core, section 3.1.2.6). */
const SHOWN: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
  'interaction_required',
  'login_required',
  'consent_required',
]);

/** The result of a token request. `expiresInMs` and `scopes` are left out if the provider omits them. */
export type Issued =
  | {
      outcome: 'issued';
      accessToken: string;
      refreshToken?: string;
      expiresInMs?: number;
      scopes?: string[];
      /** The name of the account that people know. */
      account?: string;
      /** The provider's ID of the account. */
      subject?: string;
    }
  /** The provider returned an error. `isFinal`: the code or refresh token is no longer valid. */
  | { outcome: 'refused'; isFinal: boolean; message: string }
  /** It did not respond, or not as the standard defines. */
  | { outcome: 'failed'; message: string };

type OAuth2Spec = NonNullable<CredentialSpec['oauth2']>;
export type Asking = { spec: OAuth2Spec; clientSecret: string | undefined; egress: Egress };

/** The parameters that the browser returned, with the verifier that the provider compares (RFC 7636). */
export type AuthorizationResponse = {
  code: string;
  state: string;
  verifier: string;
  redirectURI: string;
  answeredBy?: string;
};

/** Exchanges a code (RFC 6749, section 4.1.3). */
export function exchangeCode(asking: Asking, returned: AuthorizationResponse): Promise<Issued> {
  return issued(asking, async () => {
    const { as, client, authentication, options } = partiesOf(asking);
    const { state, code, answeredBy } = returned;
    const parameters = new URLSearchParams({ state, code });
    if (answeredBy !== undefined) parameters.set('iss', answeredBy);
    const checked = oauth.validateAuthResponse(as, client, parameters, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([as, client, authentication, checked, returned.redirectURI, returned.verifier, options] as const),
    );
    return oauth.processAuthorizationCodeResponse(as, client, response);
  });
}

/**
 * Renews a token (RFC 6749, section 6). An ID token is ignored: an invalid one must not lose a rotated
 * refresh token.
 */
export function refresh(asking: Asking, refreshToken: string): Promise<Issued> {
  return issued(asking, async () => {
    const { as, client, authentication, options } = partiesOf(asking, { withIdToken: false });
    const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, options);
    return oauth.processRefreshTokenResponse(as, client, response);
  });
}

/**
 * Revokes a grant (RFC 7009). Undefined if done, or if the provider has no such endpoint; else why not, as a
 * part of a sentence.
 */
export async function revoke(asking: Asking, token: string): Promise<string | undefined> {
  const { revocationURL } = providerOf(asking.spec);
  if (revocationURL === undefined) return undefined;
  if (!URL.canParse(revocationURL)) return 'revocationURL is not a URL';
  try {
    const { as, client, authentication, options } = partiesOf(asking);
    const response = await oauth.revocationRequest(as, client, authentication, token, options);
    await oauth.processRevocationResponse(response);
    return undefined;
  } catch (error) {
    const failure = failureOf(error, new URL(revocationURL).host);
    return 'message' in failure ? failure.message : undefined;
  }
}

/** The name of the account at the provider; undefined if unknown. */
export async function accountOf(asking: Asking, accessToken: string): Promise<string | undefined> {
  const { as, client, options } = partiesOf(asking);
  if (as.userinfo_endpoint === undefined) return undefined;
  try {
    const response = await oauth.userInfoRequest(as, client, accessToken, options);
    const claims = await oauth.processUserInfoResponse(as, client, oauth.skipSubjectCheck, response);
    return nameIn(claims) ?? shown(claims.sub);
  } catch {
    // Not every provider returns it for every token; it is optional.
    return undefined;
  }
}

type Parties = {
  as: oauth.AuthorizationServer;
  client: oauth.Client;
  authentication: oauth.ClientAuth;
  options: ReturnType<typeof requestOptions>;
};

/** An ID token can be validated only if its issuer is known. */
function partiesOf(
  { spec, clientSecret, egress }: Asking,
  { withIdToken = providerOf(spec).issuer !== undefined } = {},
): Parties {
  const provider = providerOf(spec);
  const as: oauth.AuthorizationServer = {
    issuer: provider.issuer ?? NOBODY,
    token_endpoint: provider.tokenURL,
    authorization_response_iss_parameter_supported: provider.mustNameIssuer,
    ...(provider.userinfoURL !== undefined && { userinfo_endpoint: provider.userinfoURL }),
    ...(provider.revocationURL !== undefined && { revocation_endpoint: provider.revocationURL }),
  };
  return {
    as,
    client: { client_id: spec.clientID },
    authentication: authenticationOf(provider.clientAuthentication, clientSecret),
    options: requestOptions(egress, withIdToken),
  };
}

function requestOptions(egress: Egress, withIdToken: boolean) {
  return {
    [oauth.customFetch]: boundedFetch(egress, withIdToken),
    // An address without TLS, for a provider in the cluster, is intended.
    [oauth.allowInsecureRequests]: true,
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
  };
}

function authenticationOf(how: 'Basic' | 'Post', clientSecret: string | undefined): oauth.ClientAuth {
  if (clientSecret === undefined) return oauth.None();
  return how === 'Basic' ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret);
}

type Fetch = (url: string, init: object) => Promise<Response>;

/** Reads the whole response, up to a limit. */
function boundedFetch(egress: Egress, withIdToken: boolean): Fetch {
  return async (url, init) => {
    const response = await fetchThrough(egress)(url, init);
    const text = withoutNulls((await bodyOf(response)).toString('utf8'), withIdToken);
    const { status, headers } = response;
    const isEmpty = status === 204 || status === 205 || status === 304;
    return new Response(isEmpty ? null : text, { status, headers: [...headers] });
  };
}

async function bodyOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new StepError('InvalidAnswer', 'the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Removes members that are null, which some providers send instead of omitting them, and the ID token unless
 * it is used.
 */
function withoutNulls(text: string, withIdToken: boolean): string {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return text;
    const members = Object.entries(answer).filter(
      ([name, value]) => value !== null && (withIdToken || name !== 'id_token'),
    );
    return JSON.stringify(Object.fromEntries(members));
  } catch {
    return text;
  }
}

async function issued(asking: Asking, ask: () => Promise<oauth.TokenEndpointResponse>): Promise<Issued> {
  const { tokenURL } = providerOf(asking.spec);
  if (!URL.canParse(tokenURL)) return { outcome: 'failed', message: 'tokenURL is not a URL: correct it' };
  try {
    return issuedOf(await ask());
  } catch (error) {
    return failureOf(error, new URL(tokenURL).host);
  }
}

function issuedOf(answer: oauth.TokenEndpointResponse): Issued {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = answer;
  if (accessToken.length > LONGEST_TOKEN || (refreshToken?.length ?? 0) > LONGEST_TOKEN)
    return { outcome: 'failed', message: 'the provider issued a token that is too long' };
  if (answer.token_type !== 'bearer')
    return { outcome: 'failed', message: 'the provider issued a token that is not a Bearer token' };
  const claims = oauth.getValidatedIdTokenClaims(answer);
  const account = claims && nameIn(claims);
  const subject = shown(claims?.sub);
  return {
    outcome: 'issued',
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(seconds !== undefined && { expiresInMs: Math.min(seconds * 1_000, LONGEST_MS) }),
    ...(scope !== undefined && { scopes: scope.split(' ').filter((each) => each !== '') }),
    ...(account !== undefined && { account }),
    ...(subject !== undefined && { subject }),
  };
}

/** Only `invalid_grant` means that the code or refresh token is invalid (RFC 6749, section 5.2). */
function failureOf(error: unknown, host: string): Issued {
  if (error instanceof oauth.ResponseBodyError) {
    const code = SHOWN.has(error.error) ? error.error : 'an error of its own';
    if (error.status === 429) return { outcome: 'failed', message: `${host} asks to wait` };
    const isFinal = error.error === 'invalid_grant';
    return { outcome: 'refused', isFinal, message: `${host} refused: ${code}` };
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return { outcome: 'refused', isFinal: false, message: `${host} refused: invalid_client` };
  if (error instanceof oauth.AuthorizationResponseError)
    return { outcome: 'refused', isFinal: true, message: `${host} refused` };
  return { outcome: 'failed', message: `${host}: ${whyOf(error)}` };
}

function whyOf(error: unknown): string {
  const causes = [error, (error as { cause?: unknown }).cause];
  const known = causes.find((each) => each instanceof StepError);
  if (known instanceof StepError) return known.message;
  if (causes.some((each) => each instanceof Error && each.name === 'TimeoutError'))
    return `no response within ${TIMEOUT_MS / 1_000} s`;
  if (error instanceof oauth.OperationProcessingError) return 'its response is not that of a token endpoint';
  return 'it cannot be reached, or closed the connection';
}

function nameIn(claims: Readonly<Record<string, unknown>>): string | undefined {
  return shown(claims['email']) ?? shown(claims['preferred_username']);
}

function shown(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  const text = name.replaceAll(/\p{C}/gu, '').slice(0, LONGEST_ACCOUNT);
  return text === '' ? undefined : text;
}
