/** Starts the operator's parts in their order and ends them in reverse. Everything that it needs is passed in. */
import { NO_AUDIT, type Audit } from '../api/audit/audit.ts';
import { createClient, type KubeClient } from '../kube/client.ts';
import { createEgress } from '../nodes/egress/egress.ts';
import { createAsk } from './oauth/ask.ts';
import { keepCodes } from './oauth/codes.ts';
import { createConnections } from './oauth/connections.ts';
import { sleep, systemClock, type Clock } from '../kube/clock.ts';
import type { KubeConnection } from '../kube/config.ts';
import { runWithLease, type LeaseOptions } from '../kube/lease.ts';
import type { Log } from '../kube/log.ts';
import { connectRunStore, type RunStoreConnection } from '../store/connection.ts';
import { servedCertificateExpiry } from '../store/serverCertificate.ts';
import { createBotHolders } from './bots/holders.ts';
import { prunesPerSecond } from './budget/split.ts';
import { egressOf, type OperatorConfig } from './shared/config.ts';
import type { OperatorContext } from './shared/context.ts';
import { createControllers, type Controllers } from './controllers.ts';
import { feedGatewayView } from './gateways/feed.ts';
import { createGatewayView } from './gateways/view.ts';
import { serveHealth } from '../kube/healthServer.ts';
import { createMetrics } from './metrics.ts';
import { createPacer } from './shared/pacer.ts';
import { maintainAclUsers } from './store/aclUsers.ts';
import { createFullProjects } from './store/fullProjects.ts';
import { keepStore } from './store/keep.ts';
import { createProjectStore } from './store/projects.ts';
import { createSeedSource } from './seed/source.ts';
import { ensureStoreSecret, readStorePasswords } from './store/secret.ts';
import { createWebhookSecrets } from './webhooks/material.ts';
import { createCaches, startCaches, synced } from './shared/caches.ts';
import type { RunStoreOptions } from '../store/redis.ts';

export type OperatorOptions = {
  config: OperatorConfig;
  connection: KubeConnection;
  /** The operator's and the gateway's namespace. */
  namespace: string;
  log: Log;
  /** Takes the audit trail. Left out: there is none. */
  audit?: Audit;
  /** Shutdown: what is being reconciled is finished, then the lease is given back. */
  signal: AbortSignal;
  /** Another operator may lead already: the program must end. */
  onLost: () => void;
  clock?: Clock;
};

const AGAIN_MS = 2_000;

