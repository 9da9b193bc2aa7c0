/**
 * The runner's configuration: its environment, read and validated once. An invalid value stops the process.
 */
import * as z from 'zod';
import { integer, jsonText, logLevel, parseEnvironment, redisURL } from '../api/environment.ts';
import { NO_PRICES, priceTable } from '../api/price.ts';
import { rulesInPod, type EgressRules } from '../nodes/egress/rules.ts';
import { egressList } from '../nodes/egress/variable.ts';

const environment = z.object({
  /** The uid of the namespace, which identifies the project in the run store. */
  PROJECT_UID: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  POD_NAMESPACE: z.string().min(1),
  /** The pod's name, which is the name of the runner. */
  POD_NAME: z.string().min(1),
  /** URL of the run store, without user and password. */
  REDIS_URL: redisURL,
  REDIS_USERNAME: z.string().min(1).optional(),
  REDIS_PASSWORD: z.string().min(1).optional(),
  /** For rediss://: PEM file with the certificate authorities. Left out: public ones. */
  REDIS_CA_FILE: z.string().min(1).optional(),
  /** Outside a cluster: path of the kubeconfig. */
  KUBECONFIG: z.string().min(1).optional(),
  /** How many runs execute concurrently. */
  CONCURRENCY: integer(1, 1_000).default(50),
  /** How many attempts of steps are in flight at most, beside one of each run. */
  ATTEMPTS: integer(1, 10_000).default(200),
  /** The pod's terminationGracePeriodSeconds: runs may continue until 10 s before its end. */
  GRACE_SECONDS: integer(5, 3_600).default(60),
  /** The port of /healthz, /readyz and /metrics. */
  METRICS_PORT: integer(0, 65_535).default(9090),
  /**
   * Destinations that steps may connect to beside the Internet, comma-separated: ranges, and hosts with a
   * port.
   */
  EGRESS_ALLOW: egressList('allow'),
  /** Ranges that steps may not connect to, comma-separated. */
  EGRESS_DENY: egressList('deny'),
  /**
   * The addresses of the API server and of the node with its kubelet, which Kubernetes sets. Steps may not
   * connect to them.
   */
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  HOST_IP: z.string().optional(),
  /** The origin of the console in browsers. Left out: events of failed runs have no link. */
  CONSOLE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** False: code steps fail. */
  CODE_ENABLED: z.stringbool().default(true),
  /** JSON: the prices of models. */
  MODEL_PRICES: jsonText(priceTable).default(NO_PRICES),
  /** False: no audit trail on stdout. LOG_LEVEL does not affect it. */
  AUDIT_ENABLED: z.stringbool().default(true),
  /** Audit lines per second about uses of credentials; the lines of five seconds may come at once. */
  AUDIT_USES_PER_SECOND: integer(1, 10_000).default(100),
  LOG_LEVEL: logLevel,
});

export type RunnerConfig = z.infer<typeof environment>;

/** Reads the environment. Throws an Error that names every missing or invalid variable, never a value. */
export function readConfig(env: Record<string, string | undefined>): RunnerConfig {
  return parseEnvironment(environment, env, 'runner');
}

/**
 * The egress rules of steps. They deny the API server and the node, if the environment has their addresses.
 */
export function egressOf(config: RunnerConfig): EgressRules {
  const { EGRESS_ALLOW: allow, EGRESS_DENY: deny, KUBERNETES_SERVICE_HOST: server, HOST_IP: node } = config;
  return rulesInPod({ allow, deny }, [server, node]);
}

/** The configuration, and the environment with the API server's address in a pod. */
export function runnerConfig(): { config: RunnerConfig; env: Record<string, string | undefined> } {
  return { config: readConfig(process.env), env: process.env };
}
