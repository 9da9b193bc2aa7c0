/**
 * What a runner is told from outside: its environment, read once and checked. A value that makes no sense
 * stops it.
 */
import * as z from 'zod';
import { egressProblems, rulesInPod, type EgressRules } from '../nodes/egress/rules.ts';

const entries = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

const rules = (list: 'allow' | 'deny') =>
  entries
    .superRefine((texts, context) => {
      for (const message of egressProblems(list, texts)) context.addIssue({ code: 'custom', message });
    })
    .default([]);

const count = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

const environment = z.object({
  /** The uid of the project's namespace, which names the project in the run store. */
  PROJECT_UID: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  POD_NAMESPACE: z.string().min(1),
  /** Who this runner is among those that claim. */
  POD_NAME: z.string().min(1),
  /** The run store, without user and password. */
  REDIS_URL: z.url({ protocol: /^rediss?$/ }),
  REDIS_USERNAME: z.string().min(1).optional(),
  REDIS_PASSWORD: z.string().min(1).optional(),
  /** With rediss://: a file with the authorities (PEM) of its certificate. Left out: public ones. */
  REDIS_CA_FILE: z.string().min(1).optional(),
  /** Outside a cluster: the kubeconfig to use. */
  KUBECONFIG: z.string().min(1).optional(),
  /** How many runs are executed at the same time. */
  CONCURRENCY: count(1, 1_000).default(50),
  /** The pod's terminationGracePeriodSeconds: runs may go on until 10 s before its end. */
  GRACE_SECONDS: count(5, 3_600).default(60),
  /** The port of /healthz, /readyz and /metrics. */
  METRICS_PORT: count(0, 65_535).default(9090),
  /** Where steps may connect to beside the Internet, with commas: ranges, and hosts with a port. */
  EGRESS_ALLOW: rules('allow'),
  /** Where they may not, with commas: ranges. */
  EGRESS_DENY: rules('deny'),
  /**
   * The pod's own: the address of the API server, and that of the node with its kubelet. Steps may not
   * connect to them either.
   */
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  HOST_IP: z.string().optional(),
  /** False: no audit trail on stdout. LOG_LEVEL has no say in it. */
  AUDIT_ENABLED: z.stringbool().default(true),
  /** Lines of the audit trail a second about uses of credentials; those of five seconds may come at once. */
  AUDIT_USES_PER_SECOND: count(1, 10_000).default(100),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
});

export type RunnerConfig = z.infer<typeof environment>;

/** Reads the environment. Throws an Error that names every variable that is missing or makes no sense. */
export function readConfig(env: Record<string, string | undefined>): RunnerConfig {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = environment.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The runner's environment is not usable.\n  ${problems.join('\n  ')}`);
}

/**
 * Where steps may connect to. The API server and the node are denied by their addresses, as far as the pod
 * knows these.
 */
export function egressOf(config: RunnerConfig): EgressRules {
  const { EGRESS_ALLOW: allow, EGRESS_DENY: deny, KUBERNETES_SERVICE_HOST: server, HOST_IP: node } = config;
  return rulesInPod({ allow, deny }, [server, node]);
}

/** The runner's own configuration. What the pod says about the API server comes with it. */
export function runnerConfig(): { config: RunnerConfig; env: Record<string, string | undefined> } {
  return { config: readConfig(process.env), env: process.env };
}
