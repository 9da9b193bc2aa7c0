/** The gateway program. Wires everything together. */
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { createAudit, NO_AUDIT } from '../api/audit/audit.ts';
import { createClient } from '../kube/client.ts';
import { systemClock } from '../kube/clock.ts';
import { inClusterConnection, kubeconfigConnection } from '../kube/config.ts';
import { LINE_FORMAT } from '../kube/log.ts';
import { createPassThrough } from '../kube/passThrough.ts';
import { createUndiciPool } from '../kube/undiciPool.ts';
import { connectRunStore } from '../store/connection.ts';
import { createReplyWaiter } from '../runs/reply.ts';
import { createSubmitter } from '../runs/submitter.ts';
import { createAccessLog } from './http/accessLog.ts';
import { acknowledgeRoutes, NO_LEASE, type Acknowledged } from './routing/acknowledge.ts';
import { consoleSettings, gatewayConfig } from './config.ts';
import type { GatewayDeps } from './endpoint/deps.ts';
import { followRoutes } from './routing/follow.ts';
import { createHealth } from './endpoint/health.ts';
import { createLimits } from './limits/limits.ts';
import { createAccess } from './access/access.ts';
import { createRecordLists } from './endpoint/records.ts';
import { closeGracefully, listen } from './listen.ts';
import { createMetrics } from './http/metrics.ts';
import { createRouteTable } from './routing/table.ts';
import { buildInternal, buildMetrics, buildPublic } from './server.ts';
import { openListenerCertificate } from './tls/certificate.ts';

const { config, env } = gatewayConfig();
const { POD_NAME: pod } = config;
// Shared by all writers, so that each line is written whole.
const stdout = pino.destination(1);
const log = pino({ ...LINE_FORMAT, level: config.LOG_LEVEL, base: { program: 'gateway', pod } }, stdout);
const write = (line: string) => void stdout.write(line);
const stopping = new AbortController();
const closing = new AbortController();
const ended = new AbortController();

const connection =
  config.KUBECONFIG === undefined ? inClusterConnection(env) : await kubeconfigConnection(config.KUBECONFIG);
const client = createClient(connection, {
  fieldManager: 'windlass-gateway',
  userAgent: 'windlass-gateway',
  createPool: createUndiciPool,
});
const kube = createPassThrough(connection, 'windlass-console');
const runs = connectRunStore({
  url: config.REDIS_URL,
  name: config.POD_NAME,
  log,
  ...(config.REDIS_USERNAME !== undefined && { username: config.REDIS_USERNAME }),
  ...(config.REDIS_PASSWORD !== undefined && { password: config.REDIS_PASSWORD }),
  ...(config.REDIS_CA_FILE !== undefined && { caFile: config.REDIS_CA_FILE }),
});
const waiter = createReplyWaiter(runs);
const routes = createRouteTable();
let acknowledged: Acknowledged | undefined;
const followed = followRoutes({
  client,
  namespaces: config.WATCH_NAMESPACES,
  table: routes,
  onChange: () => acknowledged?.changed(),
  log,
  signal: ended.signal,
});
const health = createHealth({
  routesAgeMs: followed.ageMs,
  lease: () => acknowledged?.lease() ?? NO_LEASE,
  draining: () => stopping.signal.aborted,
});
const open = { waiters: 0, streams: 0 };
const limits = createLimits(config.LIMITS, config.TRUSTED_PROXIES);
const metrics = createMetrics({
  routes: routes.size,
  routesAgeSeconds: () => (health.synced() ? followed.ageMs() / 1_000 : undefined),
  open,
  refused: limits.refused,
  inFlightBytes: limits.inFlight.bytes,
});
const settings = consoleSettings(config);
const audit = config.AUDIT_ENABLED
  ? createAudit({
      source: { program: 'gateway', pod },
      write,
      refusedPerSecond: config.AUDIT_REFUSED_PER_SECOND,
      clock: systemClock,
    })
  : NO_AUDIT;
const { addresses } = limits;
const { ACCESS_LOG_SAMPLE: sample } = config;
const accessLog = config.ACCESS_LOG_ENABLED
  ? createAccessLog({ pod, sample, addresses, write, clock: systemClock })
  : undefined;
const deps: GatewayDeps = {
  routes,
  runs,
  submit: createSubmitter(runs),
  waiter,
  access: createAccess({ client, provider: settings?.oidc, metrics, log }),
  publicURL: config.PUBLIC_URL,
  console: settings,
  records: createRecordLists(client),
  client,
  kube,
  namespaces: config.WATCH_NAMESPACES,
  health,
  metrics,
  open,
  limits,
  draining: stopping.signal,
  closing: closing.signal,
  log,
  audit,
  ...(accessLog && { accessLog }),
};

const [publicTLS, internalTLS] = await Promise.all(
  [config.PUBLIC_TLS_DIR, config.INTERNAL_TLS_DIR].map(openListenerCertificate),
);
const apps = [
  buildPublic(deps, publicTLS?.certificate),
  buildInternal(deps, internalTLS?.certificate),
  buildMetrics(deps),
] as const;
for (const [listener, tls, { server }] of [
  ['public', publicTLS, apps[0]],
  ['internal', internalTLS, apps[1]],
] as const) {
  if (tls === undefined) continue;
  metrics.certificates.set(listener, tls.expires);
  void tls.follow(server, { log: log.child({ listener }), signal: ended.signal });
}
const [publicPort, internalPort, metricsPort] = await Promise.all([
  listen(apps[0], config.PUBLIC_PORT, config.BIND_ADDRESS),
  listen(apps[1], config.INTERNAL_PORT, config.BIND_ADDRESS),
  listen(apps[2], config.METRICS_PORT, config.BIND_ADDRESS),
]);
log.info({ publicPort, internalPort, metricsPort }, 'listening');

process.once('SIGTERM', () => stopping.abort());
process.once('SIGINT', () => stopping.abort());
stopping.signal.addEventListener('abort', () => void stop());

// Shut down before all routes were known: nothing to acknowledge.
if (
  await followed.synced.then(
    () => true,
    () => false,
  )
) {
  acknowledged = acknowledgeRoutes({
    client,
    table: routes,
    pod: { namespace: config.POD_NAMESPACE, name: config.POD_NAME, uid: config.POD_UID },
    identity: `${config.POD_NAME}_${randomUUID()}`,
    log,
    signal: ended.signal,
  });
  log.info({ routes: routes.size() }, 'synced all routes');
}

async function stop(): Promise<void> {
  log.info({}, 'shutting down');
  await closeGracefully([...apps], {
    drainMs: config.DRAIN_SECONDS * 1_000,
    closeMs: config.CLOSE_SECONDS * 1_000,
    onDrained: () => closing.abort(),
  });
  ended.abort();
  audit.close();
  accessLog?.close();
  waiter.close();
  await acknowledged?.stopped;
  await client.close();
  await kube.close();
  await runs.close();
  log.info({}, 'stopped');
}
