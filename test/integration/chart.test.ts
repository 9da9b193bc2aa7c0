/** The chart as Helm renders it, and as a real API server takes it. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { startApiServer, type ApiServer } from '../support/apiserver.ts';
import { helm, kubectl } from '../support/kubectl.ts';

const chart = join(import.meta.dirname, '../../charts/windlass');
const namespace = 'windlass-system';
const external = ['--set', 'redis.url=rediss://redis.example.com:6379,redis.existingSecret=redis-passwords'];
const exposed = [
  '--set',
  'gateway.public.ingress.enabled=true,gateway.public.ingress.host=hooks.example.com,gateway.public.ingress.tlsSecret=tls',
];

type Manifest = { kind: string; metadata: { name: string }; spec?: Record<string, unknown> };
type PodSpec = { containers: Container[]; initContainers?: Container[] };
type Container = { name: string; env?: { name: string; value?: string; valueFrom?: unknown }[] };

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

const render = (...settings: string[]) =>
  helm(server, ['template', 'windlass', chart, '-n', namespace, '--kube-version', '1.34', ...settings]);
const parse = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
const manifests = async (...settings: string[]) =>
  parse(await render(...settings)).filter((manifest): manifest is Manifest => manifest !== null);
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
  const specs = (await manifests()).flatMap((manifest) => podSpecOf(manifest) ?? []);
  expect(specs).toHaveLength(3);
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
  ['an Ingress without a host', 'gateway.public.ingress.enabled=true', /host/],
])('%s is refused with its name', async (_what, setting, message) => {
  await expect(render('--set', setting)).rejects.toThrow(message);
});

test('the gateway can read no Secret; the operator can list none, and changes what makes a runner pool alone', async () => {
  await apply(await render());
  const may = async (account: string, ...args: string[]) =>
    (
      await kubectl(server, [
        'auth',
        'can-i',
        ...args,
        '-A',
        '--as',
        `system:serviceaccount:${namespace}:${account}`,
      ]).catch((error: Error) => error.message)
    ).trim();
  expect(await may('windlass-operator', 'get', 'secrets')).toBe('yes');
  expect(await may('windlass-gateway', 'get', 'secrets')).toMatch(/no$/);
  expect(await may('windlass-operator', 'list', 'secrets')).toMatch(/no$/);
  for (const kind of ['secrets', 'serviceaccounts', 'deployments', 'roles', 'rolebindings'])
    for (const verb of ['patch', 'delete']) {
      expect(await may('windlass-operator', verb, kind)).toMatch(/no$/);
      expect(await may('windlass-operator', verb, `${kind}/windlass-runner`)).toBe('yes');
    }
});
