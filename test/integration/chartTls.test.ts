/** TLS as the chart's values have it: from Secrets, from cert-manager, and of an existing Redis. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ApiServer } from '../support/cluster/apiserver.ts';
import { sharedApiServer } from '../support/cluster/sharedApiServer.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import { CHART_NAMESPACE as namespace, podSpecOf, renderedChart } from '../support/cluster/renderedChart.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await sharedApiServer();
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
});
afterAll(() => server?.stop());

const { render, manifests, find, environmentOf } = renderedChart(() => server);
const apply = (object: object) =>
  kubectl(server, ['apply', '--server-side', '--validate=strict', '-f', '-'], { input: stringify(object) });

const SERVERS = ['gateway.public', 'gateway.internal', 'redis'];
const set = (...values: string[]) => ['--set', values.join()];
const enabled = SERVERS.map((name) => `${name}.tls.enabled=true`);
const fromSecrets = set(
  ...enabled,
  ...SERVERS.map((name) => `${name}.tls.secretName=of-${name.split('.').at(-1)}`),
);
const issued = [...enabled, 'certManager.enabled=true', 'certManager.issuerRef.name=authority'];
const fromCertManager = set(...issued, 'gateway.public.url=https://hooks.example.com:8443');
const external = ['redis.url=rediss://redis.example.com:6379', 'redis.existingSecret=passwords'];

type Volume = { name: string; secret?: { secretName: string }; configMap?: { name: string } };

/** The volumes of a program's pods, by name: which Secret or ConfigMap they are. */
async function volumesOf(kind: string, name: string, settings: string[]): Promise<Record<string, unknown>> {
  const found = await find(kind, name, ...settings);
  const { volumes = [] } = ((found && podSpecOf(found)) ?? {}) as { volumes?: Volume[] };
  return Object.fromEntries(
    volumes.map((volume) => [volume.name, volume.secret?.secretName ?? volume.configMap?.name]),
  );
}

test('an API server takes what has TLS from Secrets, and a namespace that enforces restricted pods takes the pods', async () => {
  await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } });
  const taken: string[] = [];
  for (const manifest of await manifests(...fromSecrets)) {
    if (manifest.kind === 'Service') await apply(manifest);
    const spec = podSpecOf(manifest);
    if (spec === undefined) continue;
    const { volumes = [] } = spec as { volumes?: object[] };
    // Volumes from a claim template are no part of the pod template.
    const data = manifest.kind === 'StatefulSet' ? [{ name: 'data', emptyDir: {} }] : [];
    const { name } = manifest.metadata;
    const pod = { ...spec, serviceAccountName: 'default', volumes: [...volumes, ...data] };
    await apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: pod });
    taken.push(name);
  }
  expect(taken.toSorted()).toEqual(['windlass-gateway', 'windlass-operator', 'windlass-redis']);
});

test.each([
  ['Secrets', fromSecrets, { public: 'of-public', internal: 'of-internal', redis: 'of-redis' }],
  [
    'cert-manager',
    fromCertManager,
    {
      public: 'windlass-gateway-public-tls',
      internal: 'windlass-gateway-internal-tls',
      redis: 'windlass-redis-tls',
    },
  ],
])(
  'with certificates from %s each server has its own, and each client of Redis its authority',
  async (_from, settings, secrets) => {
    expect(await volumesOf('Deployment', 'windlass-gateway', settings)).toEqual({
      'public-tls': secrets.public,
      'internal-tls': secrets.internal,
      'run-store-ca': secrets.redis,
    });
    expect(await volumesOf('Deployment', 'windlass-operator', settings)).toEqual({
      'run-store-ca': secrets.redis,
    });
    expect(await volumesOf('StatefulSet', 'windlass-redis', settings)).toMatchObject({
      certificate: secrets.redis,
    });
    const store = {
      REDIS_URL: 'rediss://windlass-redis.windlass-system.svc:6379',
      REDIS_CA_FILE: '/etc/windlass/run-store/ca.crt',
    };
    expect(await environmentOf('windlass-operator', ...settings)).toMatchObject({
      ...store,
      INTERNAL_URL: 'https://windlass-gateway-internal.windlass-system.svc:80',
    });
    expect(await environmentOf('windlass-gateway', ...settings)).toMatchObject({
      ...store,
      PUBLIC_TLS_DIR: '/etc/windlass/tls/public',
      INTERNAL_TLS_DIR: '/etc/windlass/tls/internal',
    });
  },
);

