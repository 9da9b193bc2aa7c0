/**
 * What a runner pool consists of, as pure functions: ServiceAccount, Role, RoleBinding, Secret, NetworkPolicy,
 * PodDisruptionBudget and Deployment of one namespace.
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
import type { NetworkPolicy, PodDisruptionBudget } from '../resources.ts';
import { TICK } from '../schedule/cronJob.ts';
import { AUTHORITY_KEY, authorityMount, authorityVariable } from './authority.ts';
import { POLL, POOL, POOL_LABELS } from './names.ts';
import { placedRunner } from './placement.ts';
import { RESTRICTED_CONTAINER, restrictedPod } from './restricted.ts';
import type { ProjectConfig } from './settings.ts';

/** Below this path the root is read-only. */
const TEMPORARY = '/tmp';
const METRICS_PORT = 9090;
/** Enough for a runner to finish or hand back what it holds. */
const GRACE_SECONDS = 60;
/**
 * Of the container's memory, since what is outside of the heap needs room. By itself Node takes at least 256 MiB for its heap,
 * also where that is all that the container has. The room for young objects is named, since Node would choose it by the memory of
 * the container: with less of it the collector runs more often, with more of it no run begins for longer at a time.
 */
const HEAP = {
  name: 'NODE_OPTIONS',
  value: '--max-old-space-size-percentage=50 --max-semi-space-size=16',
};

const metadata = (namespace: string) => ({ name: POOL, namespace, labels: { ...POOL_LABELS } });

/** The identity of the runners. Its token is mounted in their pods alone. `annotations`: by which a cloud knows it. */
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

/** What runners may do: record runs, read credentials, and read those Secrets that the credentials in use name. */
export function poolRole(namespace: string, secretNames: readonly string[]): Manifest<Role> {
  const rules: PolicyRule[] = [
    { apiGroups: [GROUP], resources: ['credentials'], verbs: ['list', 'watch'] },
    { apiGroups: [GROUP], resources: ['workflowruns'], verbs: ['create', 'get'] },
    { apiGroups: [GROUP], resources: ['workflowruns/status'], verbs: ['patch'] },
    // Whoever makes a record, which is a WorkflowRun, must be allowed to execute its workflow: so says the admission policy.
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
export type PoolAccount = { username: string; password: string };

/** `authority`: PEM, what the run store's certificate is checked with. */
export function poolSecret(namespace: string, account: PoolAccount, authority?: string): Manifest<Secret> {
  const encoded = (text: string) => Buffer.from(text, 'utf8').toString('base64');
  const data = {
    username: encoded(account.username),
    password: encoded(account.password),
    ...(authority !== undefined && { [AUTHORITY_KEY]: encoded(authority) }),
  };
  return { metadata: metadata(namespace), type: 'Opaque', data };
}

/** Who may talk to runners, ticks and poll pods and whom they may talk to; undefined where that is not ours to say. */
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

/** Has drains of nodes take the runners one by one; undefined where that is not wanted or there is only one. */
export function poolDisruptionBudget(
  namespace: string,
  config: Pick<ProjectConfig, 'RUNNER_DISRUPTION_BUDGET' | 'RUNNER_REPLICAS'>,
): Manifest<PodDisruptionBudget> | undefined {
  if (!config.RUNNER_DISRUPTION_BUDGET || config.RUNNER_REPLICAS < 2) return undefined;
  const selector = { matchLabels: { ...POOL_LABELS } };
  const spec = { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' as const, selector };
  return { metadata: metadata(namespace), spec };
}

/** What of the configuration makes a pool. */
export type PoolConfig = Pick<
  ProjectConfig,
  | 'RUNNER_IMAGE'
  | 'RUNNER_IMAGE_PULL_POLICY'
  | 'RUNNER_IMAGE_PULL_SECRETS'
  | 'RUNNER_REPLICAS'
  | 'RUNNER_RESOURCES'
  | 'RUNNER_ENV'
  | 'RUNNER_EGRESS_ALLOW'
  | 'RUNNER_EGRESS_DENY'
  | 'RUNNER_CODE_ENABLED'
  | 'REDIS_URL'
  | 'REDIS_CA_FILE'
  | 'AUDIT_ENABLED'
  | 'AUDIT_USES_PER_SECOND'
  | 'LOG_LEVEL'
  | 'placement'
>;

/** The runners. `account` is a hash of the Secret's content: with another account new pods come. */
export function poolDeployment(
  project: { namespace: string; uid: string },
  config: PoolConfig,
  account: string,
): Manifest<Deployment> {
  const labels = { ...POOL_LABELS };
  const annotations = { [`${GROUP}/account`]: account };
  return {
    metadata: metadata(project.namespace),
    spec: {
      replicas: config.RUNNER_REPLICAS,
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
    ...placedRunner(config.placement),
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
    env: poolEnvironment(projectUid, config, [...codeEnvironment(config), ...auditEnvironment(config)]),
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

function auditEnvironment(
  config: Pick<PoolConfig, 'AUDIT_ENABLED' | 'AUDIT_USES_PER_SECOND'>,
): { name: string; value: string }[] {
  const { AUDIT_ENABLED, AUDIT_USES_PER_SECOND } = config;
  return Object.entries({ AUDIT_ENABLED, AUDIT_USES_PER_SECOND }).map(([name, value]) => ({
    name,
    value: String(value),
  }));
}

/** What of the configuration is in the environment of a pool's pods. */
type EnvironmentConfig = Pick<
  PoolConfig,
  | 'RUNNER_RESOURCES'
  | 'RUNNER_ENV'
  | 'RUNNER_EGRESS_ALLOW'
  | 'RUNNER_EGRESS_DENY'
  | 'REDIS_URL'
  | 'REDIS_CA_FILE'
  | 'LOG_LEVEL'
>;

/** The environment of a runner, and of whatever else of the project connects to hosts that its people name; `more` is of one of them. */
export function poolEnvironment(
  projectUid: string,
  config: EnvironmentConfig,
  more: NonNullable<Container['env']> = [],
): NonNullable<Container['env']> {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const list = (name: string, entries: readonly string[]) =>
    entries.length === 0 ? [] : [{ name, value: entries.join(',') }];
  const secret = (name: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: POOL, key } },
  });
  const own = [
    field('POD_NAMESPACE', 'metadata.namespace'),
    field('POD_NAME', 'metadata.name'),
    { name: 'PROJECT_UID', value: projectUid },
    { name: 'REDIS_URL', value: config.REDIS_URL },
    ...authorityVariable(config),
    secret('REDIS_USERNAME', 'username'),
    secret('REDIS_PASSWORD', 'password'),
    field('HOST_IP', 'status.hostIP'),
    // An empty value is not kept, and would look like a change each time.
    ...list('EGRESS_ALLOW', config.RUNNER_EGRESS_ALLOW),
    ...list('EGRESS_DENY', config.RUNNER_EGRESS_DENY),
    { name: 'METRICS_PORT', value: String(METRICS_PORT) },
    ...more,
    { name: 'LOG_LEVEL', value: config.LOG_LEVEL },
  ];
  const defaults = config.RUNNER_RESOURCES.limits?.['memory'] === undefined ? [] : [HEAP];
  const taken = new Set(own.map(({ name }) => name));
  const further = Object.entries(config.RUNNER_ENV)
    .filter(([name]) => !taken.has(name))
    .map(([name, value]) => ({ name, value }));
  const isSet = new Set(further.map(({ name }) => name));
  return [...own, ...further, ...defaults.filter(({ name }) => !isSet.has(name))];
}
