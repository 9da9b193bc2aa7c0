import { expect, test } from 'vitest';
import type { Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { ScheduleTrigger } from '../../api/trigger.ts';
import { readConfig } from '../shared/config.ts';
import { withSettings } from '../pods/settings.ts';
import { cronJobName, rulesOf, scheduleCronJob } from './cronJob.ts';

const config = withSettings(
  readConfig({
    PUBLIC_URL: 'http://x',
    REDIS_URL: 'redis://store:6379',
    RUNNER_IMAGE: 'windlass:1',
  }),
);
const workflow: Workflow = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'report', namespace: 'shop', uid: 'uid-1' },
  spec: { active: true, nodes: [] },
};
const route: RouteSpec = {
  workflow: 'report',
  workflowUID: 'uid-1',
  projectUID: 'project-1',
  revision: 'report-abc',
  trigger: 'schedule',
  active: true,
};
const daily = rulesOf({ cron: '0 9 * * *' });
const cronJobOf = (rules = daily) => {
  const { metadata, ...rest } = scheduleCronJob(workflow, route, rules, config);
  return { ...rest, metadata, apiVersion: 'batch/v1', kind: 'CronJob' };
};

test.each([
  ['nothing else', {}, { cron: '0 9 * * *', timeZone: 'UTC', latestSeconds: 300 }],
  ['Skip', { missed: 'Skip' as const }, { cron: '0 9 * * *', timeZone: 'UTC', latestSeconds: 300 }],
  ['RunLatest', { missed: 'RunLatest' as const }, { cron: '0 9 * * *', timeZone: 'UTC' }],
  [
    'RunLatest and a deadline',
    { missed: 'RunLatest' as const, startingDeadlineSeconds: 60 },
    { cron: '0 9 * * *', timeZone: 'UTC', latestSeconds: 60 },
  ],
])('a schedule that says %s has the defaults for the rest', (_what, more, rules) => {
  expect(rulesOf({ cron: '0 9 * * *', ...more })).toEqual(rules);
});

test('other times and another zone have another name, another deadline has not', () => {
  const names = [
    { cron: '0 9 * * *' },
    { cron: '0 8 * * *' },
    { cron: '0 9 * * *', timeZone: 'Asia/Tokyo' },
    { cron: '0 9 * * *', startingDeadlineSeconds: 60 },
  ].map((trigger) => cronJobName('report', rulesOf(trigger)));
  expect(new Set(names).size).toBe(3);
  expect(names[3]).toBe(names[0]);
});

test('a name has room for what the names of its Jobs add, and differs from that of a similar workflow', () => {
  const long = 'a'.repeat(63);
  const names = [`${long.slice(1)}b`, long].map((name) => cronJobName(name, daily));
  expect(names.every((name) => name.length <= 52)).toBe(true);
  expect(names[0]).not.toBe(names[1]);
});

test('a tick has what the chart gives runners in their environment, such as the authority of the run store', () => {
  const env = { NODE_EXTRA_CA_CERTS: '/etc/ca.pem', REDIS_URL: 'redis://elsewhere' };
  const settings = { ...config, RUNNER_ENV: env };
  const { spec } = scheduleCronJob(workflow, route, daily, settings);
  const given = spec?.jobTemplate.spec?.template.spec?.containers[0]?.env ?? [];
  expect(given).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca.pem' });
  expect(given.filter(({ name }) => name === 'REDIS_URL')).toEqual([
    { name: 'REDIS_URL', value: 'redis://store:6379' },
  ]);
});

test('the pod of a failed tick stays with its message, and a time that is too late is not retried', () => {
  const job = cronJobOf().spec?.jobTemplate.spec;
  expect(job?.template.spec).toMatchObject({
    restartPolicy: 'Never',
    containers: [{ name: 'tick', terminationMessagePolicy: 'FallbackToLogsOnError' }],
  });
  expect(job?.podFailurePolicy?.rules[0]).toEqual({
    action: 'FailJob',
    onExitCodes: { containerName: 'tick', operator: 'In', values: [3] },
  });
});

type Lives = { policy: string; starts?: number; lives?: number };

test.each<[what: string, trigger: Partial<ScheduleTrigger>, lives: Lives]>([
  ['Skip', {}, { policy: 'Allow', starts: 300, lives: 420 }],
  ['a long deadline', { startingDeadlineSeconds: 3_600 }, { policy: 'Replace', starts: 3_600, lives: 3_720 }],
  ['RunLatest', { missed: 'RunLatest' }, { policy: 'Replace' }],
])('with %s a tick lives for as long as its time counts', (_what, trigger, { policy, starts, lives }) => {
  const { spec } = cronJobOf(rulesOf({ cron: '0 9 * * *', ...trigger }));
  expect(spec).toMatchObject({ concurrencyPolicy: policy });
  expect(spec?.startingDeadlineSeconds).toBe(starts);
  expect(spec?.jobTemplate.spec?.activeDeadlineSeconds).toBe(lives);
  const latest = spec?.jobTemplate.spec?.template.spec?.containers[0]?.env?.find(
    ({ name }) => name === 'LATEST_SECONDS',
  );
  expect(latest?.value).toBe(starts === undefined ? undefined : String(starts));
});

test('the tick has the account of the runners, no token, and finds its time in the name of its Job', () => {
  const pod = cronJobOf().spec?.jobTemplate.spec?.template.spec;
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 5,
  });
  expect(pod?.containers[0]?.env).toContainEqual({
    name: 'JOB_NAME',
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-name']" } },
  });
  expect(pod?.containers[0]?.env).toContainEqual({
    name: 'JOB_UID',
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']" } },
  });
});

test('the tick trusts what the runners trust of the run store', () => {
  const { spec } = scheduleCronJob(workflow, route, daily, { ...config, REDIS_CA_FILE: '/ca.crt' });
  const { volumes, containers } = spec?.jobTemplate.spec?.template.spec ?? {};
  expect(volumes).toMatchObject([{ name: 'run-store-ca', secret: { secretName: 'windlass-runner' } }]);
  expect(containers?.[0]).toMatchObject({
    volumeMounts: [{ name: 'run-store-ca', mountPath: '/etc/windlass/run-store' }],
    env: expect.arrayContaining([{ name: 'REDIS_CA_FILE', value: '/etc/windlass/run-store/ca.crt' }]),
  });
});
