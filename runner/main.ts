/** The program of a runner pod: wires configuration, API server, run store and the runner. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { createAudit } from '../api/audit/audit.ts';
import { BOT_FINALIZER } from '../api/bot.ts';
import { createCache } from '../kube/cache.ts';
import { createClient } from '../kube/client.ts';
import { systemClock } from '../kube/clock.ts';
import { createSandbox } from '../nodes/code/sandbox.ts';
import { createEgress } from '../nodes/egress/egress.ts';
import { garbageCollection } from '../kube/garbageCollection.ts';
import { inClusterConnection, kubeconfigConnection } from '../kube/config.ts';
import { LINE_FORMAT } from '../kube/log.ts';
import { startHeartbeats } from '../runs/heartbeat.ts';
import { connectRunStore } from '../store/connection.ts';
import { createRecorder } from '../runs/record/recorder.ts';
import { runObjects } from '../runs/record/object.ts';
import { egressOf, runnerConfig } from './config.ts';
import { createCredentials, credentialResource } from './credentials.ts';
import { createUseRecorder } from './credentialUse.ts';
import { serveHealth } from '../kube/healthServer.ts';
import { createMetrics } from './metrics.ts';
import { startRunner } from './runner.ts';
import { createSecretReader } from './secrets.ts';
import { storeAccount } from './environment.ts';

/** The time that is reserved for handing back runs before the pod is killed. */
const HANDBACK_MS = 10_000;

const { config, env } = runnerConfig();
const { PROJECT_UID: project, POD_NAMESPACE: namespace, POD_NAME: pod, CONCURRENCY: concurrency } = config;
/**
 * Unique to this process: a restarted container must not count as the one that died with its claims.
 */
const runner = `${pod}_${randomBytes(4).toString('hex')}`;
/** An image has the program of the thread beside this one; outside of images, the default path is used. */
const heartbeatWorker = import.meta.url.endsWith('.mjs')
  ? { worker: new URL('./heartbeatWorker.mjs', import.meta.url) }
  : {};
// One destination for all lines, so that each is written whole.
const stdout = pino.destination(1);
const log = pino(
  { ...LINE_FORMAT, level: config.LOG_LEVEL, base: { program: 'runner', pod, runner } },
  stdout,
);
const audit = config.AUDIT_ENABLED
  ? createAudit({
      source: { program: 'runner', pod },
      write: (line) => void stdout.write(line),
      usesPerSecond: config.AUDIT_USES_PER_SECOND,
      clock: systemClock,
    })
  : undefined;
const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());

const account = storeAccount(config.REDIS_URL, config);
const conn = connectRunStore({ ...account, name: runner, log });
const connection = config.KUBECONFIG
  ? await kubeconfigConnection(config.KUBECONFIG)
  : inClusterConnection(env);
const kube = createClient(connection, { fieldManager: 'windlass-runner', userAgent: 'windlass-runner' });
const cache = createCache({ client: kube, resource: credentialResource, namespace, log });
const metrics = createMetrics({ defaults: true });
const unready = (): string | undefined => {
  if (!cache.hasSynced()) return 'credentials are not synced yet';
  return conn.healthy() ? undefined : 'the run store is unreachable';
};
const health = await serveHealth({ port: config.METRICS_PORT, registry: metrics.registry, unready });
const following = new AbortController();
const followed = cache.start(following.signal);
log.info({ project, namespace, concurrency, metricsPort: health.port }, 'listening');

// Without credentials every step would fail, so runs are claimed only after the cache has synced.
await Promise.race([cache.synced, new Promise((resolve) => stop.signal.addEventListener('abort', resolve))]);
const sandbox = config.CODE_ENABLED ? createSandbox() : undefined;
if (!stop.signal.aborted) {
  const active = startRunner({
    conn,
    project,
    namespace,
    runner,
    concurrency,
    attempts: config.ATTEMPTS,
    credentials: createCredentials(cache, createSecretReader(kube, namespace, { log }), namespace),
    ...(audit && { onCredentialUse: createUseRecorder(audit, namespace) }),
    egress: createEgress(egressOf(config)),
    ...(sandbox && { sandbox }),
    hasBot: () => cache.list().some(({ metadata }) => metadata.finalizers?.includes(BOT_FINALIZER)),
    heartbeats: startHeartbeats({ ...account, project, runner, ...heartbeatWorker }),
    readRecord: (run) => kube.find(runObjects, { namespace, name: run }),
    consoleUrl: config.CONSOLE_URL,
    prices: config.MODEL_PRICES,
    recorder: createRecorder({ conn, kube, project, namespace, log }),
    collectGarbage: garbageCollection(),
    metrics,
    log,
  });
  log.info({}, 'claiming runs');
  if (!stop.signal.aborted) await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
  log.info({}, 'shutting down');
  await active.stop(config.GRACE_SECONDS * 1_000 - HANDBACK_MS);
}
await sandbox?.close();
audit?.close();
following.abort();
await followed;
health.server.close();
await Promise.all([conn.close(), kube.close()]);
process.exit(0);
