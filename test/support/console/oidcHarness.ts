/**
 * A cluster that trusts an OpenID Connect provider, and two replicas of a gateway that let people sign in
 * there. The provider answers by https with a certificate of its own authority, since the API server takes no
 * other.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ensureBinaries } from '../../cluster/build.ts';
import { certify } from '../../cluster/certificates.ts';
import { startGatewayHarness, NAMESPACE, type GatewayHarness } from '../gateway/gatewayHarness.ts';
import { makeFolder } from '../process/folder.ts';
import { freePort } from '../process/freePort.ts';
import { startGateway, type GatewayProcess } from '../gateway/gatewayProcess.ts';
import { CLIENT, startOAuthProvider, type OAuthProvider } from '../providers/oauth/oauthProvider.ts';
import { createProgress } from '../process/progress.ts';

export type OidcHarness = GatewayHarness & { second: GatewayProcess; provider: OAuthProvider };

const CLIENT_ID = 'windlass-console';
/** What the API server puts before the names of those who sign in there. */
export const PREFIX = 'oidc:';

export async function startOidcHarness({ idTokenSeconds }: { idTokenSeconds: number }): Promise<OidcHarness> {
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    const folder = await makeFolder('oidc');
    closers.push(folder.remove);
    const binDir = await ensureBinaries(createProgress(process.stderr));
    await certify(binDir, folder.path, {
      certificates: [
        { name: 'ca', commonName: 'authority' },
        { name: 'provider', issuer: 'ca', commonName: 'provider', hosts: ['127.0.0.1'] },
      ],
      signingKeys: [],
    });
    const [ca = '', key = '', cert = ''] = await Promise.all(
      ['ca.crt', 'provider.key', 'provider.crt'].map((name) => readFile(join(folder.path, name), 'utf8')),
    );
    setDefaultCACertificates([...getCACertificates('default'), ca]);
    const port = await freePort();
    const redirectURI = `http://127.0.0.1:${port}/console/oidc/callback`;
    const tls = { key, cert };
    const provider = await startOAuthProvider({ redirectURI, idTokenSeconds, clientID: CLIENT_ID, tls });
    closers.push(provider.close);
    const caFile = join(folder.path, 'ca.crt');
    const env = {
      NODE_EXTRA_CA_CERTS: caFile,
      CONSOLE_OIDC_ISSUER: provider.issuer,
      CONSOLE_OIDC_CLIENT_ID: CLIENT_ID,
      CONSOLE_OIDC_CLIENT_SECRET: CLIENT.secret,
      CONSOLE_OIDC_SCOPES: 'openid email offline_access',
      CONSOLE_OIDC_LABEL: 'Sign in with the test',
    };
    const base = await startGatewayHarness({
      env: { ...env, INTERNAL_PORT: String(port) },
      apiServerArgs: [
        `--oidc-issuer-url=${provider.issuer}`,
        `--oidc-client-id=${CLIENT_ID}`,
        '--oidc-username-claim=sub',
        `--oidc-username-prefix=${PREFIX}`,
        `--oidc-ca-file=${caFile}`,
      ],
    });
    closers.push(base.close);
    const { api, redis } = base;
    const second = await startGateway({
      kubeconfigPath: api.kubeconfigPath,
      redisURL: redis.url,
      pod: 'gateway-second',
      namespace: NAMESPACE,
      env,
    });
    closers.push(() => second.stop());
    return { ...base, second, provider, close };
  } catch (error) {
    await close();
    throw error;
  }
}
