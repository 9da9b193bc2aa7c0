/**
 * A gateway process with a real API server, our CRDs and a run store that syncs each write. There is no
 * operator and no runner: tests write the routes and do what a runner does.
 */
import type { WebhookRoute } from '../../../api/kinds.ts';
import type { RouteSpec } from '../../../api/route.ts';
import { encodeKeys, entryName, WEBHOOKS } from '../../../api/webhookAuth.ts';
import { webhookRoutes } from '../../../gateway/routing/follow.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces, secrets } from '../../../kube/resource.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { openProject } from '../../../runs/project.ts';
import { startApiServer, type ApiServer } from '../cluster/apiserver.ts';
import { installCrds } from '../cluster/crds.ts';
import { sharedApiServer } from '../cluster/sharedApiServer.ts';
import { startGateway, type GatewayOptions, type GatewayProcess } from './gatewayProcess.ts';
import { startRedis, type TestRedis } from '../runStore/redis.ts';

export const NAMESPACE = 'shop';
/** The project of that namespace in the run store. */
export const PROJECT = 'project-shop';
/** The pod that the gateway takes itself for. */
export const POD = 'gateway-test';

export type GatewayHarness = {
  api: ApiServer;
  /** As an administrator. */
  client: KubeClient;
  redis: TestRedis;
  /** The run store, for programs. */
  redisURL: string;
  runs: RunStoreConnection;
  gateway: GatewayProcess;
  /** The address of a workflow's webhook. */
  hook: (workflow: string) => string;
  close: () => Promise<void>;
};

export type GatewayHarnessOptions = Pick<GatewayOptions, 'env' | 'nodeArgs'> & {
  /** More arguments for an API server of its own, which the test may end. Left out: that of the worker. */
  apiServerArgs?: string[];
  /** Bytes that the project may hold; default 64 MiB. */
  quotaBytes?: number;
  /** Further lines of the store's configuration. */
  redisConfig?: string[];
  /** Puts the store's data into memory, on a volume of that size. Needs root. */
  volumeMiB?: number;
};

/** Starts all of it, with a namespace, an open project and no routes. */
export async function startGatewayHarness(options: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    const { apiServerArgs: args } = options;
    const api = await (args ? startApiServer({ args }) : sharedApiServer());
    closers.push(api.stop);
    const client = createClient(api.connection);
    closers.push(() => client.close());
    if (args) await installCrds(client);
    await client.create(namespaces, { metadata: { name: NAMESPACE } });
    const { redisConfig = [], volumeMiB } = options;
    const redis = await startRedis({
      appendfsync: 'always',
      config: redisConfig,
      ...(volumeMiB !== undefined && { volumeMiB }),
    });
    closers.push(() => redis.stop());
    const runs = connectRunStore({ url: redis.url, name: 'test' });
    closers.push(() => runs.close());
    await runs.ready();
    await openProject(runs, PROJECT, { quotaBytes: options.quotaBytes ?? 64 * 2 ** 20 });
    const gateway = await startGateway({
      kubeconfigPath: api.kubeconfigPath,
      redisURL: redis.url,
      pod: POD,
      namespace: NAMESPACE,
      ...options,
    });
    closers.push(() => gateway.stop());
    const hook = (workflow: string) => `${gateway.publicURL}/webhook/${NAMESPACE}.${workflow}/new`;
    return { api, client, redis, redisURL: redis.url, runs, gateway, hook, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export type RouteOptions = Partial<Pick<RouteSpec, 'active'>> & {
  webhook?: Partial<RouteSpec['webhook']> | false;
};

/** Writes the route of a workflow as the operator would. */
export async function putRoute(
  client: KubeClient,
  workflow: string,
  { active = true, webhook = {} }: RouteOptions = {},
): Promise<WebhookRoute> {
  return client.apply(webhookRoutes, {
    metadata: { namespace: NAMESPACE, name: workflow },
    spec: {
      workflow,
      workflowUID: workflowUid(workflow),
      projectUID: PROJECT,
      revision: `${workflow}-1`,
      trigger: webhook === false ? 'manual' : 'webhook',
      active,
      ...(webhook !== false && {
        webhook: { path: 'new', reply: false, replyTimeoutSeconds: 30, ...webhook },
      }),
    },
  });
}

/**
 * What a webhook needs whose callers sign with the key, GitHub's way; the project's Secret then holds this
 * key alone.
 */
export async function putGithubKey(client: KubeClient, workflow: string, key: string): Promise<RouteOptions> {
  const material = '0123456789abcdef';
  const entry = Buffer.from(encodeKeys([Buffer.from(key)])).toString('base64');
  const data = { [entryName(workflowUid(workflow), material)]: entry };
  await client.apply(secrets, { metadata: { namespace: NAMESPACE, name: WEBHOOKS }, data });
  const secretRefs = [{ name: 'hooks', key: 'key' }];
  return { webhook: { access: 'github', verify: { material, secretRefs, toleranceSeconds: 300 } } };
}

/** Takes the route of a workflow away. */
export async function removeRoute(client: KubeClient, workflow: string): Promise<void> {
  await client.delete(webhookRoutes, { namespace: NAMESPACE, name: workflow });
}

/** The uid that the run store knows a workflow by. */
export function workflowUid(workflow: string): string {
  return `uid-of-${workflow}`;
}
