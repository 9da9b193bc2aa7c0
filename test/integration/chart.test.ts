/** The chart as Helm renders it, and as a real API server takes it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { KubeObject } from '../../kube/resource.ts';
import { poolDeployment, poolDisruptionBudget, poolNetworkPolicy } from '../../operator/project/manifests.ts';
import { pricesOf } from '../../operator/shared/config.ts';
import { scalingOf } from '../../operator/pods/scaling.ts';
import { withSettings } from '../../operator/pods/settings.ts';
import { poolScaledObject } from '../../operator/scaling/scaledObject.ts';
import type { ApiServer } from '../support/cluster/apiserver.ts';
import { sharedApiServer } from '../support/cluster/sharedApiServer.ts';
import { runCommand } from '../support/process/command.ts';
import { GATEWAY_NODE_ARGS } from '../support/gateway/gatewayProcess.ts';
import { OPERATOR_NODE_ARGS } from '../support/operator/operatorProgram.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import { nextChart } from '../support/cluster/nextVersion.ts';
import {
  CHART_NAMESPACE as namespace,
  podSpecOf,
  renderedChart,
  type Manifest,
  type RenderedChart,
} from '../support/cluster/renderedChart.ts';

const exposed = [
  '--set',
  'gateway.public.ingress.enabled=true,gateway.public.ingress.host=hooks.example.com,gateway.public.ingress.tlsSecret=tls',
];

let server: ApiServer;
beforeAll(async () => {
  server = await sharedApiServer();
});
afterAll(() => server?.stop());

const chart = renderedChart(() => server);
const { render, manifests, find, environmentOf, operatorConfigOf } = chart;
const apply = (manifest: string, ...args: string[]) =>
  kubectl(server, ['apply', '--server-side', '--validate=strict', ...args, '-f', '-'], { input: manifest });

test('two renderings are equal to the byte, so that nothing is rolled out again without a change', async () => {
  expect(await render()).toBe(await render());
});

test.each([
  ['by default', []],
  ['with TLS', ['--set', 'redis.tls.enabled=true,redis.tls.secretName=redis-tls']],
])(
  'another version of the chart and the image restarts no Redis and changes no field that is immutable, %s',
  async (_how, settings) => {
    const newer = renderedChart(() => server, await nextChart());
    const upgrade = [...settings, '--set', 'image.tag=2.0.0,image.repository=example.com/windlass'];
    const before = await find('StatefulSet', 'windlass-redis', ...settings);
    const after = await newer.find('StatefulSet', 'windlass-redis', ...upgrade);
    expect(after?.metadata.labels).not.toEqual(before?.metadata.labels);
    expect(after?.spec).toEqual(before?.spec);
    for (const name of ['windlass-gateway', 'windlass-operator']) {
      const [old, next] = [await find('Deployment', name), await newer.find('Deployment', name)];
      expect(next?.spec?.selector).toEqual(old?.spec?.selector);
      // The default image follows the version of the chart, and is all that rolls the pods out.
      const pinned = ['--set', 'image.tag=v1'];
      const template = async (chart: RenderedChart) =>
        (await chart.find('Deployment', name, ...pinned))?.spec?.template;
      expect(await template(newer)).toEqual(await template(chart));
    }
  },
);

test('an API server takes everything, and a namespace that enforces restricted pods takes the pods', async () => {
  await apply(
    stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    }),
  );
  await apply(await render(...exposed));
  const runner = poolDeployment({ namespace, uid: 'uid' }, withSettings(await operatorConfigOf()), 'hash');
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

/**
 * The fields of the first object that the second one lacks or has with another value, as paths. Fields that
 * the API server adds count for nothing, as for Argo CD, which knows their defaults.
 */
function missingFields(wanted: unknown, found: unknown, path = ''): string[] {
  if (typeof wanted !== 'object' || wanted === null) return wanted === found ? [] : [path];
  if (typeof found !== 'object' || found === null || Array.isArray(wanted) !== Array.isArray(found))
    return [path];
  if (Array.isArray(wanted) && wanted.length !== (found as unknown[]).length) return [path];
  return Object.entries(wanted).flatMap(([key, value]) =>
    missingFields(value, (found as Record<string, unknown>)[key], `${path}/${key}`),
  );
}

