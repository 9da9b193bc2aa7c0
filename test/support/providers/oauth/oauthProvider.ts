/** A real OAuth 2.0 and OpenID Connect provider with one client. Anybody can sign in, with any name. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Provider, type KoaContextWithOIDC } from 'oidc-provider';

export type OAuthProvider = {
  issuer: string;
  /** The endpoints, as the spec of a credential names them. */
  endpoints: { authorizationURL: string; tokenURL: string; userinfoURL: string; issuer: string };
  /** Requests to the token endpoint that brought tokens, by the kind of grant. */
  granted: (kind: 'authorization_code' | 'refresh_token') => number;
  /** How often each refresh token was shown, also where it was refused. */
  shown: Map<string, number>;
  /** How many tokens its client took back. */
  revoked: () => number;
  /** What the token endpoint does: as it should, or it breaks off. */
  state: { away: boolean };
  /** A refresh token of a person who has allowed everything, as if that had been a while ago. */
  issueRefreshToken: (account: string) => Promise<string>;
  /** Whether the refresh token is good for anything. */
  isGood: (refreshToken: string) => Promise<boolean>;
  /** Whether the access token is good for anything. */
  admits: (accessToken: string) => Promise<boolean>;
  /** Takes back what such a person has allowed. */
  takeBack: (account: string) => Promise<void>;
  /** Takes back an access token; it can be renewed. */
  takeTokenBack: (accessToken: string) => Promise<void>;
  /** How often somebody with an access token of the account has asked whose it is. */
  named: (account: string) => number;
  close: () => Promise<void>;
};

export const CLIENT = { id: 'windlass', secret: 'the secret of the client' };
const SCOPE = 'openid email offline_access';

export type OAuthProviderOptions = {
  redirectURI: string;
  /** How long access tokens are good; default an hour. */
  accessTokenSeconds?: number;
  /** How long ID tokens are good; default an hour. */
  idTokenSeconds?: number;
  /** What its one client is called; default `windlass`. */
  clientID?: string;
  /** With these it answers by https. */
  tls?: { key: string; cert: string };
  /** Where it answers, and what it calls itself; default: a free port of 127.0.0.1. */
  at?: { host: string; port: number; issuer: string };
};

export async function startOAuthProvider(options: OAuthProviderOptions): Promise<OAuthProvider> {
  const { at, tls } = options;
  const server = tls === undefined ? createServer() : createSecureServer(tls);
  server.listen(at?.port ?? 0, at?.host ?? '127.0.0.1');
  await once(server, 'listening');
  const issuer =
    at?.issuer ?? `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = createProvider(issuer, options);
  const counts = new Map<string, number>();
  const shown = new Map<string, number>();
  const grants = new Map<string, string>();
  const named = new Map<string, number>();
  const state = { away: false };
  let revoked = 0;
  const paramsOf = ({ oidc }: KoaContextWithOIDC) => oidc.params ?? {};
  provider.on('grant.success', (context) => {
    const kind = String(paramsOf(context)['grant_type']);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  });
  const note = (context: KoaContextWithOIDC) => {
    const token = paramsOf(context)['refresh_token'];
    if (typeof token === 'string') shown.set(token, (shown.get(token) ?? 0) + 1);
  };
  provider.on('grant.success', note);
  provider.use(async (context: KoaContextWithOIDC, next: () => Promise<unknown>) => {
    await next();
    const { sub } = (context.body ?? {}) as { sub?: string };
    if (context.path === '/token/revocation' && context.status === 200) revoked += 1;
    if (context.path === '/me' && sub !== undefined) named.set(sub, (named.get(sub) ?? 0) + 1);
  });
  provider.on('grant.error', note);
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (state.away && request.url?.startsWith('/token') === true) request.socket.destroy();
    else void handle(request, response);
  });
  return {
    issuer,
    endpoints: {
      authorizationURL: `${issuer}/auth`,
      tokenURL: `${issuer}/token`,
      userinfoURL: `${issuer}/me`,
      issuer,
    },
    granted: (kind) => counts.get(kind) ?? 0,
    shown,
    revoked: () => revoked,
    state,
    issueRefreshToken: async (account) => {
      const { token, grantId } = await issueRefreshToken(provider, account);
      grants.set(account, grantId);
      return token;
    },
    isGood: async (refreshToken) => (await provider.RefreshToken.find(refreshToken)) !== undefined,
    admits: async (accessToken) => (await provider.AccessToken.find(accessToken)) !== undefined,
    takeTokenBack: async (accessToken) => (await provider.AccessToken.find(accessToken))?.destroy(),
    named: (account) => named.get(account) ?? 0,
    takeBack: (account) => provider.RefreshToken.revokeByGrantId(grants.get(account) ?? ''),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function createProvider(
  issuer: string,
  {
    redirectURI,
    accessTokenSeconds = 3_600,
    idTokenSeconds = 3_600,
    clientID = CLIENT.id,
  }: OAuthProviderOptions,
): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: clientID,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectURI],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    scopes: ['openid', 'email', 'offline_access'],
    claims: { email: ['email'], openid: ['sub'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com` }),
    }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    cookies: { keys: ['for tests alone'] },
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: idTokenSeconds,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
  });
}

async function issueRefreshToken(
  provider: Provider,
  account: string,
): Promise<{ token: string; grantId: string }> {
  const client = await provider.Client.find(CLIENT.id);
  if (!client) throw new Error('the provider has no client');
  const grant = new provider.Grant({ accountId: account, clientId: CLIENT.id });
  grant.addOIDCScope(SCOPE);
  const grantId = await grant.save();
  const token = new provider.RefreshToken({
    accountId: account,
    client,
    grantId,
    scope: SCOPE,
    gty: 'authorization_code',
  });
  return { token: await token.save(), grantId };
}
