/**
 * What the operator asks a provider: tokens for a code, new tokens for a refresh token, whose account it is. Of a custom provider
 * the addresses are a tenant's choice: every connection goes where steps may connect to, and what comes back is bounded in
 * size and time. Messages hold nothing of an answer but error codes that standards define.
 */
import * as oauth from 'oauth4webapi';
import type { CredentialSpec } from '../../api/credential.ts';
import { providerOf } from '../../api/provider.ts';
import { StepError } from '../../api/reasons.ts';
import { fetchThrough } from '../../nodes/egress/connect.ts';
import type { Egress } from '../../nodes/egress/egress.ts';

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 65_536;
/** Secrets have their bounds, and so has what a header can hold. */
const LONGEST_TOKEN = 16_384;
const LONGEST_ACCOUNT = 256;
/** Whatever ends later is as good as without an end, and dates have their bounds. */
const LONGEST_MS = 10 * 365 * 24 * 3_600_000;
const NOBODY = 'https://unknown.invalid';

/** Error codes that may be shown (RFC 6749, section 5.2; OpenID Connect Core, section 3.1.2.6). */
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

/** What came of asking for tokens. `expiresInMs` and `scopes` are left out where the provider does not say them. */
export type Issued =
  | {
      outcome: 'issued';
      accessToken: string;
      refreshToken?: string;
      expiresInMs?: number;
      scopes?: string[];
      /** A name of the account that people know. */
      account?: string;
      /** What the provider calls it. */
      subject?: string;
    }
  /** The provider answered with an error. `isFinal`: what was shown to it is good for nothing any more. */
  | { outcome: 'refused'; isFinal: boolean; message: string }
  /** It did not answer, or not as it should. */
  | { outcome: 'failed'; message: string };

type OAuth2Spec = NonNullable<CredentialSpec['oauth2']>;
export type Asking = { spec: OAuth2Spec; clientSecret: string | undefined; egress: Egress };

/** What the browser brought, with the verifier that the provider compares (RFC 7636). */
export type Brought = {
  code: string;
  state: string;
  verifier: string;
  redirectURI: string;
  answeredBy?: string;
};

/** Exchanges a code (RFC 6749, section 4.1.3). */
export function exchangeCode(asking: Asking, brought: Brought): Promise<Issued> {
  return issued(asking, async () => {
    const { as, client, authentication, options } = partiesOf(asking);
    const { state, code, answeredBy } = brought;
    const parameters = new URLSearchParams({ state, code });
    if (answeredBy !== undefined) parameters.set('iss', answeredBy);
    const checked = oauth.validateAuthResponse(as, client, parameters, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([as, client, authentication, checked, brought.redirectURI, brought.verifier, options] as const),
    );
    return oauth.processAuthorizationCodeResponse(as, client, response);
  });
}

/** Renews a token (RFC 6749, section 6). Of an ID token nothing is wanted then, and one that is wrong must not cost a rotated token. */
export function refresh(asking: Asking, refreshToken: string): Promise<Issued> {
  return issued(asking, async () => {
    const { as, client, authentication, options } = partiesOf(asking, { withIdToken: false });
    const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, options);
    return oauth.processRefreshTokenResponse(as, client, response);
  });
}

/** Takes back what was granted (RFC 7009). Undefined: done, or there is nowhere to ask; else why it was not, as a part of a sentence. */
export async function revoke(asking: Asking, token: string): Promise<string | undefined> {
  const { revocationURL } = providerOf(asking.spec);
  if (revocationURL === undefined) return undefined;
  if (!URL.canParse(revocationURL)) return 'revocationURL is no URL';
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

/** Whose account it is, as the provider names it; undefined if it does not. */
export async function accountOf(asking: Asking, accessToken: string): Promise<string | undefined> {
  const { as, client, options } = partiesOf(asking);
  if (as.userinfo_endpoint === undefined) return undefined;
  try {
    const response = await oauth.userInfoRequest(as, client, accessToken, options);
    const claims = await oauth.processUserInfoResponse(as, client, oauth.skipSubjectCheck, response);
    return nameIn(claims) ?? shown(claims.sub);
  } catch {
    // Not every provider gives it to every token; nothing depends on it.
    return undefined;
  }
}

type Parties = {
  as: oauth.AuthorizationServer;
  client: oauth.Client;
  authentication: oauth.ClientAuth;
  options: ReturnType<typeof requestOptions>;
};

/** An ID token can be judged only where it is known who issues it. */
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
    // Whoever names an address without TLS, for a provider in the cluster, means it.
    [oauth.allowInsecureRequests]: true,
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
  };
}

function authenticationOf(how: 'Basic' | 'Post', clientSecret: string | undefined): oauth.ClientAuth {
  if (clientSecret === undefined) return oauth.None();
  return how === 'Basic' ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret);
}

type Fetch = (url: string, init: object) => Promise<Response>;

/** Reads the whole answer, up to a bound. */
function boundedFetch(egress: Egress, withIdToken: boolean): Fetch {
  return async (url, init) => {
    const response = await fetchThrough(egress)(url, init);
    const text = tidied((await bodyOf(response)).toString('utf8'), withIdToken);
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
    if (length > MOST_BYTES) throw new StepError('InvalidAnswer', 'the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Without the members that are null, by which some providers mean that they are not there; without the ID token, where it does not count. */
function tidied(text: string, withIdToken: boolean): string {
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
  if (!URL.canParse(tokenURL)) return { outcome: 'failed', message: 'tokenURL is no URL: correct it' };
  try {
    return issuedOf(await ask());
  } catch (error) {
    return failureOf(error, new URL(tokenURL).host);
  }
}

function issuedOf(answer: oauth.TokenEndpointResponse): Issued {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = answer;
  if (accessToken.length > LONGEST_TOKEN || (refreshToken?.length ?? 0) > LONGEST_TOKEN)
    return { outcome: 'failed', message: 'the provider gave a token that is too long' };
  if (answer.token_type !== 'bearer')
    return { outcome: 'failed', message: 'the provider gave a token that is no Bearer token' };
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

/** `invalid_grant` is the one error that says of what was shown that it is worth nothing (RFC 6749, section 5.2). */
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
    return `no answer within ${TIMEOUT_MS / 1_000} s`;
  if (error instanceof oauth.OperationProcessingError) return 'its answer is not one of a token endpoint';
  return 'it cannot be reached, or broke off';
}

function nameIn(claims: Readonly<Record<string, unknown>>): string | undefined {
  return shown(claims['email']) ?? shown(claims['preferred_username']);
}

function shown(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  const text = name.replaceAll(/\p{C}/gu, '').slice(0, LONGEST_ACCOUNT);
  return text === '' ? undefined : text;
}
