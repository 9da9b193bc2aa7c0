/** The chart as Helm renders it, and as a real API server takes it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../kube/resource.ts';
import { readConfig } from '../../operator/config.ts';
import { POLL_LABELS, POOL_LABELS } from '../../operator/project/names.ts';
import { poolDeployment, poolDisruptionBudget, poolNetworkPolicy } from '../../operator/project/manifests.ts';
import { TICK_LABELS } from '../../operator/schedule/cronJob.ts';
import { startApiServer, type ApiServer } from '../support/apiserver.ts';
import { CHART } from '../support/chart.ts';
import { runCommand } from '../support/command.ts';
import { NODE_ARGS } from '../support/gatewayProcess.ts';
import { helm, kubectl } from '../support/kubectl.ts';

const namespace = 'windlass-system';
const external = ['--set', 'redis.url=rediss://redis.example.com:6379,redis.existingSecret=redis-passwords'];
const exposed = [
  '--set',
  'gateway.public.ingress.enabled=true,gateway.public.ingress.host=hooks.example.com,gateway.public.ingress.tlsSecret=tls',
];

type Manifest = { kind: string; metadata: { name: string }; spec?: Record<string, unknown> };
type PodSpec = { containers: Container[]; initContainers?: Container[] };
type Container = {
  name: string;
  command?: string[];
  env?: { name: string; value?: string; valueFrom?: unknown }[];
  ports?: { name: string }[];
};

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server?.stop());

const render = (...settings: string[]) =>
  helm(server, ['template', 'windlass', CHART, '-n', namespace, '--kube-version', '1.34', ...settings]);
const parse = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
const rendered = new Map<string, Promise<string>>();

/** What is rendered, of each setting once. */
async function manifests(...settings: string[]): Promise<Manifest[]> {
  const key = settings.join(' ');
  const text = rendered.get(key) ?? render(...settings);
  rendered.set(key, text);
  return parse(await text).filter((manifest): manifest is Manifest => manifest !== null);
}

const podSpecOf = (manifest: Manifest) => (manifest.spec?.template as { spec: PodSpec } | undefined)?.spec;
const apply = (manifest: string, ...args: string[]) =>
  kubectl(server, ['apply', '--server-side', '--validate=strict', ...args, '-f', '-'], { input: manifest });

async function find(kind: string, name: string, ...settings: string[]): Promise<Manifest | undefined> {
  const all = await manifests(...settings);
  return all.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
}

async function environmentOf(name: string, ...settings: string[]): Promise<Record<string, unknown>> {
  const deployment = await find('Deployment', name, ...settings);
  const container = deployment && podSpecOf(deployment)?.containers[0];
  return Object.fromEntries(
    (container?.env ?? []).map((entry) => [entry.name, entry.value ?? entry.valueFrom]),
  );
}

/** What the operator makes of the environment that the chart gives it. */
async function operatorConfigOf(...settings: string[]) {
  const environment = await environmentOf('windlass-operator', ...settings);
  return readConfig(
    Object.fromEntries(
      Object.entries(environment).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value]] : [],
      ),
    ),
  );
}

test('two renderings are equal to the byte, so that nothing is rolled out anew without a change', async () => {
  expect(await render()).toBe(await render());
});

test('an API server takes everything, and a namespace that enforces restricted pods takes the pods', async () => {
  await apply(
    stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    }),
  );
  await apply(await render(...exposed));
  const runner = poolDeployment({ namespace, uid: 'uid' }, await operatorConfigOf(), 'hash');
  const all = [...(await manifests()), runner as unknown as Manifest];
  const specs = all.flatMap((manifest) => podSpecOf(manifest) ?? []);
  expect(specs).toHaveLength(4);
  for (const [index, spec] of specs.entries()) {
    // Volumes from a claim template are no part of the pod template.
    const volumes = (spec as { volumes?: object[] }).volumes ?? [];
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `pod-${index}`, namespace },
      spec: {
        ...spec,
        serviceAccountName: 'windlass-operator',
        volumes: [...volumes, { name: 'data', emptyDir: {} }],
      },
    };
    await apply(stringify(pod), '--dry-run=server');
  }
});