test('Redis answers by TLS alone, but for the socket of its pod', async () => {
  const found = await find('StatefulSet', 'windlass-redis', ...fromSecrets);
  const [redis, certificate] = (found && podSpecOf(found)?.containers) ?? [];
  const { args } = redis as { args?: string[] };
  expect(args).toEqual(expect.arrayContaining(['--port 0', '--tls-port 6379', '--unixsocketperm 700']));
  expect(redis).toMatchObject({
    livenessProbe: { exec: { command: ['redis-cli', '-s', '/run/windlass/redis.sock', 'ping'] } },
  });
  expect(certificate?.command?.slice(1)).toEqual([
    '/scripts/certificate.sh',
    '/etc/windlass/tls',
    '/etc/windlass/run-store/ca.crt',
    '/run/windlass',
    '16379',
  ]);
  const ca = set('redis.tls.caRef.name=corporate');
  const trust = await volumesOf('StatefulSet', 'windlass-redis', [...fromSecrets, ...ca]);
  expect(trust).toMatchObject({ certificate: 'of-redis', 'run-store-ca': 'corporate' });
});

test('workflows show an address with the scheme of the public listener, and Services and Ingress name it', async () => {
  const settings = [...fromSecrets, '--set', 'gateway.public.service.port=443'];
  const ingress = [
    '--set',
    'gateway.public.ingress.enabled=true,gateway.public.ingress.host=hooks.example.com',
  ];
  expect(await environmentOf('windlass-gateway', ...settings)).toMatchObject({
    PUBLIC_URL: 'https://windlass-gateway.windlass-system.svc',
  });
  const service = await find('Service', 'windlass-gateway', ...settings);
  expect(service?.spec?.ports).toEqual([
    { name: 'https', port: 443, targetPort: 'public', appProtocol: 'https' },
  ]);
  const { spec } = (await find('Ingress', 'windlass-gateway', ...settings, ...ingress)) ?? {};
  expect(JSON.stringify(spec)).toContain('"port":{"name":"https"}');
});

test('cert-manager is asked for a certificate of each server, by its names inside the cluster and the public one', async () => {
  const certificates = (await manifests(...fromCertManager)).filter(({ kind }) => kind === 'Certificate');
  expect(certificates.map(({ metadata }) => metadata.name)).toEqual([
    'windlass-gateway-public',
    'windlass-gateway-internal',
    'windlass-redis',
  ]);
  expect(certificates[0]?.spec).toEqual({
    secretName: 'windlass-gateway-public-tls',
    issuerRef: { name: 'authority', kind: 'Issuer', group: 'cert-manager.io' },
    duration: '2160h',
    renewBefore: '720h',
    privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
    usages: ['digital signature', 'server auth'],
    dnsNames: [
      'windlass-gateway.windlass-system.svc',
      'windlass-gateway',
      'windlass-gateway.windlass-system',
      'windlass-gateway.windlass-system.svc.cluster.local',
      'hooks.example.com',
    ],
  });
});

test('where a Secret is named or TLS is off cert-manager is asked for nothing', async () => {
  const off = set('certManager.enabled=true,certManager.issuerRef.name=authority');
  for (const settings of [[], off, [...fromSecrets, ...off]]) {
    expect((await manifests(...settings)).map(({ kind }) => kind)).not.toContain('Certificate');
  }
});

test('an existing Redis is checked with the authority of a ConfigMap, or with public ones', async () => {
  const own = set(...external, 'redis.tls.caRef.name=corporate');
  expect(await volumesOf('Deployment', 'windlass-operator', own)).toEqual({ 'run-store-ca': 'corporate' });
  expect(await volumesOf('Deployment', 'windlass-gateway', own)).toEqual({ 'run-store-ca': 'corporate' });
  expect(await environmentOf('windlass-operator', ...set(...external))).not.toHaveProperty('REDIS_CA_FILE');
});

test.each([
  [
    'TLS without a certificate',
    [enabled[0] ?? ''],
    /gateway.public.tls.secretName .* certManager.enabled=true/,
  ],
  ['cert-manager without an issuer', ['certManager.enabled=true'], /issuerRef/],
  [
    'a certificate for an existing Redis',
    [...external, 'redis.tls.enabled=true'],
    /begin redis.url with rediss/,
  ],
  ['an authority without TLS', ['redis.tls.caRef.name=corporate'], /set redis.tls.enabled=true/],
])('%s is refused with what to do', async (_what, settings, message) => {
  await expect(render(...set(...settings))).rejects.toThrow(message);
});
