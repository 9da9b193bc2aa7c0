/** What the benchmarks of the door run against: a real API server with one route, a real run store, the gateway, the echo. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { GROUP, VERSION } from '../../api/group.ts';
import { WEBHOOK_ROUTE, type WebhookRoute } from '../../api/kinds.ts';
import { createClient } from '../../kube/client.ts';
import { namespacedResource, namespaces } from '../../kube/resource.ts';
import { connectRunStore, type RunStoreConnection } from '../../runs/connection.ts';
import { openProject } from '../../runs/project.ts';
import { startApiServer } from '../support/apiserver.ts';
import { runCommand } from '../support/command.ts';
import { installCrds } from '../support/crds.ts';
import { startGateway, type GatewayProcess } from '../support/gatewayProcess.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const webhookRoutes = namespacedResource<WebhookRoute>(
  GROUP,
  VERSION,
  WEBHOOK_ROUTE.kind,
  WEBHOOK_ROUTE.plural,
);

export const PROJECT = 'bench-project';
export const WORKFLOW = { name: 'orders', uid: 'bench-workflow', revision: 'orders-1' };
const NAMESPACE = 'bench';
/** Enough for all events of one round. */
const QUOTA_BYTES = 8 * 2 ** 30;

export type Stage = {
  gateway: GatewayProcess;
  redis: TestRedis;
  runs: RunStoreConnection;
  /** The webhook's address. */
  hookURL: string;
  echoURL: string;
  /** Forgets all events, so that every round finds the same store. */
  emptyStore: () => Promise<void>;
  close: () => Promise<void>;
};

export type StageOptions = { reply: boolean; nodeArgs?: string[] };

/** Starts all of it. The store syncs every write to the disk before it answers. */
export async function setStage({ reply, nodeArgs = [] }: StageOptions): Promise<Stage> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.toReversed()) await end();
  };
  try {
    const api = await startApiServer();
    closers.push(api.stop);
    await putRoute(api.connection, reply);
    const redis = await startRedis({ appendfsync: 'always', config: ['auto-aof-rewrite-percentage 0'] });
    closers.push(redis.stop);
    const runs = connectRunStore({ url: redis.url, name: 'bench' });
    closers.push(() => runs.close());
    await runs.ready();
    const emptyStore = async () => {
      await runCommand('redis-cli', ['-p', String(redis.port), 'flushall']);
      await openProject(runs, PROJECT, { quotaBytes: QUOTA_BYTES });
    };
    await emptyStore();
    const gateway = await startGateway({
      kubeconfigPath: api.kubeconfigPath,
      redisURL: redis.url,
      pod: 'bench',
      namespace: NAMESPACE,
      nodeArgs,
    });
    closers.push(() => gateway.stop());
    const echo = await startEcho();
    closers.push(echo.stop);
    const hookURL = `${gateway.publicURL}/webhook/${NAMESPACE}.${WORKFLOW.name}/new`;
    return { gateway, redis, runs, hookURL, echoURL: echo.url, emptyStore, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function putRoute(connection: Parameters<typeof createClient>[0], reply: boolean): Promise<void> {
  const client = createClient(connection);
  await installCrds(client);
  await client.create(namespaces, { metadata: { name: NAMESPACE } });
  await client.create(webhookRoutes, {
    metadata: { namespace: NAMESPACE, name: WORKFLOW.name },
    spec: {
      workflow: WORKFLOW.name,
      workflowUID: WORKFLOW.uid,
      projectUID: PROJECT,
      revision: WORKFLOW.revision,
      trigger: 'webhook',
      active: true,
      webhook: { path: 'new', reply, replyTimeoutSeconds: 30 },
    },
  });
  await client.close();
}

async function startEcho(): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('echo.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const [port] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return {
    url: `http://127.0.0.1:${port.trim()}/`,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