test.each(['operator', 'gateway'])('the heap of the %s has half of its memory limit', async (program) => {
  const name = `windlass-${program}`;
  const { NODE_OPTIONS } = await environmentOf(name);
  expect(NODE_OPTIONS).toBe('--max-old-space-size-percentage=50');
  await expect(runCommand(process.execPath, [String(NODE_OPTIONS), '-e', '0'])).resolves.toBe('');
  const unlimited = await environmentOf(name, '--set', `${program}.resources.limits=null`);
  expect(unlimited).not.toHaveProperty('NODE_OPTIONS');
});

test('the gateway is measured and tested with what Node is started with in its pods', async () => {
  const deployment = await find('Deployment', 'windlass-gateway');
  const [gateway] = (deployment && podSpecOf(deployment)?.containers) ?? [];
  expect(gateway?.command).toEqual(['node', ...NODE_ARGS, '/app/gateway.mjs']);
});

test('the operator is told which node it is on, so that no provider of a tenant is looked for there', async () => {
  const { HOST_IP } = await environmentOf('windlass-operator');
  expect(HOST_IP).toEqual({ fieldRef: { fieldPath: 'status.hostIP' } });
});

test('what records may cost the API server can be set', async () => {
  const settings = 'operator.recordWrites.perSecond=60,operator.recordWrites.perSecondOfProject=30';
  expect(await environmentOf('windlass-operator', '--set', settings)).toMatchObject({
    RECORD_WRITES_PER_SECOND: '60',
    PROJECT_RECORD_WRITES_PER_SECOND: '30',
  });
});

test('an existing Redis takes the place of the one of the chart', async () => {
  const kinds = (await manifests(...external)).map((manifest) => manifest.kind);
  expect(kinds).not.toContain('StatefulSet');
  expect(await environmentOf('windlass-operator', ...external)).toMatchObject({
    REDIS_URL: 'rediss://redis.example.com:6379',
    REDIS_SECRET: 'redis-passwords',
    REDIS_SECRET_CREATE: 'false',
  });
  expect(await environmentOf('windlass-gateway', ...external)).toMatchObject({
    REDIS_PASSWORD: { secretKeyRef: { name: 'redis-passwords', key: 'gateway-password' } },
  });
});

test('the operator is told where steps may connect to', async () => {
  const egress = [
    '--set',
    'runner.egress.allow={10.0.0.0/8,model.models.svc:8080}',
    '--set',
    'runner.egress.deny={10.96.0.0/16}',
  ];
  expect(await environmentOf('windlass-operator', ...egress)).toMatchObject({
    RUNNER_EGRESS_ALLOW: '10.0.0.0/8,model.models.svc:8080',
    RUNNER_EGRESS_DENY: '10.96.0.0/16',
  });
});

test('workflows show the address of the Ingress, and only the public Service is behind it', async () => {
  expect(await environmentOf('windlass-operator', ...exposed)).toMatchObject({
    PUBLIC_URL: 'https://hooks.example.com',
  });
  const ingress = await find('Ingress', 'windlass-gateway', ...exposed);
  expect(JSON.stringify(ingress?.spec)).toContain(
    '"service":{"name":"windlass-gateway","port":{"name":"http"}}',
  );
  expect(await environmentOf('windlass-operator')).toMatchObject({
    PUBLIC_URL: 'http://windlass-gateway.windlass-system.svc',
  });
});

