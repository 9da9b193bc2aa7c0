/** The operator: turns workflows and credentials into what they need to run. This file only wires. */
import pino from 'pino';
import { inClusterConnection, kubeconfigConnection } from '../kube/config.ts';
import { operatorConfig } from './config.ts';
import { runOperator } from './start.ts';

const { config, env } = operatorConfig();
const log = pino({ level: config.LOG_LEVEL, base: { program: 'operator', pod: config.POD_NAME } });
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
  signal: stopping.signal,
  // At once: whatever is being written is safe to repeat, but two leaders are not to go on side by side.
  onLost: () => process.exit(1),
});
log.info({}, 'stopped');
