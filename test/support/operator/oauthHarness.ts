/**
 * All that connecting a credential takes: an operator, a gateway process, a real provider, and a person who
 * may change credentials.
 */
import type { Credential } from '../../../api/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { secrets } from '../../../kube/resource.ts';
import { credentials } from '../../../operator/shared/resources.ts';
import { GATEWAY_ACCOUNT } from '../../../store/accounts.ts';
import { freePort } from '../process/freePort.ts';
import { startGateway, type GatewayProcess } from '../gateway/gatewayProcess.ts';
import { CLIENT, startOAuthProvider, type OAuthProvider } from '../providers/oauth/oauthProvider.ts';
import { startOperatorHarness, SYSTEM, type OperatorHarness } from './operatorHarness.ts';
import { pollUntil } from '../time/poll.ts';
import { createUser, tokenOf, writeKubeconfig } from '../cluster/users.ts';

export type OAuthHarness = Omit<OperatorHarness, 'gateway'> & {
  gateway: GatewayProcess;
  provider: OAuthProvider;
  namespace: string;
  /** A token of the cluster of who may change credentials there. */
  token: string;
  /** Makes a credential of the provider's client. */
  createCredential(name: string, over?: object): Promise<Credential>;
  /** What asking for a link answers. */
  askLink(name: string, token?: string): Promise<Response>;
  /** A link that connects the credential. */
  link(name: string): Promise<string>;
  /** Waits until `Ready` says so; returns the credential. */
  said(name: string, reason: string): Promise<Credential>;
  /** The entries of a Secret of the project, as text. */
  entries(secret: string): Promise<Record<string, string>>;
};

const CLIENT_SECRET = 'client';

export async function startOAuthHarness(
  options: { accessTokenSeconds?: number; env?: Record<string, string> } = {},
): Promise<OAuthHarness> {
  const port = await freePort();
  const publicURL = `http://127.0.0.1:${port}`;
  const provider = await startOAuthProvider({ ...options, redirectURI: `${publicURL}/oauth/callback` });
  const harness = await startOperatorHarness({
    templates: ['gateway', 'gateway-rbac'],
    env: { PUBLIC_URL: publicURL, RUNNER_EGRESS_ALLOW: '127.0.0.0/8', ...options.env },
  });
  const gateway = await startGateway({
    kubeconfigPath: await writeKubeconfig(
      harness.server,
      'gateway',
      await tokenOf(harness.client, SYSTEM, 'windlass-gateway'),
    ),
    redisURL: harness.redis.url,
    pod: 'gateway-1',
    namespace: SYSTEM,
    env: {
      PUBLIC_URL: publicURL,
      PUBLIC_PORT: String(port),
      REDIS_USERNAME: GATEWAY_ACCOUNT,
      REDIS_PASSWORD: harness.password,
    },
  });
  const { namespace } = await harness.createProject();
  const rules = [{ apiGroups: ['windlass.dev'], resources: ['credentials'], verbs: ['update'] }];
  const person = await createUser(harness.client, harness.server.connection, {
    namespace,
    name: 'ana',
    rules,
  });
  await person.close();
  const token = await tokenOf(harness.client, namespace, 'ana');
  const data = { secret: Buffer.from(`${CLIENT.secret}\n`).toString('base64') };
  await harness.client.create(secrets, { metadata: { namespace, name: CLIENT_SECRET }, data });

  const askLink = (name: string, bearer = token): Promise<Response> =>
    fetch(`${gateway.internalURL}/credentials/${namespace}.${name}/connect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}` },
    });

  return {
    ...harness,
    gateway,
    provider,
    namespace,
    token,
    createCredential: (name, over = {}) => {
      const oauth2 = {
        ...provider.endpoints,
        clientID: CLIENT.id,
        clientSecretRef: { name: CLIENT_SECRET, key: 'secret' },
        scopes: ['openid', 'email', 'offline_access'],
        ...over,
      };
      return harness.client.apply(credentials, { metadata: { namespace, name }, spec: { oauth2 } });
    },
    askLink,
    link: async (name) => {
      const asked = () => askLink(name).then(async (answer) => answer.status === 201 && answer.json());
      const { url } = (await pollUntil('a link', asked, { timeoutMs: 10_000 })) as { url: string };
      return url;
    },
    said: async (name, reason) => {
      let last: unknown;
      const read = async () => {
        const credential = await harness.client.get(credentials, { namespace, name });
        const ready = findCondition(credential.status?.conditions, 'Ready');
        last = ready;
        return ready?.reason === reason && credential;
      };
      try {
        return await pollUntil(`${name} saying ${reason}`, read, { timeoutMs: 15_000, everyMs: 50 });
      } catch (error) {
        throw new Error(`${name} says ${JSON.stringify(last)}; ${harness.log.messages('warn').join('; ')}`, {
          cause: error,
        });
      }
    },
    entries: async (name) => {
      const secret = await harness.client.find(secrets, { namespace, name });
      return Object.fromEntries(
        Object.entries(secret?.data ?? {}).map(([key, value]) => [
          key,
          Buffer.from(value, 'base64').toString('utf8'),
        ]),
      );
    },
    stop: async () => {
      await gateway.stop();
      await harness.stop();
      await provider.close();
    },
  };
}