test.each([
  ['by default', []],
  [
    'with much of it set',
    [
      '--set',
      'watchNamespaces={default},redis.tls.enabled=true,redis.tls.secretName=tls,operator.replicas=1',
    ],
  ],
])(
  'the API server keeps each field as it is applied, so that no tool finds a difference, %s',
  async (_how, settings) => {
    const input = await render(...exposed, ...settings);
    await apply(input);
    const { items } = JSON.parse(await kubectl(server, ['get', '-o', 'json', '-f', '-'], { input })) as {
      items: Manifest[];
    };
    const applied = await manifests(...exposed, ...settings);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(applied.map(({ metadata }) => metadata.name));
    const differences = applied.flatMap((object, index) =>
      missingFields(object, items[index], `${object.kind}/${object.metadata.name}`),
    );
    expect(differences).toEqual([]);
  },
);

test.each(['operator', 'gateway'])('the heap of the %s has half of its memory limit', async (program) => {
  const name = `windlass-${program}`;
  const { NODE_OPTIONS } = await environmentOf(name);
  expect(NODE_OPTIONS).toBe('--max-old-space-size-percentage=50');
  await expect(runCommand(process.execPath, [String(NODE_OPTIONS), '-e', '0'])).resolves.toBe('');
  const unlimited = await environmentOf(name, '--set', `${program}.resources.limits=null`);
  expect(unlimited).not.toHaveProperty('NODE_OPTIONS');
});

test.each([
  ['gateway', GATEWAY_NODE_ARGS],
  ['operator', OPERATOR_NODE_ARGS],
])('the %s is measured and tested with what Node is started with in its pods', async (name, args) => {
  const deployment = await find('Deployment', `windlass-${name}`);
  const [program] = (deployment && podSpecOf(deployment)?.containers) ?? [];
  expect(program?.command).toEqual(['node', ...args, `/app/${name}.mjs`]);
});

