/** The replicated run store of the chart: three members with a sentinel each. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { poolNetworkPolicy } from '../../operator/project/manifests.ts';
import type { ApiServer } from '../support/cluster/apiserver.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import { nextChart } from '../support/cluster/nextVersion.ts';
import { CHART_NAMESPACE as namespace, podSpecOf, renderedChart } from '../support/cluster/renderedChart.ts';
import { sharedApiServer } from '../support/cluster/sharedApiServer.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await sharedApiServer();
});
afterAll(() => server?.stop());

const { manifests, find, environmentOf, operatorConfigOf } = renderedChart(() => server);
const plain = ['--set', 'redis.topology=sentinel,redis.sentinel.replicas=2'];
const issued = 'redis.tls.enabled=true,certManager.enabled=true,certManager.issuerRef.name=authority';
const encrypted = [...plain, '--set', issued];
const MEMBERS = [0, 1, 2].map((index) => `windlass-redis-${index}`);
const HOSTS = MEMBERS.map((name) => `${name}.${namespace}.svc`);
const ADDRESSES = HOSTS.map((host) => `${host}:26379`).join(',');

test.each([
  ['without TLS', plain, 'redis'],
  ['with TLS', encrypted, 'rediss'],
])(
  '%s an API server takes its objects, and a namespace of restricted pods its pods',
  async (_how, settings, scheme) => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
    await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } });
    const all = (await manifests(...settings)).filter(({ kind }) => kind !== 'Certificate');
    const own = all.filter(({ metadata }) => metadata.name.startsWith('windlass-redis'));
    for (const manifest of own) await apply(manifest, '--dry-run=server');
    expect(own.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      'ConfigMap windlass-redis',
      'NetworkPolicy windlass-redis',
      'PodDisruptionBudget windlass-redis',
      ...MEMBERS.map((name) => `Service ${name}`),
      'StatefulSet windlass-redis',
    ]);
    const spec = podSpecOf(own.find(({ kind }) => kind === 'StatefulSet') as (typeof own)[number]) ?? {};
    const { volumes = [] } = spec as { volumes?: object[] };
    const pod = { ...spec, volumes: [...volumes, { name: 'data', emptyDir: {} }] };
    await apply(
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'member', namespace }, spec: pod },
      '--dry-run=server',
    );

    const url = `${scheme}+sentinel://${ADDRESSES}/windlass?replicas=2`;
    expect(await environmentOf('windlass-operator', ...settings)).toMatchObject({
      REDIS_URL: url,
      REDIS_USERNAME: 'windlass-operator',
      REDIS_SECRET_CREATE: 'true',
    });
    expect(await environmentOf('windlass-gateway', ...settings)).toMatchObject({ REDIS_URL: url });
  },
);

const apply = (object: object, ...args: string[]) =>
  kubectl(server, ['apply', '--server-side', '--validate=strict', ...args, '-f', '-'], {
    input: stringify(object, { version: '1.1' }),
  });

test('its servers replicate to their disks, and its sentinels agree by two of three', async () => {
  const found = await find('StatefulSet', 'windlass-redis', ...encrypted);
  expect(found?.spec).toMatchObject({ replicas: 3, podManagementPolicy: 'Parallel' });
  const [redis, sentinel, certificate] = (found && podSpecOf(found)?.containers) ?? [];
  const { args } = redis as { args?: string[] };
  expect(args).toEqual(
    expect.arrayContaining([
      '--appendonly yes',
      '--appendfsync always',
      '--min-replicas-to-write 2',
      '--port 0',
    ]),
  );
  expect(sentinel?.command).toEqual(['sh', '/scripts/sentinel.sh']);
  expect(sentinel?.env).toEqual(
    expect.arrayContaining([
      { name: 'MEMBERS', value: HOSTS.join(' ') },
      { name: 'SELF', value: `$(POD_NAME).${namespace}.svc` },
      { name: 'TLS_FILES', value: '/etc/windlass/tls' },
    ]),
  );
  expect(certificate?.name).toBe('certificate');
  const [issuedFor] = (await manifests(...encrypted)).filter(({ kind }) => kind === 'Certificate');
  expect(issuedFor?.spec?.dnsNames).toEqual(expect.arrayContaining(HOSTS));
});

test('another version of the chart and the image restarts no member', async () => {
  const newer = renderedChart(() => server, await nextChart());
  const upgrade = [...plain, '--set', 'image.tag=2.0.0,image.repository=example.com/windlass'];
  const before = await find('StatefulSet', 'windlass-redis', ...plain);
  const after = await newer.find('StatefulSet', 'windlass-redis', ...upgrade);
  expect(after?.metadata.labels).not.toEqual(before?.metadata.labels);
  expect(after?.spec).toEqual(before?.spec);
});

test('a single server becomes the first member: name, selector and volumes stay', async () => {
  const single = await find('StatefulSet', 'windlass-redis');
  const member = await find('StatefulSet', 'windlass-redis', ...plain);
  // What the API server refuses to change.
  for (const field of ['serviceName', 'selector', 'podManagementPolicy', 'volumeClaimTemplates']) {
    expect(member?.spec?.[field]).toEqual(single?.spec?.[field]);
  }
});

test('programs reach servers and sentinels of members, and members reach names and each other', async () => {
  const ports = [
    { protocol: 'TCP', port: 6379 },
    { protocol: 'TCP', port: 26379 },
  ];
  const pool = networkSpec(poolNetworkPolicy('shop', await operatorConfigOf(...plain)));
  expect(pool.egress.map((rule) => rule.ports)).toContainEqual(ports);
  const own = networkSpec(await find('NetworkPolicy', 'windlass-redis', ...plain));
  const members = { podSelector: own.podSelector };
  const names = [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ];
  expect(own.egress).toEqual([{ ports: names }, { ports, to: [members] }]);
  const [rule] = own.ingress;
  expect(rule?.ports?.map(({ port }) => port)).toEqual(['redis', 'sentinel']);
  expect(rule?.from).toContainEqual(members);
});

type NetworkRule = { from?: object[]; ports?: { port: string | number }[] };
type NetworkSpec = { podSelector: object; ingress: NetworkRule[]; egress: NetworkRule[] };

function networkSpec(policy: { spec?: unknown } | undefined): NetworkSpec {
  if (policy?.spec === undefined) throw new Error('there is no such policy');
  return policy.spec as NetworkSpec;
}
