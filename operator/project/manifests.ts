/**
 * The objects of a runner pool: ServiceAccount, Role, RoleBinding, Secret, NetworkPolicy, PodDisruptionBudget
 * and Deployment. Pure.
 */
import { GROUP } from '../../api/group.ts';
import type { Manifest } from '../../kube/writes.ts';
import type {
  Deployment,
  PolicyRule,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '../../kube/resource.ts';
import type { NetworkPolicy, PodDisruptionBudget } from '../shared/resources.ts';
import { AUTHORITY_KEY, authorityMount } from '../pods/authority.ts';
import { METRICS_PORT, poolEnvironment } from '../pods/environment.ts';
import { POLL, POOL, POOL_LABELS, TICK } from '../shared/names.ts';
import type { PoolAccount } from '../shared/poolAccounts.ts';
import { placedRunner, RESTRICTED_CONTAINER, restrictedPod } from '../pods/podSpec.ts';
import { mayHaveSeveral, scalingOf } from '../pods/scaling.ts';
import type { ProjectConfig } from '../pods/settings.ts';

/** The key of the pool's Secret with the keys of callbacks. Pods do not get it. */
export const CALLBACK_KEYS = 'callback-keys';
/** The only writable directory. */
const TEMPORARY = '/tmp';
/** Enough for a runner to finish its runs, or hand them back. */
const GRACE_SECONDS = 60;
const metadata = (namespace: string) => ({ name: POOL, namespace, labels: { ...POOL_LABELS } });

/**
 * The identity of the runners. Only their pods mount its token. `annotations`: for the workload identity of a
 * cloud.
 */
export function poolServiceAccount(
  namespace: string,
  annotations: Record<string, string> = {},
): Manifest<ServiceAccount> {
  const isAnnotated = Object.keys(annotations).length > 0;
  return {
    metadata: { ...metadata(namespace), ...(isAnnotated && { annotations }) },
    automountServiceAccountToken: false,
  };
}

/** The rights of runners: record runs, read credentials, and read the Secrets of the credentials in use. */
export function poolRole(namespace: string, secretNames: readonly string[]): Manifest<Role> {
  const rules: PolicyRule[] = [
    { apiGroups: [GROUP], resources: ['credentials'], verbs: ['list', 'watch'] },
    { apiGroups: [GROUP], resources: ['workflowruns'], verbs: ['create', 'get'] },
    { apiGroups: [GROUP], resources: ['workflowruns/status'], verbs: ['patch'] },
    // The admission policy admits WorkflowRuns, also records, only from accounts that may execute their
    // workflow.
    { apiGroups: [GROUP], resources: ['workflows/execute'], verbs: ['create'] },
  ];
  const resourceNames = [...new Set(secretNames)].toSorted();
  // A rule without names would mean every Secret.
  if (resourceNames.length > 0)
    rules.push({ apiGroups: [''], resources: ['secrets'], resourceNames, verbs: ['get'] });
  return { metadata: metadata(namespace), rules };
}

export function poolRoleBinding(namespace: string): Manifest<RoleBinding> {
  return {
    metadata: metadata(namespace),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: POOL },
    subjects: [{ kind: 'ServiceAccount', name: POOL, namespace }],
  };
}

/** The pool's account in the run store. */

/** `authority`: PEM, those of the run store. `callbackKeys`: as text (`callbackKeys.ts`). */
export function poolSecret(
  namespace: string,
  account: PoolAccount,
  { authority, callbackKeys }: { authority?: string | undefined; callbackKeys?: string } = {},
): Manifest<Secret> {
  const encoded = (text: string) => Buffer.from(text, 'utf8').toString('base64');
  const data = {
    username: encoded(account.username),
    password: encoded(account.password),
    ...(callbackKeys !== undefined && { [CALLBACK_KEYS]: encoded(callbackKeys) }),
    ...(authority !== undefined && { [AUTHORITY_KEY]: encoded(authority) }),
  };
  return { metadata: metadata(namespace), type: 'Opaque', data };
}

/** The network rules of runners, ticks and poll pods; undefined if the chart configures none. */
export function poolNetworkPolicy(
  namespace: string,
  { RUNNER_NETWORK: rules }: Pick<ProjectConfig, 'RUNNER_NETWORK'>,
): Manifest<NetworkPolicy> | undefined {
  if (rules === undefined) return undefined;
  const podSelector = {
    matchLabels: { 'app.kubernetes.io/managed-by': POOL_LABELS['app.kubernetes.io/managed-by'] },
    matchExpressions: [
      { key: 'app.kubernetes.io/name', operator: 'In' as const, values: [POOL, TICK, POLL] },
    ],
  };
  const spec = { podSelector, policyTypes: ['Ingress', 'Egress'], ...rules };
  return { metadata: metadata(namespace), spec };
}

