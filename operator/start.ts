/**
 * Starts the parts of the operator in order and stops them in reverse. Everything that it needs is
 * passed in.
 */
import { NO_AUDIT, type Audit } from '../api/audit/audit.ts';
import { createClient, type KubeClient } from '../kube/client.ts';
import { sleep, systemClock, type Clock } from '../kube/clock.ts';
import type { KubeConnection } from '../kube/config.ts';
import { createRecorder } from '../kube/events.ts';
import { serveHealth } from '../kube/healthServer.ts';
import { runWithLease, type LeaseOptions } from '../kube/lease.ts';
import type { Log } from '../kube/log.ts';
import { createUndiciPool } from '../kube/undiciPool.ts';
import { connectRunStore, type RunStoreConnection } from '../store/connection.ts';
import type { RunStoreOptions } from '../store/redis.ts';
import { servedCertificateExpiry } from '../store/serverCertificate.ts';
import { maintainWriteBudget } from './writeBudget/maintain.ts';
import { controllers } from './controllers.ts';
import { createMetrics, type OperatorMetrics } from './metrics.ts';
import { exchangeCodes } from './oauth/codes.ts';
import { COMPONENT, createParts, type OperatorParts } from './parts.ts';
import { followPollingRunners } from './poll/pollingRunners.ts';
import { answerScaling } from './scaling/endpoint.ts';
import { maintainScaling } from './scaling/scaler.ts';
import { watchOtherScalers } from './scaling/otherScalers.ts';
import { poolStates } from './scaling/poolStates.ts';
import { createScalingState } from './scaling/state.ts';
import { maintainSleep } from './sleep/sleeper.ts';
import { recordDeletions } from './shared/audit.ts';
import { createCaches, startCaches, synced } from './shared/caches.ts';
import type { OperatorConfig } from './shared/config.ts';
import { prepareControllers } from './shared/controller.ts';
import { FIELD_MANAGER } from './shared/names.ts';
import { maintainAclUsers } from './store/aclUsers.ts';
import { createStoreChanges } from './store/changes.ts';
import { deleteRuns, noteDeletedWorkflows } from './store/deleteRuns.ts';
import { watchDurability } from './store/durability.ts';
import { maintainStore } from './store/maintain.ts';
import { createPoolAccounts, type PoolAccounts } from './shared/poolAccounts.ts';
import { ensureStoreSecret, readRunnerPassword, readStorePasswords } from './store/secret.ts';
import { watchLostAccounts } from './store/lostAccounts.ts';
import { watchRunStoreAuthority } from './project/runStoreAuthorityWatch.ts';
import { watchStore } from './store/watch.ts';

export type OperatorOptions = {
  config: OperatorConfig;
  connection: KubeConnection;
  /** The operator's and the gateway's namespace. */
  namespace: string;
  log: Log;
  /** Takes the audit trail. Left out: there is none. */
  audit?: Audit;
  /** Shutdown: reconciles in progress finish, then the lease is released. */
  signal: AbortSignal;
  /** Another operator may already lead: the program must end. */
  onLost: () => void;
  clock?: Clock;
};

const AGAIN_MS = 2_000;