test('the operator is told which node it is on, so that no provider of a project is looked for there', async () => {
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

test('there is an audit trail and no access log, unless the values say otherwise', async () => {
  const settings = 'audit.enabled=false,audit.refusedPerSecond=5,audit.credentialUsesPerSecond=7';
  const log = 'gateway.accessLog.enabled=true,gateway.accessLog.sample=0.25';
  const read = async (...more: string[]) => {
    const programs = await Promise.all(
      ['windlass-gateway', 'windlass-operator'].map((name) => environmentOf(name, ...more)),
    );
    const values = programs.flatMap((environment) => Object.entries(environment));
    return Object.fromEntries(values.filter(([name]) => /^(AUDIT|ACCESS_LOG)_/.test(name)));
  };
  expect(await read()).toEqual({
    AUDIT_ENABLED: 'true',
    AUDIT_REFUSED_PER_SECOND: '10',
    AUDIT_USES_PER_SECOND: '100',
    ACCESS_LOG_ENABLED: 'false',
    ACCESS_LOG_SAMPLE: '1',
  });
  expect(await read('--set', `${settings},${log}`)).toEqual({
    AUDIT_ENABLED: 'false',
    AUDIT_REFUSED_PER_SECOND: '5',
    AUDIT_USES_PER_SECOND: '7',
    ACCESS_LOG_ENABLED: 'true',
    ACCESS_LOG_SAMPLE: '0.25',
  });
});

test('code is executed, unless the values say otherwise', async () => {
  expect(await environmentOf('windlass-operator')).toMatchObject({ RUNNER_CODE_ENABLED: 'true' });
  const off = await environmentOf('windlass-operator', '--set', 'runner.code.enabled=false');
  expect(off).toMatchObject({ RUNNER_CODE_ENABLED: 'false' });
});

test('the operator and its runners get the prices of models as the values have them, and none by default', async () => {
  expect(await environmentOf('windlass-operator')).not.toHaveProperty('MODEL_PRICES');
  const line = {
    model: 'm',
    input: '1.00',
    output: '4.00',
    source: 'https://a.example/?a=1&b=<2>',
    date: '2026-11-25',
  };
  const prices = JSON.stringify({ currency: 'EUR', models: [line] });
  const set = ['--set-json', `prices=${prices}`];
  expect(pricesOf(await operatorConfigOf(...set))).toEqual({ currency: 'EUR', models: [line] });
  const { MODEL_PRICES } = await environmentOf('windlass-operator', ...set);
  const deployment = poolDeployment(
    { namespace: 'shop', uid: 'uid' },
    withSettings(await operatorConfigOf(...set)),
    'hash',
  );
  const env = deployment.spec?.template.spec?.containers[0]?.env ?? [];
  expect(env.find(({ name }) => name === 'MODEL_PRICES')?.value).toBe(MODEL_PRICES);
  await expect(
    render('--set-json', 'prices={"models":[{"model":"m","input":1,"output":"2"}]}'),
  ).rejects.toThrow(/prices/);
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

test.each(['0m0s', '29s1000ms', '30d'])('runners may sleep after %s', async (duration) => {
  const environment = await environmentOf('windlass-operator', '--set', `runner.sleepAfter=${duration}`);
  expect(environment).toMatchObject({ RUNNER_SLEEP_AFTER: duration });
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
  ['an egress that is no list of ranges and hosts', 'runner.egress.allow={model}', /egress/],
  [
    'an image with a tag in its repository',
    'image.repository=example.com/windlass:1.0',
    /image.repository|\/image\/repository/,
  ],
  ['a tag with a slash', 'image.tag=a/b', /image.tag|\/image\/tag/],
  ['an image of Redis with a space', 'redis.image=redis 7', /redis.image|\/redis\/image/],
  ['a sleep after 6 s', 'runner.sleepAfter=0.1m', /runner.sleepAfter must be 0s, or from 30s to 30d/],
  ['a sleep after 30 days and 1 ms', 'runner.sleepAfter=30d1ms', /sleepAfter must be 0s, or from 30s to 30d/],
  ['an Ingress without a host', 'gateway.public.ingress.enabled=true', /host/],
])('%s is refused with its name', async (_what, setting, message) => {
  await expect(render('--set', setting)).rejects.toThrow(message);
});

test.each([
  ['registry.example.com:5000/team/windlass', '1.0_rc-1'],
  ['localhost/windlass__x', 'v1'],
  ['registry.example.com/windlass@sha256', 'a'.repeat(64)],
])('the image %s:%s is that of the programs and of the runners', async (repository, tag) => {
  const settings = ['--set', `image.repository=${repository},image.tag=${tag}`];
  const image = `${repository}:${tag}`;
  expect(await environmentOf('windlass-operator', ...settings)).toMatchObject({ RUNNER_IMAGE: image });
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

test('the bounds of the operator can be switched off alone', async () => {
  const policies = async (...settings: string[]) =>
    (await manifests(...settings)).flatMap(({ kind, metadata }) =>
      kind === 'ValidatingAdmissionPolicy' ? [metadata.name] : [],
    );
  const others = await policies('--set', 'admissionPolicies.operator=false');
  expect(others).toContain('windlass-secrets');
  expect(others.filter((name) => name.startsWith('windlass-operator-'))).toEqual([]);
  expect((await policies()).filter((name) => name.startsWith('windlass-operator-'))).toHaveLength(10);
});

test('public webhooks are refused only where webhooks.requireAuth is set', async () => {
  expect(await operatorConfigOf()).toMatchObject({ WEBHOOKS_REQUIRE_AUTH: false });
  expect(await operatorConfigOf('--set', 'webhooks.requireAuth=true')).toMatchObject({
    WEBHOOKS_REQUIRE_AUTH: true,
  });
});

test('a drain leaves one of several running, and is not blocked where there is only one', async () => {
  const budgets = async (...settings: string[]) =>
    (await manifests(...settings))
      .filter(({ kind }) => kind === 'PodDisruptionBudget')
      .map(({ metadata, spec }) => [metadata.name, spec?.minAvailable]);
  expect(await budgets()).toEqual([
    ['windlass-gateway', 1],
    ['windlass-operator', 1],
  ]);
  expect(await budgets('--set', 'operator.replicas=1')).toEqual([['windlass-gateway', 1]]);
  expect(await budgets('--set', 'operator.replicas=1,gateway.replicas=1')).toEqual([]);
  expect(poolDisruptionBudget('shop', await operatorConfigOf())).toBeUndefined();
  const two = await operatorConfigOf('--set', 'runner.replicas=2');
  expect(poolDisruptionBudget('shop', two)?.spec).toMatchObject({ maxUnavailable: 1 });
});

test('pods without a volume are replaced soon after their node is lost, and Redis waits as Kubernetes does', async () => {
  const tolerationsOf = async (...settings: string[]) => {
    const all = await manifests(...settings);
    return ['windlass-gateway', 'windlass-operator', 'windlass-redis'].map((name) => {
      const found = all.find(
        ({ kind, metadata }) => /Deployment|StatefulSet/.test(kind) && metadata.name === name,
      );
      return (found && podSpecOf(found)?.tolerations) ?? [];
    });
  };
  const lost = (tolerationSeconds: number) =>
    ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds,
    }));
  expect(await tolerationsOf()).toEqual([lost(30), lost(30), []]);
  expect(await tolerationsOf('--set', 'lostNodeSeconds=120')).toEqual([lost(120), lost(120), []]);
  expect((await operatorConfigOf('--set', 'lostNodeSeconds=120')).RUNNER_LOST_NODE_SECONDS).toBe(120);
  const own = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
  const [notReady] = lost(30);
  const mixed = await tolerationsOf('--set-json', `tolerations=${JSON.stringify([own])}`);
  expect(mixed).toEqual([[own, notReady], [own, notReady], [own]]);
  const everything = { operator: 'Exists' };
  const tolerant = await tolerationsOf('--set-json', `tolerations=${JSON.stringify([everything])}`);
  expect(tolerant).toEqual([[everything], [everything], [everything]]);
});

test.each(['-1', '86401', '1.5', '"soon"'])('lostNodeSeconds=%s is refused', async (value) => {
  await expect(render('--set-json', `lostNodeSeconds=${value}`)).rejects.toThrow('lostNodeSeconds');
});

test('autoscaling of the chart reaches the operator, which has the rights for KEDA only where it is used', async () => {
  expect(scalingOf(withSettings(await operatorConfigOf()))).toEqual({ engine: 'Fixed', replicas: 1 });
  const scaled = 'runner.autoscaling.engine=KEDA,runner.autoscaling.min=2,runner.autoscaling.max=20';
  const keda = ['--set', scaled];
  const config = withSettings(await operatorConfigOf(...keda));
  expect(scalingOf(config)).toEqual({ engine: 'KEDA', min: 2, max: 20, targetBacklogSeconds: 30 });
  const url = 'http://windlass-operator.windlass-system.svc:9090/scaling/shop';
  expect(poolScaledObject('shop', config)?.spec?.triggers[0]?.metadata).toMatchObject({ url });
  expect(await find('Service', 'windlass-operator', ...keda)).toBeDefined();
  expect(await find('Service', 'windlass-operator')).toBeUndefined();
  const chosen = ['--set', 'projectSettings.autoscalingEngines={Builtin,KEDA}'];
  for (const settings of [keda, chosen]) expect(await render(...settings)).toContain('keda.sh');
  expect(await render()).not.toContain('keda.sh');
  // Policies let the operator run as many.
  expect(await render(...keda)).toContain('object.spec.replicas <= 20');
});

test.each([
  ['without max', 'engine=Builtin', /requires engine, and max/],
  ['without an engine', 'max=3', /requires engine, and max/],
  [
    'with a max below min',
    'engine=Builtin,runner.autoscaling.min=3,runner.autoscaling.max=2',
    /must not be more/,
  ],
  ['with bounds that only others can set', 'engine=External,runner.autoscaling.max=2', /takes neither min/],
  ['with an engine that does not exist', 'engine=HPA,runner.autoscaling.max=2', /engine/],
])('autoscaling %s is refused when the chart is rendered', async (_what, settings, says) => {
  await expect(render('--set', `runner.autoscaling.${settings}`)).rejects.toThrow(says);
});

test.each(['gateway', 'operator'])(
  'two replicas of the %s are on two nodes where there are two, and one is replaced after the next one is ready',
  async (component) => {
    const spec = async (...settings: string[]) =>
      (await find('Deployment', `windlass-${component}`, ...settings))?.spec as {
        replicas: number;
        strategy: object;
        selector: { matchLabels: object };
        template: { spec: { topologySpreadConstraints?: object[] } };
      };
    const { replicas, strategy, selector, template } = await spec();
    expect(replicas).toBe(2);
    expect(strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    const ofRevision = { labelSelector: selector, matchLabelKeys: ['pod-template-hash'] };
    const zone = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' };
    expect(template.spec.topologySpreadConstraints).toEqual([{ ...zone, ...ofRevision }]);
    const set = `${component}.topologySpreadConstraints`;
    const strict = JSON.stringify([{ ...zone, maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule' }]);
    const changed = await spec('--set-json', `${set}=${strict}`);
    expect(changed.template.spec.topologySpreadConstraints).toMatchObject([{ maxSkew: 2, ...ofRevision }]);
    expect((await spec('--set-json', `${set}=[]`)).template.spec.topologySpreadConstraints).toBeUndefined();
  },
);

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
