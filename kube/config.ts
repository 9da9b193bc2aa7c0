/** The connection to the API server: in a pod, or from a kubeconfig. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { systemClock, type Clock } from './clock.ts';

type KubeAuth = {
  /** The bearer token for the next request. Called for each request, so it must cache. */
  token?: () => Promise<string> | string;
  /** PEM. */
  cert?: string;
  key?: string;
};

export type KubeConnection = {
  /** `https://host:port`, with a path prefix if there is one, without a trailing slash. */
  server: string;
  /** PEM. Default: the certificate authorities of the system. */
  ca?: string;
  auth: KubeAuth;
  /** The namespace of the pod or of the context. */
  namespace?: string;
  /** The expected name in the certificate of the server, if it is not the host name. */
  serverName?: string;
  insecureSkipTlsVerify?: boolean;
};

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const tokenCacheMs = 60_000;

/**
 * The connection of a pod: address from the environment that is passed in, token and authority from the
 * mounted service account. The token is read again when it is older than a minute, because kubelet replaces
 * it. Throws if the program does not run in a pod.
 */
export function inClusterConnection(
  env: Record<string, string | undefined>,
  folder: string = serviceAccountFolder,
  clock: Clock = systemClock,
): KubeConnection {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (host === undefined || host === '' || port === undefined || port === '') {
    throw new Error(
      'Not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set. Name a kubeconfig instead.',
    );
  }
  const namespace = readMounted(join(folder, 'namespace'));
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: readMounted(join(folder, 'ca.crt')),
    auth: { token: cachedFile(join(folder, 'token'), clock) },
    namespace,
  };
}

/**
 * The connection of a kubeconfig file, for its current context or the given one. client-node performs exec
 * and OIDC authentication, as kubectl does; it is loaded on demand, because programs in pods do not need it.
 * Throws if the file, the context or its cluster is missing, or if it needs a proxy.
 */
export async function kubeconfigConnection(path: string, context?: string): Promise<KubeConnection> {
  const { KubeConfig } = await import('./clientNode.ts');
  const config = new KubeConfig();
  config.loadFromFile(path);
  if (context !== undefined) config.setCurrentContext(context);
  return connectionIn(config, path);
}

/**
 * The connection of a kubeconfig with one context. Executes what its user signs in with. Throws as
 * `kubeconfigConnection`, and if signing in fails.
 */
export async function signedInConnection(kubeconfig: string): Promise<KubeConnection> {
  const { KubeConfig } = await import('./clientNode.ts');
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return connectionIn(config, 'The kubeconfig');
}

async function connectionIn(config: KubeConfig, path: string): Promise<KubeConnection> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new Error(
      `${path} has no cluster for context "${config.getCurrentContext()}": name another context.`,
    );
  }
  if (cluster.proxyUrl !== undefined) {
    throw new Error(`${path} reaches cluster "${cluster.name}" through a proxy-url, which is not supported.`);
  }
  const login = async (): Promise<LoginOptions> => {
    const options: LoginOptions = {};
    await config.applyToHTTPSOptions(options);
    return options;
  };
  const { ca, cert, key, headers, servername, rejectUnauthorized } = await login();
  const token = bearer(headers);
  const { exec, authProvider } = config.getCurrentUser() ?? {};
  // Each login reads the files of the kubeconfig, and is made only where it may yield another token.
  const isFixed = !exec && !authProvider;
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace;
  return {
    server: cluster.server.replace(/\/+$/, ''),
    ...(ca !== undefined && { ca: ca.toString() }),
    auth: {
      ...(cert !== undefined && { cert: cert.toString() }),
      ...(key !== undefined && { key: key.toString() }),
      ...(token !== undefined && {
        token: isFixed ? () => token : async () => bearer((await login()).headers) ?? '',
      }),
    },
    ...(namespace !== undefined && { namespace }),
    ...(servername !== undefined && { serverName: servername }),
    insecureSkipTlsVerify: rejectUnauthorized === false,
  };
}

type LoginOptions = {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  servername?: string;
  rejectUnauthorized?: boolean;
  headers?: Record<string, string>;
};

function bearer(headers: Record<string, string> | undefined): string | undefined {
  const value = headers?.['Authorization'];
  return value?.startsWith('Bearer ') === true ? value.slice('Bearer '.length) : undefined;
}

/** Reads the file at most once a minute. A read that fails keeps the last token, which may still be good. */
function cachedFile(path: string, clock: Clock): () => string {
  let value = readMounted(path);
  let readAt = clock.now();
  return () => {
    if (clock.now() - readAt < tokenCacheMs) return value;
    readAt = clock.now();
    try {
      value = readMounted(path);
    } catch {
      // A rejected token is reported with the call that used it.
    }
    return value;
  };
}

function readMounted(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new Error(`Cannot read ${path}: does the pod mount its service account?`, { cause });
  }
}