/** Runs the operator until the signal is aborted. Rejects if it cannot listen on its port. */
export async function runOperator(options: OperatorOptions): Promise<void> {
  const { config, connection, namespace, log, audit = NO_AUDIT, signal, clock = systemClock } = options;
  const metrics = createMetrics(clock, config.METRICS_WORKFLOWS);
  if (config.REDIS_URL.startsWith('rediss:')) metrics.watchRunStoreCertificate(() => askCertificate(config));
  const common = {
    fieldManager: FIELD_MANAGER,
    userAgent: 'windlass-operator',
    onRequest: metrics.requested,
    createPool: createUndiciPool,
  };
  // Acquires the lease, and creates the Secret that everything else needs.
  const ownClient = createClient(connection, common);
  let mayWrite = (): boolean => false;
  const client = createClient(connection, { ...common, mayWrite: () => mayWrite() });
  const watched = config.WATCH_NAMESPACES;
  const caches = createCaches({ client, namespace, watched, log });
  const isReady = (): boolean => Object.values(caches).every((cache) => cache.hasSynced());
  const unready = (): string | undefined => (isReady() ? undefined : 'not every cache is synced');
  const scaling = createScalingState();
  const isLeading = (): boolean => mayWrite();
  const health = await serveHealth({
    port: config.METRICS_PORT,
    unready,
    registry: metrics.registry,
    answerPath: (path) => answerScaling(path, { caches, config, namespace, scaling, isLeading }),
  });
  log.info({ port: health.port }, 'listening');
  const following = startCaches(caches, signal);
  const storeChanges = createStoreChanges();
  const onStateChange = (isHealthy: boolean): void => {
    if (isHealthy) storeChanges.reconnected.notify();
  };
  const store = await connectStore(options, ownClient, { onStateChange, maySend: () => mayWrite() });
  if (store && (await areSynced(caches, signal))) {
    const events = createRecorder(client, COMPONENT, { log, clock });
    const context = { client, caches, ...store, config, log, audit, events, clock };
    const parts = createParts(context, { namespace, storeChanges, metrics, scaling, isLeading });
    await lead(options, ownClient, async (signal, isLeader) => {
      mayWrite = isLeader;
      metrics.leading(true);
      await reconcileUntil(signal, parts, metrics, namespace);
      metrics.leading(false);
    });
  }
  audit.close();
  await store?.conn.close();
  await following;
  health.server.closeAllConnections();
  await new Promise((resolve) => health.server.close(resolve));
  await Promise.all([client.close(), ownClient.close()]);
}

/**
 * Runs all controllers and maintenance loops until the signal is aborted. Call it only while leading:
 * queues fill from then on.
 */
async function reconcileUntil(
  signal: AbortSignal,
  parts: OperatorParts,
  metrics: OperatorMetrics,
  namespace: string,
): Promise<void> {
  noteDeletedWorkflows(parts);
  recordDeletions(parts);
  followPollingRunners(parts);
  const runControllers = prepareControllers(controllers, parts, metrics);
  metrics.watchDeletions(() => parts.store.deletions.list().reduce((sum, { left }) => sum + left, 0));
  metrics.watchPools(() => poolStates(parts.caches.deployments.list()));
  await Promise.all([
    runControllers(signal),
    maintainWriteBudget(parts, signal),
    deleteRuns(parts, signal),
    watchStore(parts, signal),
    watchLostAccounts(parts, signal),
    watchRunStoreAuthority(parts, signal),
    maintainStore(parts, metrics, signal),
    maintainScaling(parts, signal),
    maintainSleep(parts, signal),
    watchOtherScalers(parts, signal),
    maintainAclUsers(parts, namespace, signal),
    watchDurability(parts, metrics.store, signal),
    exchangeCodes(parts, signal),
  ]);
}

function askCertificate({
  REDIS_URL: url,
  REDIS_CA_FILE: caFile,
}: OperatorConfig): Promise<Date | undefined> {
  return servedCertificateExpiry({ url, ...(caFile !== undefined && { caFile }) });
}

/**
 * Creates the Secret if configured, and connects with its password. Also the accounts of runner pools.
 * Undefined if the signal was aborted before.
 */
async function connectStore(
  { config, namespace, log, signal }: OperatorOptions,
  client: KubeClient,
  hooks: Pick<RunStoreOptions, 'onStateChange' | 'maySend'>,
): Promise<{ conn: RunStoreConnection; accounts: PoolAccounts } | undefined> {
  const ref = { namespace, name: config.REDIS_SECRET };
  while (!signal.aborted) {
    try {
      if (config.REDIS_SECRET_CREATE) await ensureStoreSecret(client, ref);
      const { operator: password } = await readStorePasswords(client, ref);
      const { REDIS_URL: url, REDIS_USERNAME: username, REDIS_CA_FILE: caFile, POD_NAME: name } = config;
      const trust = caFile === undefined ? {} : { caFile };
      const runner = config.REDIS_RUNNER_USERNAME;
      const supplied =
        runner === undefined
          ? undefined
          : { username: runner, password: await readRunnerPassword(client, ref) };
      const conn = connectRunStore({ url, username, password, name, log, ...trust, ...hooks });
      return { conn, accounts: createPoolAccounts(conn, supplied) };
    } catch (error) {
      log.error({ secret: ref.name, err: error }, 'cannot read the run store password');
      await sleep(AGAIN_MS, signal);
    }
  }
  return undefined;
}

async function areSynced(caches: Parameters<typeof synced>[0], signal: AbortSignal): Promise<boolean> {
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