test.each([
  ['a value that does not exist', 'gateway.replica=3', /replica/],
  ['an existing Redis without a Secret', 'redis.url=redis://redis:6379', /existingSecret/],
  ['an address of Redis with a password', 'redis.url=redis://user:word@redis:6379', /redis.url|\/redis\/url/],
  [
    'a volume that a rewrite of the log could fill',
    'redis.memory=1Gi',
    /at least three times redis.memory \(3072Mi/,
  ],
  ['an egress that is no list of ranges and hosts', 'runner.egress.allow={model}', /egress/],
  ['an Ingress without a host', 'gateway.public.ingress.enabled=true', /host/],
])('%s is refused with its name', async (_what, setting, message) => {
  await expect(render('--set', setting)).rejects.toThrow(message);
});

type Labels = Record<string, string>;
type Selector = {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values: string[] }[];
};
type Peer = { podSelector?: Selector; namespaceSelector?: Selector; ipBlock?: object };
type NetworkRule = { from?: Peer[]; to?: Peer[]; ports?: { port: string | number }[] };
type NetworkSpec = { podSelector: Selector; ingress: NetworkRule[]; egress: NetworkRule[] };

function networkSpec(policy: { spec?: unknown } | undefined): NetworkSpec {
  if (policy?.spec === undefined) throw new Error('there is no such policy');
  return policy.spec as NetworkSpec;
}

const MANAGED = 'app.kubernetes.io/managed-by';
const PROJECT = 'shop';

/** Every pod there is, by the labels that it really has. */
async function podsByLabel(): Promise<Record<string, { labels: Labels; of: string }>> {
  const own = (await manifests()).filter((manifest) => podSpecOf(manifest) !== undefined);
  const labelsOf = (manifest: Manifest) =>
    (manifest.spec?.template as { metadata: { labels: Labels } } | undefined)?.metadata.labels ?? {};
  return {
    ...Object.fromEntries(
      own.map((manifest) => [manifest.metadata.name, { labels: labelsOf(manifest), of: namespace }]),
    ),
    'a runner': { labels: POOL_LABELS, of: PROJECT },
    'a tick': { labels: TICK_LABELS, of: PROJECT },
    'a poll pod': { labels: POLL_LABELS, of: PROJECT },
    'a runner elsewhere': { labels: POOL_LABELS, of: 'elsewhere' },
    'a neighbour': { labels: { 'app.kubernetes.io/name': 'postgres' }, of: namespace },
    'a stranger': { labels: { 'app.kubernetes.io/name': 'windlass' }, of: PROJECT },
    'another managed pod': { labels: { ...POOL_LABELS, 'app.kubernetes.io/name': 'other' }, of: PROJECT },
    'an unmanaged pod': { labels: { ...POOL_LABELS, [MANAGED]: 'somebody' }, of: PROJECT },
  };
}

/** As the API server reads a selector: all of it must fit. */
const isSelected = (labels: Labels, { matchLabels = {}, matchExpressions = [] }: Selector = {}) =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
  matchExpressions.every(
    ({ key, operator, values }) => operator === 'In' && values.includes(labels[key] ?? ''),
  );

/** The pods that one of these peers means. A peer without a selector of namespaces means the policy's own. */
async function podsOf(peers: Peer[], own = namespace): Promise<string[]> {
  const pods = Object.entries(await podsByLabel()).filter(([, { labels, of }]) =>
    peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
      const isThere = namespaceSelector
        ? isSelected({ 'kubernetes.io/metadata.name': of }, namespaceSelector)
        : of === own;
      return ipBlock === undefined && isThere && isSelected(labels, podSelector);
    }),
  );
  return pods.map(([name]) => name).toSorted();
}

const OF_PROJECTS = ['a poll pod', 'a runner', 'a runner elsewhere', 'a tick'];

