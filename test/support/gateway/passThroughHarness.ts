/**
 * The internal listener with a real API server behind it that has our kinds. The gateway's own connection is
 * an administrator's: what an ordinary user is refused, and would get with that, shows whose identity was
 * used.
 */
import { createAudit } from '../../../api/audit/audit.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { systemClock } from '../../../kube/clock.ts';
import type { KubeConnection } from '../../../kube/config.ts';
import { createPassThrough } from '../../../kube/passThrough.ts';
import { namespaces, type PolicyRule } from '../../../kube/resource.ts';
import { createAccess } from '../../../gateway/access/access.ts';
import { listen } from '../../../gateway/listen.ts';
import type { RouteTable } from '../../../gateway/routing/table.ts';
import { buildInternal, buildMetrics } from '../../../gateway/server.ts';
import type { ApiServer } from '../cluster/apiserver.ts';
import { sharedApiServer } from '../cluster/sharedApiServer.ts';
import { createCollectedLog, type CollectedLog } from '../logs/collectedLog.ts';
import { createGatewayDeps } from './gatewayDeps.ts';
import { pollUntil } from '../time/poll.ts';
import { createUser, isAllowed, tokenOf } from '../cluster/users.ts';

export type PassThroughHarness = {
  api: ApiServer;
  /** As an administrator. */
  client: KubeClient;
  /**
   * Makes a user with these rights in the namespace, as soon as the API server knows of them. Returns a
   * token.
   */
  user: (namespace: string, name: string, rules: PolicyRule[]) => Promise<string>;
  /** Starts a gateway whose way to the API server is this one; default the direct one. */
  gateway: (options?: GatewayOptions) => Promise<TestGateway>;
  close: () => Promise<void>;
};

type GatewayOptions = {
  connection?: KubeConnection;
  routes?: RouteTable;
  namespaces?: readonly string[];
};

export type CallInit = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

export type TestGateway = {
  url: string;
  log: CollectedLog;
  /** The lines of its audit trail. */
  trail: string[];
  /** Calls it with the token, if there is one. */
  call: (path: string, token?: string, init?: CallInit) => Promise<Response>;
  metrics: () => Promise<string>;
  /** Tells it that its listeners close. */
  closing: () => void;
};

export async function startPassThroughHarness(...names: string[]): Promise<PassThroughHarness> {
  const closers: (() => Promise<unknown>)[] = [];
  const api = await sharedApiServer();
  closers.push(api.stop);
  const client = createClient(api.connection);
  closers.push(() => client.close());
  for (const name of names) await client.create(namespaces, { metadata: { name } });

  return {
    api,
    client,
    user: async (namespace, name, rules) => {
      await (await createUser(client, api.connection, { namespace, name, rules })).close();
      const user = `system:serviceaccount:${namespace}:${name}`;
      const [first] = rules;
      if (first !== undefined)
        await pollUntil(`the rights of ${name}`, () => isAllowed(client, { user, namespace }, first), {
          timeoutMs: 10_000,
          everyMs: 20,
        });
      return tokenOf(client, namespace, name);
    },
    gateway: async (options = {}) => {
      const started = await startListener(client, options.connection ?? api.connection, options);
      closers.push(started.close);
      return started.gateway;
    },
    close: async () => {
      for (const end of closers.splice(0).toReversed()) await end();
    },
  };
}

async function startListener(
  client: KubeClient,
  connection: KubeConnection,
  { routes, namespaces: served }: GatewayOptions,
): Promise<{ gateway: TestGateway; close: () => Promise<void> }> {
  const log = createCollectedLog();
  const trail: string[] = [];
  const write = (line: string): void => void trail.push(line);
  const closing = new AbortController();
  const kube = createPassThrough(connection, 'windlass-console');
  const reviews = { inc: () => undefined };
  const made = createGatewayDeps({
    kube,
    log,
    audit: createAudit({ source: { program: 'gateway', pod: 'test' }, write, clock: systemClock }),
    closing: closing.signal,
    access: createAccess({ client, metrics: { reviews } as never, log }),
    ...(routes && { routes }),
    ...(served && { namespaces: served }),
  });
  const app = buildInternal(made.deps);
  const metrics = buildMetrics(made.deps);
  const url = `http://127.0.0.1:${await listen(app, 0, '127.0.0.1')}`;
  const call: TestGateway['call'] = (path, token, init = {}) =>
    fetch(url + path, {
      ...init,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...init.headers },
    });
  return {
    gateway: {
      url,
      log,
      trail,
      call,
      metrics: async () => (await metrics.inject('/metrics')).body,
      closing: () => closing.abort(),
    },
    close: async () => {
      closing.abort();
      app.server.closeAllConnections();
      await Promise.all([app.close(), metrics.close()]);
      await kube.close();
      made.close();
    },
  };
}
