/** Credentials in the state in which somebody had connected them a while ago, at a real provider. */
import { connectionOf } from '../../../api/provider.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { secrets } from '../../../kube/resource.ts';
import { credentials } from '../../../operator/shared/resources.ts';
import { hashOf } from '../../../store/oauth/states.ts';
import { CLIENT, type OAuthProvider } from '../providers/oauth/oauthProvider.ts';

export type Granted = { name: string; uid: string; refreshToken: string };

/** When the tokens were given and when they end, in milliseconds from now. */
export type Times = { obtainedMs: number; expiresMs: number };

/** Due for renewal now, and good for some minutes more. */
export const DUE: Times = { obtainedMs: -3_300_000, expiresMs: 300_000 };

const encoded = (text: string) => Buffer.from(text, 'utf8').toString('base64');

/**
 * Makes the credentials with their Secrets, as the operator would have left them. Call it once for a
 * namespace.
 */
export async function grantAccounts(
  client: KubeClient,
  provider: OAuthProvider,
  namespace: string,
  names: readonly string[],
  { obtainedMs, expiresMs }: Times = DUE,
): Promise<Granted[]> {
  const oauth2 = {
    ...provider.endpoints,
    clientID: CLIENT.id,
    clientSecretRef: { name: 'client', key: 'secret' },
    scopes: ['openid', 'email', 'offline_access'],
    allowedHosts: [new URL(provider.endpoints.userinfoURL).origin],
  };
  await client.create(secrets, {
    metadata: { namespace, name: 'client' },
    data: { secret: encoded(CLIENT.secret) },
  });
  const made = await Promise.all(
    names.map(async (name) => {
      const refreshToken = await provider.issueRefreshToken(name);
      return { name, refreshToken };
    }),
  );
  const granted = await Promise.all(
    made.map(async (each) => {
      const { metadata } = await client.create(credentials, {
        metadata: { namespace, name: each.name },
        spec: { oauth2 },
      });
      return { ...each, uid: metadata.uid ?? '' };
    }),
  );
  const now = Date.now();
  const data = granted.map(({ uid, refreshToken }) => [
    uid,
    encoded(
      JSON.stringify({
        connection: hashOf(connectionOf(oauth2)),
        accessToken: 'the first one',
        refreshToken,
        obtainedAt: now + obtainedMs,
        expiresAt: now + expiresMs,
        scopes: oauth2.scopes,
        account: 'somebody',
      }),
    ),
  ]);
  const metadata = { namespace, name: 'windlass-refresh-tokens' };
  await client.create(secrets, { metadata, data: Object.fromEntries(data) as Record<string, string> });
  // An operator that runs has looked already.
  await Promise.all(names.map((name) => wake(client, namespace, name)));
  return granted;
}

/** Has an account of those be due for renewal now. */
export async function makeDue(client: KubeClient, namespace: string, { name, uid }: Granted): Promise<void> {
  const ref = { namespace, name: 'windlass-refresh-tokens' };
  const { data = {} } = await client.get(secrets, ref);
  const grant = JSON.parse(Buffer.from(data[uid] ?? '', 'base64').toString('utf8')) as object;
  const now = Date.now();
  const times = { obtainedAt: now + DUE.obtainedMs, expiresAt: now + DUE.expiresMs };
  const due = encoded(JSON.stringify({ ...grant, ...times }));
  await client.patch(secrets, ref, { data: { [uid]: due } }, { type: 'merge' });
  await wake(client, namespace, name);
}

/** Secrets are not followed, but a credential that changes is reconciled. */
export async function wake(client: KubeClient, namespace: string, name: string): Promise<void> {
  const { spec } = await client.get(credentials, { namespace, name });
  const others = spec.oauth2?.allowedHosts?.filter((host) => !host.startsWith('at-')) ?? [];
  const allowedHosts = [...others, `at-${Date.now()}.example.com`];
  await client.patch(
    credentials,
    { namespace, name },
    { spec: { oauth2: { allowedHosts } } },
    { type: 'merge' },
  );
}