/** Has node drains evict the runners one by one; undefined if not configured, or for a single runner. */
export function poolDisruptionBudget(
  namespace: string,
  config: Pick<ProjectConfig, 'RUNNER_DISRUPTION_BUDGET' | 'RUNNER_REPLICAS' | 'RUNNER_AUTOSCALING'>,
): Manifest<PodDisruptionBudget> | undefined {
  if (!config.RUNNER_DISRUPTION_BUDGET || !mayHaveSeveral(scalingOf(config))) return undefined;
  const selector = { matchLabels: { ...POOL_LABELS } };
  const spec = { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' as const, selector };
  return { metadata: metadata(namespace), spec };
}

/** The configuration that a pool depends on. */
export type PoolConfig = Pick<
  ProjectConfig,
  | 'RUNNER_IMAGE'
  | 'RUNNER_IMAGE_PULL_POLICY'
  | 'RUNNER_IMAGE_PULL_SECRETS'
  | 'RUNNER_RESOURCES'
  | 'RUNNER_ENV'
  | 'RUNNER_EGRESS_ALLOW'
  | 'RUNNER_EGRESS_DENY'
  | 'RUNNER_CODE_ENABLED'
  | 'MODEL_PRICES'
  | 'CONSOLE_URL'
  | 'REDIS_URL'
  | 'REDIS_CA_FILE'
  | 'AUDIT_ENABLED'
  | 'AUDIT_USES_PER_SECOND'
  | 'LOG_LEVEL'
  | 'RUNNER_LOST_NODE_SECONDS'
  | 'placement'
>;

/**
 * `account`: a hash of the Secret's content, so that a new account replaces the pods. `replicas` left out:
 * somebody else sets them.
 */
export function poolDeployment(
  project: { namespace: string; uid: string },
  config: PoolConfig,
  account: string,
  replicas?: number,
): Manifest<Deployment> {
  const labels = { ...POOL_LABELS };
  const annotations = { [`${GROUP}/account`]: account };
  return {
    metadata: metadata(project.namespace),
    spec: {
      ...(replicas !== undefined && { replicas }),
      revisionHistoryLimit: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: podSpec(project.uid, config) },
    },
  };
}

type PodSpec = NonNullable<NonNullable<NonNullable<Deployment['spec']>['template']>['spec']>;
type Container = PodSpec['containers'][number];

function podSpec(projectUid: string, config: PoolConfig): PodSpec {
  const { volumes = [] } = authorityMount(config);
  return {
    ...restrictedPod(config),
    automountServiceAccountToken: true,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    ...placedRunner(config),
    containers: [container(projectUid, config)],
    volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }, ...volumes],
  };
}

function container(projectUid: string, config: PoolConfig): Container {
  const { requests, limits } = config.RUNNER_RESOURCES;
  const { volumeMounts = [] } = authorityMount(config);
  return {
    name: 'runner',
    image: config.RUNNER_IMAGE,
    imagePullPolicy: config.RUNNER_IMAGE_PULL_POLICY,
    command: ['node', '/app/runner.mjs'],
    env: poolEnvironment(projectUid, config, [
      ...codeEnvironment(config),
      ...priceEnvironment(config),
      ...consoleEnvironment(config),
      ...auditEnvironment(config),
    ]),
    ports: [{ name: 'metrics', containerPort: METRICS_PORT }],
    resources: { ...(requests && { requests }), ...(limits && { limits }) },
    securityContext: RESTRICTED_CONTAINER,
    startupProbe: { httpGet: { path: '/healthz', port: 'metrics' }, periodSeconds: 1, failureThreshold: 60 },
    livenessProbe: { httpGet: { path: '/healthz', port: 'metrics' }, periodSeconds: 10, timeoutSeconds: 5 },
    readinessProbe: { httpGet: { path: '/readyz', port: 'metrics' }, periodSeconds: 2, timeoutSeconds: 2 },
    volumeMounts: [{ name: 'tmp', mountPath: TEMPORARY }, ...volumeMounts],
  };
}

/** Only where it is off, so that an upgrade changes no pods. */
function codeEnvironment({
  RUNNER_CODE_ENABLED: isEnabled,
}: Pick<PoolConfig, 'RUNNER_CODE_ENABLED'>): NonNullable<Container['env']> {
  return isEnabled ? [] : [{ name: 'CODE_ENABLED', value: 'false' }];
}

function priceEnvironment({
  MODEL_PRICES: value,
}: Pick<PoolConfig, 'MODEL_PRICES'>): NonNullable<Container['env']> {
  return value === undefined ? [] : [{ name: 'MODEL_PRICES', value }];
}

function consoleEnvironment({
  CONSOLE_URL: value,
}: Pick<PoolConfig, 'CONSOLE_URL'>): NonNullable<Container['env']> {
  return value === undefined ? [] : [{ name: 'CONSOLE_URL', value }];
}

function auditEnvironment(
  config: Pick<PoolConfig, 'AUDIT_ENABLED' | 'AUDIT_USES_PER_SECOND'>,
): { name: string; value: string }[] {
  const { AUDIT_ENABLED, AUDIT_USES_PER_SECOND } = config;
  return Object.entries({ AUDIT_ENABLED, AUDIT_USES_PER_SECOND }).map(([name, value]) => ({
    name,
    value: String(value),
  }));
}