test('only operator, gateway, runners, ticks and poll pods reach the run store, and it reaches nobody', async () => {
  const policy = await find('NetworkPolicy', 'windlass-redis');
  const { ingress, egress, podSelector } = networkSpec(policy);
  expect(await podsOf([{ podSelector }])).toEqual(['windlass-redis']);
  expect(ingress).toHaveLength(1);
  expect(await podsOf(ingress[0]?.from ?? [])).toEqual([
    ...OF_PROJECTS,
    'windlass-gateway',
    'windlass-operator',
  ]);
  expect(ingress[0]?.ports).toEqual([{ protocol: 'TCP', port: 'redis' }]);
  expect(egress).toEqual([]);
  const few = await find('NetworkPolicy', 'windlass-redis', '--set', `watchNamespaces={${PROJECT}}`);
  expect(await podsOf(networkSpec(few).ingress[0]?.from ?? [])).toEqual([
    ...OF_PROJECTS.filter((pod) => !pod.includes('elsewhere')),
    'windlass-gateway',
    'windlass-operator',
  ]);
});

/** Names and the API server, and the run store: what every program reaches. */
const COMMON_PORTS = [[53, 53], [443, 6443], [6379]];
const portsOf = (rules: NetworkRule[]) => rules.map(({ ports = [] }) => ports.map(({ port }) => port));

test.each([
  ['gateway', ['public', 'internal', 'metrics']],
  ['operator', ['metrics']],
])('the %s is reached at what it serves, and reaches what it has to', async (component, served) => {
  const name = `windlass-${component}`;
  const { ingress, egress, podSelector } = networkSpec(await find('NetworkPolicy', name));
  expect(await podsOf([{ podSelector }])).toEqual([name]);
  expect(ingress).toEqual([{ ports: served.map((port) => ({ protocol: 'TCP', port })) }]);
  const deployment = await find('Deployment', name);
  const container = deployment && podSpecOf(deployment)?.containers[0];
  expect(container?.ports?.map((port) => port.name)).toEqual(served);
  expect(portsOf(egress.slice(0, 3))).toEqual(COMMON_PORTS);
  expect(await podsOf(egress[2]?.to ?? [])).toEqual(['windlass-redis']);
  // The operator asks providers for tokens, wherever runners may connect to.
  const outside = networkSpec(poolNetworkPolicy(PROJECT, await operatorConfigOf())).egress.at(-1);
  expect(egress.slice(3)).toEqual(component === 'operator' ? [outside] : []);
});

test('runners, ticks and poll pods are reached for their metrics alone, and reach all but where clouds hand out identities', async () => {
  const policy = poolNetworkPolicy('shop', await operatorConfigOf());
  await apply(
    stringify({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', ...policy }).replace(
      'namespace: shop',
      'namespace: default',
    ),
    '--dry-run=server',
  );
  const { ingress, egress, podSelector } = networkSpec(policy);
  expect(await podsOf([{ podSelector }], PROJECT)).toEqual(['a poll pod', 'a runner', 'a tick']);
  expect(ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 'metrics' }] }]);
  expect(egress.at(-1)?.to).toEqual([
    { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } },
    { ipBlock: { cidr: '::/0', except: ['fe80::/10', 'fd00:ec2::254/128'] } },
    { namespaceSelector: {} },
  ]);
  expect(await podsOf(egress.flatMap(({ to = [] }) => to.filter(({ podSelector: pods }) => pods)))).toEqual([
    'windlass-redis',
  ]);
});

test('runners can be kept from all of the cluster but names, the API server and the run store', async () => {
  const settings = ['--set', 'networkPolicies.runner.cluster=false'];
  const { egress } = networkSpec(poolNetworkPolicy('shop', await operatorConfigOf(...settings)));
  expect(egress.at(-1)?.to).toEqual([
    {
      ipBlock: {
        cidr: '0.0.0.0/0',
        except: ['169.254.0.0/16', '10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16'],
      },
    },
    { ipBlock: { cidr: '::/0', except: ['fe80::/10', 'fd00:ec2::254/128', 'fc00::/7'] } },
  ]);
});

