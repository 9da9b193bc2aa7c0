import { expect, test } from 'vitest';
import { readConfig } from '../shared/config.ts';
import { poolDeployment, poolRole, poolSecret } from './manifests.ts';
import { withSettings } from '../pods/settings.ts';

const settings = withSettings(
  readConfig({
    PUBLIC_URL: 'https://example.com/',
    REDIS_URL: 'redis://windlass-redis.windlass.svc:6379',
    RUNNER_IMAGE: 'windlass:test',
    RUNNER_ENV: '{"HTTP_PROXY":"http://proxy:3128","PROJECT_UID":"another"}',
  }),
);
const deployment = poolDeployment({ namespace: 'shop', uid: 'project-1' }, settings, 'hash');
const pod = deployment.spec?.template?.spec;
const [container] = pod?.containers ?? [];

test('a runner passes Pod Security "restricted"', () => {
  expect(pod?.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  expect(pod?.securityContext?.runAsUser).toBeGreaterThan(0);
  expect(container?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(pod?.volumes).toEqual([{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }]);
  expect(pod).not.toHaveProperty('hostNetwork');
  expect(container?.ports?.every((port) => !('hostPort' in port))).toBe(true);
});

test('a runner has a minute to shut down, and is probed from its start', () => {
  expect(pod?.terminationGracePeriodSeconds).toBe(60);
  expect(container).toMatchObject({
    startupProbe: { httpGet: { path: '/healthz' } },
    livenessProbe: { httpGet: { path: '/healthz' } },
    readinessProbe: { httpGet: { path: '/readyz' } },
  });
});

const lostNode = (tolerationSeconds: number) =>
  ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  }));

test('a runner is replaced soon after its node is lost, unless the project tolerates that', () => {
  const tolerations = (changed: Partial<typeof settings>) =>
    poolDeployment({ namespace: 'shop', uid: 'project-1' }, { ...settings, ...changed }, 'hash').spec
      ?.template.spec?.tolerations;
  expect(tolerations({})).toEqual(lostNode(30));
  expect(tolerations({ RUNNER_LOST_NODE_SECONDS: 0 })).toEqual(lostNode(0));
  const dedicated = { key: 'dedicated', operator: 'Exists' as const };
  expect(tolerations({ placement: { tolerations: [dedicated] } })).toEqual([dedicated, ...lostNode(30)]);
  const patient = { key: 'node.kubernetes.io/unreachable', operator: 'Exists' as const };
  expect(tolerations({ placement: { tolerations: [patient] } })).toEqual([patient, lostNode(30)[0]]);
  const everything = { operator: 'Exists' as const };
  expect(tolerations({ placement: { tolerations: [everything] } })).toEqual([everything]);
});

test('the password reaches a runner from the Secret alone, and further variables replace none of its own', () => {
  const env = container?.env ?? [];
  expect(env).toContainEqual({
    name: 'REDIS_PASSWORD',
    valueFrom: { secretKeyRef: { name: 'windlass-runner', key: 'password' } },
  });
  expect(env).toContainEqual({ name: 'AUDIT_ENABLED', value: 'true' });
  expect(env).toContainEqual({ name: 'HTTP_PROXY', value: 'http://proxy:3128' });
  expect(env.filter(({ name }) => name === 'PROJECT_UID')).toEqual([
    { name: 'PROJECT_UID', value: 'project-1' },
  ]);
});

