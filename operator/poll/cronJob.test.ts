import { expect, test } from 'vitest';
import { readConfig } from '../shared/config.ts';
import { withSettings } from '../pods/settings.ts';
import { poolNetworkPolicy } from '../project/manifests.ts';
import { pollCronJob } from './cronJob.ts';

const config = withSettings(
  readConfig({
    PUBLIC_URL: 'http://x',
    REDIS_URL: 'redis://store:6379',
    RUNNER_IMAGE: 'windlass:test',
    RUNNER_ENV: '{"HTTPS_PROXY":"http://proxy:3128"}',
    RUNNER_EGRESS_ALLOW: '10.0.0.0/8',
    RUNNER_NETWORK: '{"ingress":[],"egress":[]}',
  }),
);
const EACH_MINUTE = { period: 1, isSuspended: false };
const { spec } = pollCronJob({ namespace: 'shop', uid: 'project-1' }, config, EACH_MINUTE);
const job = spec?.jobTemplate.spec;
const pod = job?.template.spec;

test('a pod starts each minute, never concurrently, and one that hangs is stopped', () => {
  expect(spec).toMatchObject({ schedule: '* * * * *', concurrencyPolicy: 'Forbid', suspend: false });
  expect(job?.activeDeadlineSeconds).toBe(120);
  expect(spec).toMatchObject({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 });
});

test('a longer period is that of the schedule and of the pod, and a start that was missed meanwhile is made up for', () => {
  const options = { period: 15, isSuspended: true };
  const rare = pollCronJob({ namespace: 'shop', uid: 'project-1' }, config, options).spec;
  expect(rare).toMatchObject({ suspend: true, timeZone: 'Etc/UTC', startingDeadlineSeconds: 900 });
  expect(rare?.schedule).toMatch(/^\d+-59\/15 \* \* \* \*$/);
  const [container] = rare?.jobTemplate.spec?.template.spec?.containers ?? [];
  expect(container?.env).toContainEqual({ name: 'POLL_PERIOD_SECONDS', value: '900' });
});

test.each([
  [1, 120, 3, 'Forbid'],
  [2, 120, 3, 'Forbid'],
  [3, 120, 3, 'Replace'],
  [5, 240, 5, 'Replace'],
  [1_440, 86_340, 1_440, 'Replace'],
])(
  'with a period of %d minutes a pod waits for room, or for a node, and restarts, until shortly before the next one',
  (period, seconds, restarts, policy) => {
    const options = { period, isSuspended: false };
    expect(pollCronJob({ namespace: 'shop', uid: 'project-1' }, config, options).spec).toMatchObject({
      jobTemplate: { spec: { activeDeadlineSeconds: seconds, backoffLimit: restarts } },
      concurrencyPolicy: policy,
    });
  },
);

test('the pod has the account, the environment and the network of the runners', () => {
  expect(pod).toMatchObject({ serviceAccountName: 'windlass-runner', automountServiceAccountToken: true });
  const env = pod?.containers[0]?.env ?? [];
  for (const variable of [
    { name: 'PROJECT_UID', value: 'project-1' },
    { name: 'EGRESS_ALLOW', value: '10.0.0.0/8' },
    { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
    { name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    { name: 'REDIS_PASSWORD', valueFrom: { secretKeyRef: { name: 'windlass-runner', key: 'password' } } },
  ])
    expect(env).toContainEqual(variable);
  const { podSelector } = poolNetworkPolicy('shop', config)?.spec ?? {};
  const name = job?.template.metadata?.labels?.['app.kubernetes.io/name'];
  expect(podSelector?.matchExpressions[0]?.values).toContain(name);
});

test('the pod passes Pod Security "restricted"', () => {
  expect(pod?.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  expect(pod?.containers[0]?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
});

test('the pod trusts what the runners trust of the run store', () => {
  const trusting = pollCronJob(
    { namespace: 'shop', uid: 'project-1' },
    { ...config, REDIS_CA_FILE: '/ca.crt' },
    EACH_MINUTE,
  );
  const { volumes, containers } = trusting.spec?.jobTemplate.spec?.template.spec ?? {};
  expect(volumes).toMatchObject([{ name: 'run-store-ca', secret: { secretName: 'windlass-runner' } }]);
  expect(containers?.[0]).toMatchObject({
    volumeMounts: [{ name: 'run-store-ca', mountPath: '/etc/windlass/run-store' }],
    env: expect.arrayContaining([{ name: 'REDIS_CA_FILE', value: '/etc/windlass/run-store/ca.crt' }]),
  });
  expect(pod).not.toHaveProperty('volumes');
});