test.each([
  ['networkPolicies', 'NetworkPolicy', poolNetworkPolicy],
  ['podDisruptionBudgets', 'PodDisruptionBudget', poolDisruptionBudget],
  ['admissionPolicies', 'ValidatingAdmissionPolicy', undefined],
  ['flowControl', 'FlowSchema', undefined],
] as const)('%s can be switched off, for the runners too', async (value, kind, ofPool) => {
  const of = async (...settings: string[]) =>
    (await manifests(...settings)).filter((manifest) => manifest.kind === kind);
  const off = ['--set', `${value}.enabled=false`, '--set', 'runner.replicas=2'];
  const on = off.slice(2);
  expect((await of(...on)).length).toBeGreaterThan(0);
  expect(await of(...off)).toEqual([]);
  if (!ofPool) return;
  expect(ofPool('shop', await operatorConfigOf(...on))).toBeDefined();
  expect(ofPool('shop', await operatorConfigOf(...off))).toBeUndefined();
});

test('a drain leaves one of several running, and is not held up where there is only one', async () => {
  const budgets = async (...settings: string[]) =>
    (await manifests(...settings))
      .filter(({ kind }) => kind === 'PodDisruptionBudget')
      .map(({ metadata, spec }) => [metadata.name, spec?.minAvailable]);
  expect(await budgets()).toEqual([['windlass-gateway', 1]]);
  expect(await budgets('--set', 'operator.replicas=2,gateway.replicas=1')).toEqual([
    ['windlass-operator', 1],
  ]);
  expect(poolDisruptionBudget('shop', await operatorConfigOf())).toBeUndefined();
  const two = await operatorConfigOf('--set', 'runner.replicas=2');
  expect(poolDisruptionBudget('shop', two)?.spec).toMatchObject({ maxUnavailable: 1 });
});

type Rules = { rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] };
const READING = ['get', 'list', 'watch'];

test.each([
  ['view', ['view', 'edit', 'admin']],
  ['edit', ['edit', 'admin']],
  ['execute', ['edit', 'admin']],
])('the role windlass-%s is part of %j; nobody writes a route or a status', async (name, roles) => {
  const role = (await find('ClusterRole', `windlass-${name}`)) as (KubeObject & Rules) | undefined;
  const labels = Object.keys(role?.metadata.labels ?? {}).flatMap(
    (label) => /aggregate-to-(.*)$/.exec(label)?.[1] ?? [],
  );
  expect(labels.toSorted()).toEqual(roles.toSorted());
  for (const { resources, verbs } of role?.rules ?? []) {
    const isWriting = verbs.some((verb) => !READING.includes(verb));
    expect(isWriting && resources.includes('webhookroutes')).toBe(false);
    expect(resources.filter((resource) => /\/status$|\*/.test(resource))).toEqual([]);
    expect(isWriting && name === 'view').toBe(false);
  }
});

test('with a list of namespaces nothing is granted beyond them but who callers are and which namespaces there are', async () => {
  const all = (await manifests('--set', 'watchNamespaces={shop,office}')) as (Manifest & Partial<Rules>)[];
  const bindings = all
    .filter(({ kind }) => kind === 'ClusterRoleBinding')
    .map(({ metadata }) => metadata.name);
  expect(bindings.toSorted()).toEqual(['windlass-gateway-cluster', 'windlass-operator-cluster']);
  const bound = all.filter(
    ({ kind, metadata }) => kind === 'ClusterRole' && bindings.includes(metadata.name),
  );
  expect(bound.flatMap(({ rules = [] }) => rules)).toEqual([
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    {
      apiGroups: [''],
      resources: ['namespaces'],
      resourceNames: ['shop', 'office'],
      verbs: ['list', 'watch'],
    },
  ]);
  expect(await operatorConfigOf('--set', 'watchNamespaces={shop,office}')).toMatchObject({
    WATCH_NAMESPACES: ['shop', 'office'],
  });
  expect(await environmentOf('windlass-gateway', '--set', 'watchNamespaces={shop,office}')).toMatchObject({
    WATCH_NAMESPACES: 'shop,office',
  });
});
