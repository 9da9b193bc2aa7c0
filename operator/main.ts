/** The operator program. This file only wires. */
import pino from 'pino';
import { createAudit, NO_AUDIT } from '../api/audit/audit.ts';
import { systemClock } from '../kube/clock.ts';
import { inClusterConnection, kubeconfigConnection } from '../kube/config.ts';
import { LINE_FORMAT } from '../kube/log.ts';
import { operatorConfig } from './shared/config.ts';
import { runOperator } from './start.ts';

const { config, env } = operatorConfig();
const { POD_NAME: pod } = config;
// One destination for log and audit trail, so that lines are not interleaved.
const stdout = pino.destination(1);
const log = pino({ ...LINE_FORMAT, level: config.LOG_LEVEL, base: { program: 'operator', pod } }, stdout);
const audit = config.AUDIT_ENABLED
  ? createAudit({
      source: { program: 'operator', pod },
      write: (line) => void stdout.write(line),
      refusedPerSecond: config.AUDIT_REFUSED_PER_SECOND,
      clock: systemClock,
    })
  : NO_AUDIT;
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
process.once('SIGINT', () => stopping.abort());

const connection =
  config.KUBECONFIG === undefined ? inClusterConnection(env) : await kubeconfigConnection(config.KUBECONFIG);
const namespace = config.POD_NAMESPACE ?? connection.namespace;
if (namespace === undefined) throw new Error('POD_NAMESPACE is not set, and no context names a namespace.');

await runOperator({
  config,
  connection,
  namespace,
  log,
  audit,
  signal: stopping.signal,
  // Exit at once: interrupted writes can be repeated, but two leaders must not run at the same time.
  onLost: () => process.exit(1),
});
log.info({}, 'stopped');
