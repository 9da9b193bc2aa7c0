/**
 * The operator's configuration: its environment, read and validated once. An invalid value stops the process.
 */
import * as z from 'zod';
import { checkedAutoscaling, ENGINES, MOST_RUNNERS } from '../../api/autoscaling.ts';
import { DURATION_BOUNDS } from '../../api/duration.ts';
import {
  commaList,
  durationText,
  httpURL,
  integer,
  jsonText,
  logLevel,
  parseEnvironment,
  redisURL,
} from '../../api/environment.ts';
import { NO_PRICES, priceTable, type PriceTable } from '../../api/price.ts';
import { egressProblems, rulesInPod, type EgressRules } from '../../nodes/egress/rules.ts';
import { egressList } from '../../nodes/egress/variable.ts';
import { OPERATOR_ACCOUNT } from '../../store/accounts.ts';

const quantities = z.record(z.string(), z.string());
const resources = z.object({ requests: quantities.optional(), limits: quantities.optional() });
const DEFAULT_RESOURCES: z.infer<typeof resources> = {
  requests: { cpu: '50m', memory: '128Mi' },
  limits: { memory: '512Mi' },
};

/** The bounds of the ProjectSettings of a namespace. */
const settingsBounds = z.object({
  maxReplicas: z.int().min(1).max(MOST_RUNNERS).default(10),
  /** The engines that a project may choose. */
  autoscalingEngines: z.array(z.enum(ENGINES)).default(['Builtin']),
  egressAllow: z
    .array(z.string())
    .superRefine((entries, context) => {
      for (const message of egressProblems('allow', entries)) context.addIssue({ code: 'custom', message });
    })
    .default([]),
  priorityClassNames: z.array(z.string()).default([]),
  serviceAccountAnnotations: z.array(z.string()).default([]),
  /** Keys of taints. */
  tolerationKeys: z.array(z.string()).default([]),
  /** Keys of labels of nodes, in node selectors and node affinities. */
  nodeSelectorKeys: z.array(z.string()).default([]),
});

/** Rules of a NetworkPolicy, which the chart writes and the API server checks. */
const networkRules = z.object({
  ingress: z.array(z.record(z.string(), z.unknown())),
  egress: z.array(z.record(z.string(), z.unknown())),
});

const textOfPrices = z.string().superRefine((text, context) => {
  const parsed = jsonText(priceTable).safeParse(text);
  for (const { path, message } of parsed.error?.issues ?? [])
    context.addIssue({ code: 'custom', path, message });
});

