/** Who reaches whom: the network policies of the chart, and of runners, as the API server reads them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { POLL_LABELS, POOL_LABELS, TICK_LABELS } from '../../operator/shared/names.ts';
import { poolNetworkPolicy } from '../../operator/project/manifests.ts';
import type { ApiServer } from '../support/cluster/apiserver.ts';
import { sharedApiServer } from '../support/cluster/sharedApiServer.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import {
  CHART_NAMESPACE as namespace,
  podSpecOf,
  renderedChart,
  type Manifest,
} from '../support/cluster/renderedChart.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await sharedApiServer();
});
afterAll(() => server?.stop());

const { manifests, find, operatorConfigOf } = renderedChart(() => server);

type Labels = Record<string, string>;
type Selector = {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values: string[] }[];
};
type Peer = { podSelector?: Selector; namespaceSelector?: Selector; ipBlock?: object };
type NetworkRule = { from?: Peer[]; to?: Peer[]; ports?: { port: string | number }[] };
type NetworkSpec = { podSelector: Selector; ingress: NetworkRule[]; egress?: NetworkRule[] };

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
  // No rule is no way out; an empty list would be one that the API server leaves out.
  expect(policy?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
  expect(egress).toBeUndefined();
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
  const { ingress, egress = [], podSelector } = networkSpec(await find('NetworkPolicy', name));
  expect(await podsOf([{ podSelector }])).toEqual([name]);
  expect(ingress).toEqual([{ ports: served.map((port) => ({ protocol: 'TCP', port })) }]);
  const deployment = await find('Deployment', name);
  const container = deployment && podSpecOf(deployment)?.containers[0];
  expect(container?.ports?.map((port) => port.name)).toEqual(served);
  expect(portsOf(egress.slice(0, 3))).toEqual(COMMON_PORTS);
  expect(await podsOf(egress[2]?.to ?? [])).toEqual(['windlass-redis']);
  // The operator asks providers for tokens, wherever runners may connect to.
  const outside = networkSpec(poolNetworkPolicy(PROJECT, await operatorConfigOf())).egress?.at(-1);
  expect(egress.slice(3)).toEqual(component === 'operator' ? [outside] : []);
});

test.each([
  [
    'sentinels',
    'redis.topology=sentinel,redis.sentinel.addresses={a:26379,b:26379,c:26380}',
    [6379, 26379, 26380],
  ],
  [
    'a Redis Cluster',
    'redis.topology=cluster,redis.cluster.addresses={a:7000,b:7000,c:7001}',
    [6379, 7000, 7001],
  ],
])('the ports of %s are reached beside those of Redis', async (_what, values, ports) => {
  const settings = ['--set', `redis.existingSecret=passwords,${values}`];
  const { egress = [] } = networkSpec(await find('NetworkPolicy', 'windlass-gateway', ...settings));
  expect(portsOf(egress)).toEqual([[53, 53], [443, 6443], ports]);
});

test('runners, ticks and poll pods are reached for their metrics alone, and reach all but where clouds hand out identities', async () => {
  const policy = poolNetworkPolicy('shop', await operatorConfigOf());
  const object = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', ...policy };
  const input = stringify(object).replace('namespace: shop', 'namespace: default');
  const strictly = ['--server-side', '--validate=strict', '--dry-run=server'];
  await kubectl(server, ['apply', ...strictly, '-f', '-'], { input });
  const { ingress, egress = [], podSelector } = networkSpec(policy);
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
  const { egress = [] } = networkSpec(poolNetworkPolicy('shop', await operatorConfigOf(...settings)));
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