test('runners get the egress rules and the address of their node', () => {
  const egress = {
    ...settings,
    RUNNER_EGRESS_ALLOW: ['10.0.0.0/8', 'model:80'],
    RUNNER_EGRESS_DENY: ['10.1.0.0/16'],
  };
  const { spec } = poolDeployment({ namespace: 'shop', uid: 'project-1' }, egress, 'hash');
  expect(spec?.template?.spec?.containers[0]?.env).toEqual(
    expect.arrayContaining([
      { name: 'EGRESS_ALLOW', value: '10.0.0.0/8,model:80' },
      { name: 'EGRESS_DENY', value: '10.1.0.0/16' },
      { name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    ]),
  );
});

test('runners are told of code only where the installation does not execute it', () => {
  const variableOf = (RUNNER_CODE_ENABLED: boolean) => {
    const changed = { ...settings, RUNNER_CODE_ENABLED };
    const { spec } = poolDeployment({ namespace: 'shop', uid: 'project-1' }, changed, '');
    return (spec?.template?.spec?.containers[0]?.env ?? []).filter(({ name }) => name === 'CODE_ENABLED');
  };
  expect(variableOf(true)).toEqual([]);
  expect(variableOf(false)).toEqual([{ name: 'CODE_ENABLED', value: 'false' }]);
});

test('the heap of a runner is half of its memory limit, unless configured otherwise or without a limit', () => {
  const optionsOf = (changes: Partial<typeof settings>) => {
    const { spec } = poolDeployment({ namespace: 'shop', uid: 'project-1' }, { ...settings, ...changes }, '');
    const env = spec?.template?.spec?.containers[0]?.env ?? [];
    return env.filter(({ name }) => name === 'NODE_OPTIONS').map(({ value }) => value);
  };
  expect(optionsOf({})).toEqual([
    '--max-old-space-size-percentage=50 --max-semi-space-size=16 --v8-pool-size=1 --expose-gc',
  ]);
  expect(optionsOf({ RUNNER_RESOURCES: { requests: { memory: '128Mi' } } })).toEqual([]);
  expect(optionsOf({ RUNNER_ENV: { NODE_OPTIONS: '--use-system-ca' } })).toEqual(['--use-system-ca']);
});

test('no variable is empty, because the API server drops empty values, which would look like a change each time', () => {
  expect(container?.env?.filter(({ value }) => value === '')).toEqual([]);
});

test('pods of a Deployment are found by its selector', () => {
  expect(deployment.spec?.template?.metadata?.labels).toMatchObject(
    deployment.spec?.selector?.matchLabels ?? {},
  );
});

test('runners may read the Secrets in use by name, and no other', () => {
  const rule = poolRole('shop', ['smtp', 'llm', 'smtp']).rules?.find(({ resources }) =>
    resources.includes('secrets'),
  );
  expect(rule).toEqual({
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: ['llm', 'smtp'],
    verbs: ['get'],
  });
});

test('without credentials in use there is no rule for Secrets at all, since one without names would mean each of them', () => {
  expect(poolRole('shop', []).rules?.flatMap(({ resources }) => resources)).not.toContain('secrets');
});

test('no rule has a wildcard', () => {
  const rules = poolRole('shop', ['llm']).rules ?? [];
  expect(
    rules.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs]),
  ).not.toContain('*');
});

test('the Secret holds user and password', () => {
  const { data } = poolSecret('shop', { username: 'pool', password: 'pässword' });
  const decoded = Object.entries(data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, 'base64').toString(),
  ]);
  expect(Object.fromEntries(decoded)).toEqual({ username: 'pool', password: 'pässword' });
});

test('the certificate authorities are in the Secret and a file in the pod, and a change restarts no runner', () => {
  const { data } = poolSecret(
    'shop',
    { username: 'pool', password: 'word' },
    { authority: 'PEM', callbackKeys: '[]' },
  );
  expect(Buffer.from(data?.['ca.crt'] ?? '', 'base64').toString()).toBe('PEM');
  const trusting = { ...settings, REDIS_CA_FILE: '/in/the/operator/ca.crt' };
  const { spec } = poolDeployment({ namespace: 'shop', uid: 'project-1' }, trusting, 'hash');
  const { volumes, containers } = spec?.template?.spec ?? {};
  expect(volumes).toContainEqual({
    name: 'run-store-ca',
    secret: { secretName: 'windlass-runner', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
  });
  const mount = { name: 'run-store-ca', mountPath: '/etc/windlass/run-store', readOnly: true };
  expect(containers?.[0]?.volumeMounts).toContainEqual(mount);
  expect(containers?.[0]?.env).toContainEqual({
    name: 'REDIS_CA_FILE',
    value: '/etc/windlass/run-store/ca.crt',
  });
});