const environment = z.object({
  /** The namespace of the operator and the gateway. Left out in a pod: the pod's own. */
  POD_NAMESPACE: z.string().min(1).optional(),
  /** The identity of this replica among the candidates for the Lease. */
  POD_NAME: z.string().min(1).default('windlass-operator'),
  /** The namespaces to watch, separated by commas. Left out: all. */
  WATCH_NAMESPACES: commaList.default([]),
  /** `true`: webhooks without authentication are refused in all namespaces. */
  WEBHOOKS_REQUIRE_AUTH: z.stringbool().default(false),
  /** Outside a cluster: the kubeconfig to use. */
  KUBECONFIG: z.string().min(1).optional(),
  /** Where clients outside the cluster reach the gateway's public listener, for `status.url`. */
  PUBLIC_URL: httpURL,
  /** The origin of the console in browsers, for links to failed runs. Left out: no links. */
  CONSOLE_URL: httpURL.optional(),
  /**
   * Where callers inside the cluster reach the gateway's internal listener. Left out: the last of its
   * Services, by HTTP.
   */
  INTERNAL_URL: httpURL.optional(),
  /** The gateway's Services. Their ready endpoints are the replicas that must serve a workflow. */
  GATEWAY_SERVICES: commaList.default(['windlass-gateway', 'windlass-gateway-internal']),
  /** The run store, without user and password; runners in every namespace must reach it by this name. */
  REDIS_URL: redisURL,
  /**
   * With rediss://: a file with the certificate authorities (PEM). Runners, ticks and poll pods get them,
   * too. Left out: public ones.
   */
  REDIS_CA_FILE: z.string().min(1).optional(),
  /** The user that may manage ACL users. */
  REDIS_USERNAME: z.string().min(1).default(OPERATOR_ACCOUNT),
  /**
   * The user of all runners, supplied from outside: the operator then manages no ACL users, and runners of a
   * project can reach the keys of others. Its password is `runner-password` of the Secret. Left out: the
   * operator creates a user for each project.
   */
  REDIS_RUNNER_USERNAME: z.string().min(1).optional(),
  /** The Secret in the operator's namespace that holds `operator-password` and `gateway-password`. */
  REDIS_SECRET: z.string().min(1).default('windlass-run-store'),
  /** `true`: the operator creates that Secret if it is missing. `false`: an administrator does. */
  REDIS_SECRET_CREATE: z.stringbool().default(true),
  RUNNER_IMAGE: z.string().min(1),
  RUNNER_IMAGE_PULL_POLICY: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent'),
  RUNNER_IMAGE_PULL_SECRETS: commaList.default([]),
  RUNNER_REPLICAS: integer(1, MOST_RUNNERS).default(1),
  /** JSON: how the number of runners of a project follows its backlog. Left out: it is RUNNER_REPLICAS. */
  RUNNER_AUTOSCALING: jsonText(checkedAutoscaling).optional(),
  /** After how long without work the runners of a project sleep, such as 30m; 0s: never. */
  RUNNER_SLEEP_AFTER: durationText({ ...DURATION_BOUNDS.sleepAfter, least: '0s' }).default(0),
  /** Where KEDA reaches the metrics port of the operator. Left out: the operator writes no ScaledObjects. */
  SCALING_URL: httpURL.optional(),
  /** JSON: the resources of a runner's container. */
  RUNNER_RESOURCES: jsonText(resources).default(DEFAULT_RESOURCES),
  /** JSON: the resources of a tick's container, which runs for moments at each scheduled time. */
  TICK_RESOURCES: jsonText(resources).default({
    requests: { cpu: '10m', memory: '48Mi' },
    limits: { memory: '128Mi' },
  }),
  /** JSON: the resources of the container that polls accounts, each minute for moments. */
  POLL_RESOURCES: jsonText(resources).default({
    requests: { cpu: '10m', memory: '64Mi' },
    limits: { memory: '384Mi' },
  }),
  /** JSON: further environment variables of a runner, name to value. */
  RUNNER_ENV: jsonText(z.record(z.string(), z.string())).default({}),
  /** Where steps may connect to beside the Internet, separated by commas: ranges, and hosts with a port. */
  RUNNER_EGRESS_ALLOW: egressList('allow'),
  /** Where steps may not connect to, separated by commas: ranges. */
  RUNNER_EGRESS_DENY: egressList('deny'),
  /** `false`: workflows with code nodes are invalid, and runners execute no code. */
  RUNNER_CODE_ENABLED: z.stringbool().default(true),
  /**
   * JSON: the prices of models (`pricesOf`). Runners get the same text, which an admission policy compares.
   * Left out: none is known.
   */
  MODEL_PRICES: textOfPrices.optional(),
  /** JSON: the bounds of the ProjectSettings of a namespace. */
  PROJECT_SETTINGS_BOUNDS: jsonText(settingsBounds).default(settingsBounds.parse({})),
  /**
   * Of the pod: the addresses of the API server and of the node. Steps and providers may not connect to them.
   */
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  HOST_IP: z.string().optional(),
  /** Writes per second for creating and pruning records, of all projects and of one. */
  RECORD_WRITES_PER_SECOND: integer(6, 10_000).default(200),
  PROJECT_RECORD_WRITES_PER_SECOND: integer(2, 10_000).default(100),
  /** JSON: the rules of the runners' NetworkPolicy. Left out: the operator creates none. */
  RUNNER_NETWORK: jsonText(networkRules).optional(),
  /** `true`: a PodDisruptionBudget has node drains evict the runners of a project one by one. */
  RUNNER_DISRUPTION_BUDGET: z.stringbool().default(false),
  /** Seconds after which a runner is replaced when its node is not ready or unreachable. */
  RUNNER_LOST_NODE_SECONDS: integer(0, 86_400).default(30),
  /** The port of /healthz, /readyz and /metrics. */
  METRICS_PORT: integer(0, 65_535).default(9090),
  /** The number of workflows, and of namespaces, that metrics name; all others share one label value. */
  METRICS_WORKFLOWS: integer(0, 100_000).default(500),
  LEASE_NAME: z.string().min(1).default('windlass-operator'),
  /** False: no audit trail on stdout, here and in runners. LOG_LEVEL does not affect it. */
  AUDIT_ENABLED: z.stringbool().default(true),
  /**
   * Lines of the audit trail a second: about what was refused or failed, and, in each runner, about uses of
   * credentials.
   */
  AUDIT_REFUSED_PER_SECOND: integer(1, 10_000).default(10),
  AUDIT_USES_PER_SECOND: integer(1, 10_000).default(100),
  LOG_LEVEL: logLevel,
});

/** Without the address KEDA would have nothing to ask. */
const checked = environment.superRefine(
  ({ SCALING_URL: url, RUNNER_AUTOSCALING: scaling, ...rest }, context) => {
    const engines = [scaling?.engine, ...rest.PROJECT_SETTINGS_BOUNDS.autoscalingEngines];
    if (url === undefined && engines.includes('KEDA'))
      context.addIssue({ code: 'custom', path: ['SCALING_URL'], message: 'is required by the engine KEDA' });
  },
);

export type OperatorConfig = z.infer<typeof environment>;

/** Reads the environment. Throws an Error that names every missing or invalid variable, never a value. */
export function readConfig(env: Record<string, string | undefined>): OperatorConfig {
  return parseEnvironment(checked, env, 'operator');
}

/** Where the operator may connect to for OAuth providers that authors name: the same as steps. */
export function egressOf(config: OperatorConfig): EgressRules {
  const { RUNNER_EGRESS_ALLOW: allow, RUNNER_EGRESS_DENY: deny } = config;
  return rulesInPod({ allow, deny }, [config.KUBERNETES_SERVICE_HOST, config.HOST_IP]);
}

/** The operator's own configuration, and the environment that a pod finds the API server by. */
export function operatorConfig(): { config: OperatorConfig; env: Record<string, string | undefined> } {
  return { config: readConfig(process.env), env: process.env };
}

/** The prices of models. */
export function pricesOf({ MODEL_PRICES: text }: Pick<OperatorConfig, 'MODEL_PRICES'>): PriceTable {
  return text === undefined ? NO_PRICES : jsonText(priceTable).parse(text);
}
