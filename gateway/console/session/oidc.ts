/**
 * The client of the OpenID Connect provider that the cluster trusts. Codes are exchanged with PKCE (RFC
 * 7636), state and nonce. The API server decides whether an ID token is valid.
 */
import * as oauth from 'oauth4webapi';
import type { Clock } from '../../../kube/clock.ts';
import type { OidcSettings } from '../../endpoint/deps.ts';

const TIMEOUT_MS = 10_000;
/** How long the provider's metadata is cached. */
const KNOWN_MS = 600_000;

/** What one browser's sign-in is verified with. */
type Begun = { state: string; nonce: string; verifier: string; redirectURI: string };

export type Issued = { idToken: string; refreshToken?: string };

export type Provider = {
  /** The URL of the provider's sign-in page. Throws if the provider's answer is invalid. */
  begin: (redirectURI: string) => Promise<{ begun: Begun; url: string }>;
  /**
   * Exchanges the code in the provider's answer for tokens. Throws if the answer or the tokens are invalid.
   */
  exchange: (begun: Begun, answer: URLSearchParams) => Promise<Issued>;
  /** A new ID token. Throws as `exchange`. */
  renew: (refreshToken: string) => Promise<Issued>;
  /** Revokes a refresh token, if the provider supports it. Throws if that fails. */
  revoke: (refreshToken: string) => Promise<void>;
};

export function createProvider(settings: OidcSettings, clock: Clock): Provider {
  const client: oauth.Client = { client_id: settings.clientID };
  const issuer = new URL(settings.issuer);
  let known: { server: oauth.AuthorizationServer; until: number } | undefined;
  let asking: Promise<oauth.AuthorizationServer> | undefined;

  /** Plain HTTP only if the issuer URL uses it, as in tests. */
  const options = () => ({
    signal: AbortSignal.timeout(TIMEOUT_MS),
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
  });

  async function discover(): Promise<oauth.AuthorizationServer> {
    const response = await oauth.discoveryRequest(issuer, options());
    const found = await oauth.processDiscoveryResponse(issuer, response);
    known = { server: found, until: clock.now() + KNOWN_MS };
    return found;
  }

  async function server(): Promise<oauth.AuthorizationServer> {
    if (known !== undefined && known.until > clock.now()) return known.server;
    // Anybody may start a sign-in: all share one request.
    asking ??= discover().finally(() => (asking = undefined));
    return asking;
  }

  function authentication({
    token_endpoint_auth_methods_supported: methods,
  }: oauth.AuthorizationServer): oauth.ClientAuth {
    const { clientSecret } = settings;
    if (clientSecret === undefined) return oauth.None();
    const isPost = methods?.includes('client_secret_basic') === false;
    return isPost ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
  }

  return {
    begin: async (redirectURI) => {
      const { authorization_endpoint: endpoint } = await server();
      if (endpoint === undefined) throw new Error('the provider has no authorization endpoint');
      const [state, nonce, verifier] = [
        oauth.generateRandomState(),
        oauth.generateRandomNonce(),
        oauth.generateRandomCodeVerifier(),
      ];
      const url = new URL(endpoint);
      const parameters = {
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: redirectURI,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        // Providers issue refresh tokens only after consent (OpenID Connect Core, section 11).
        ...(settings.scopes.includes('offline_access') && { prompt: 'consent' }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { begun: { state, nonce, verifier, redirectURI }, url: url.href };
    },
    exchange: async ({ state, nonce, verifier, redirectURI }, answer) => {
      const as = await server();
      const checked = oauth.validateAuthResponse(as, client, answer, state);
      const response = await oauth.authorizationCodeGrantRequest(
        ...([as, client, authentication(as), checked, redirectURI, verifier, options()] as const),
      );
      const expected = { expectedNonce: nonce, requireIdToken: true };
      return issuedIn(await oauth.processAuthorizationCodeResponse(as, client, response, expected));
    },
    renew: async (refreshToken) => {
      const as = await server();
      const response = await oauth.refreshTokenGrantRequest(
        ...([as, client, authentication(as), refreshToken, options()] as const),
      );
      const issued = issuedIn(await oauth.processRefreshTokenResponse(as, client, response));
      // Without a new refresh token the old one stays valid (RFC 6749, section 6).
      return { refreshToken, ...issued };
    },
    revoke: async (refreshToken) => {
      const as = await server();
      if (as.revocation_endpoint === undefined) return;
      const additionalParameters = { token_type_hint: 'refresh_token' };
      const response = await oauth.revocationRequest(
        ...([as, client, authentication(as), refreshToken, { ...options(), additionalParameters }] as const),
      );
      await oauth.processRevocationResponse(response);
    },
  };
}

function issuedIn({ id_token: idToken, refresh_token: refreshToken }: oauth.TokenEndpointResponse): Issued {
  if (idToken === undefined) throw new Error('the provider returned no ID token');
  return { idToken, ...(refreshToken !== undefined && { refreshToken }) };
}