/** Runs the operator until the signal is aborted. Rejects when its port cannot be had. */
export async function runOperator(options: OperatorOptions): Promise<void> {
  const { config, connection, namespace, log, audit = NO_AUDIT, signal, clock = systemClock } = options;
  const metrics = createMetrics(clock, config.METRICS_WORKFLOWS);
  if (config.REDIS_URL.startsWith('rediss:')) metrics.watchRunStoreCertificate(() => askCertificate(config));
  const common = {
    fieldManager: 'windlass-operator',
    userAgent: 'windlass-operator',
    onRequest: metrics.requested,
  };
  // What takes the lease, and makes what has to be there before.
  const ownClient = createClient(connection, common);
  let mayWrite = (): boolean => false;
  const client = createClient(connection, { ...common, mayWrite: () => mayWrite() });
  const watched = config.WATCH_NAMESPACES;
  const caches = createCaches({ client, namespace, watched, log });
  const isReady = (): boolean => Object.values(caches).every((cache) => cache.hasSynced());
  const unready = (): string | undefined => (isReady() ? undefined : 'not every kind is known yet');
  const health = await serveHealth({ port: config.METRICS_PORT, unready, registry: metrics.registry });
  log.info({ port: health.port }, 'listening');
  const following = startCaches(caches, signal);
  let controllers: Controllers | undefined;
  const recheck = (healthy: boolean): void => {
    if (healthy) controllers?.recheckProjects();
  };
  const conn = await connectStore(options, ownClient, { onStateChange: recheck, maySend: () => mayWrite() });
  if (conn && (await isSynced(caches, signal))) {
    const gateways = createGatewayView(clock);
    feedGatewayView(gateways, caches, config.GATEWAY_SERVICES);
    const pacer = createPacer(prunesPerSecond(config.RECORD_WRITES_PER_SECOND), clock);
    const store = createProjectStore(conn, createSeedSource({ client, caches, clock, pacer }));
    const webhooks = createWebhookSecrets({ client, caches, clock });
    const connections = createConnections({
      client,
      caches,
      ask: createAsk({ client, egress: createEgress(egressOf(config)), isLeading: () => mayWrite() }),
      gatewayURL: config.INTERNAL_URL ?? `http://${config.GATEWAY_SERVICES.at(-1)}.${namespace}`,
      log,
      audit,
      clock,
    });
    const parts = {
      client,
      caches,
      conn,
      store,
      gateways,
      webhooks,
      bots: createBotHolders(caches),
      registrations: new Map(),
      connections,
      refusedPools: new Map(),
      refusedPolls: new Map(),
      grantedSecrets: new Map(),
      podProblems: new Map(),
      fullProjects: createFullProjects(clock),
      appliedSettings: new Map(),
    };
    const context: OperatorContext = { ...parts, config, log, audit, clock };
    await lead(options, ownClient, async (signal, isLeading) => {
      mayWrite = isLeading;
      metrics.leading(true);
      // Made only now: the queues of a replica that stands by would fill for nothing.
      controllers = createControllers(context, metrics);
      const onFull = (namespace: string): void => controllers?.wakeNamespace(namespace);
      await Promise.all([
        controllers.run(signal),
        keepStore(context, { metrics, onFull }, signal),
        maintainAclUsers(context, namespace, signal),
        keepCodes({ conn, connections, log, clock }, signal),
      ]);
      metrics.leading(false);
    });
  }
  audit.close();
  await conn?.close();
  await following;
  health.server.closeAllConnections();
  await new Promise((resolve) => health.server.close(resolve));
  await Promise.all([client.close(), ownClient.close()]);
}

function askCertificate({
  REDIS_URL: url,
  REDIS_CA_FILE: caFile,
}: OperatorConfig): Promise<Date | undefined> {
  return servedCertificateExpiry({ url, ...(caFile !== undefined && { caFile }) });
}

/** Makes the Secret where that is ours to do, and connects with what is in it. Undefined: ended before that. */
async function connectStore(
  { config, namespace, log, signal }: OperatorOptions,
  client: KubeClient,
  hooks: Pick<RunStoreOptions, 'onStateChange' | 'maySend'>,
): Promise<RunStoreConnection | undefined> {
  const ref = { namespace, name: config.REDIS_SECRET };
  while (!signal.aborted) {
    try {
      if (config.REDIS_SECRET_CREATE) await ensureStoreSecret(client, ref);
      const { operator: password } = await readStorePasswords(client, ref);
      const { REDIS_URL: url, REDIS_USERNAME: username, REDIS_CA_FILE: caFile, POD_NAME: name } = config;
      const trust = caFile === undefined ? {} : { caFile };
      return connectRunStore({ url, username, password, name, log, ...trust, ...hooks });
    } catch (error) {
      log.error({ secret: ref.name, err: error }, 'cannot read the run store password');
      await sleep(AGAIN_MS, signal);
    }
  }
  return undefined;
}

async function isSynced(caches: Parameters<typeof synced>[0], signal: AbortSignal): Promise<boolean> {
  try {
    await synced(caches);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

async function lead(
  { config, namespace, log, signal, onLost, clock }: OperatorOptions,
  client: KubeClient,
  onStarted: LeaseOptions['onStarted'],
): Promise<void> {
  await runWithLease({
    client,
    namespace,
    name: config.LEASE_NAME,
    identity: config.POD_NAME,
    log,
    signal,
    onLost,
    onStarted,
    ...(clock && { clock }),
  });
}
