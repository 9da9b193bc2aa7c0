/** The CronJob of a schedule, which starts a short-lived pod at each scheduled time. Pure. */
import { LABEL } from '../../api/group.ts';
import type { Workflow } from '../../api/kinds.ts';
import { childName, shortHash } from '../../api/names.ts';
import { LOST_EXIT } from '../../api/tick.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { ScheduleTrigger } from '../../api/trigger.ts';
import type { Manifest } from '../../kube/writes.ts';
import type { CronJob } from '../../kube/resource.ts';
import { authorityMount, authorityVariable } from '../pods/authority.ts';
import { POOL, TICK_LABELS } from '../shared/names.ts';
import { RESTRICTED_CONTAINER, restrictedPod } from '../pods/podSpec.ts';
import type { ProjectConfig } from '../pods/settings.ts';

/** A CronJob's name leaves room for what its Jobs' names add. */
const NAME_LIMIT = 52;
const DEADLINE_SECONDS = 300;
/** For pulling the image and starting. */
const START_SECONDS = 120;
/** Ticks that wait longer do not accumulate: the next one replaces them. */
const LONGEST_TOGETHER_SECONDS = DEADLINE_SECONDS;
/** A tick that is stopped exits after one call of the run store at the latest. */
const GRACE_SECONDS = 5;
const CONTAINER = 'tick';

/** The configuration that a tick depends on. */
export type TickConfig = Pick<
  ProjectConfig,
  | 'RUNNER_IMAGE'
  | 'RUNNER_IMAGE_PULL_POLICY'
  | 'RUNNER_IMAGE_PULL_SECRETS'
  | 'RUNNER_ENV'
  | 'TICK_RESOURCES'
  | 'REDIS_URL'
  | 'REDIS_CA_FILE'
  | 'placement'
>;

/** A schedule with its defaults filled in. */
export type ScheduleRules = NonNullable<RouteSpec['schedule']>;

export function rulesOf({
  cron,
  timeZone = 'UTC',
  missed,
  startingDeadlineSeconds,
}: ScheduleTrigger): ScheduleRules {
  const otherwise = missed === 'RunLatest' ? undefined : DEADLINE_SECONDS;
  const latestSeconds = startingDeadlineSeconds ?? otherwise;
  return { cron, timeZone, ...(latestSeconds !== undefined && { latestSeconds }) };
}

/**
 * Another schedule has another name: a CronJob that is changed in place starts at once for a time of its new
 * schedule between its last start and now.
 */
export function cronJobName(workflow: string, { cron, timeZone }: ScheduleRules): string {
  return childName(workflow, shortHash(`${cron}\n${timeZone}`), NAME_LIMIT);
}

/** The CronJob of an active route. */
export function scheduleCronJob(
  workflow: Workflow,
  route: RouteSpec,
  rules: ScheduleRules,
  config: TickConfig,
): Manifest<CronJob> {
  const { cron, timeZone, latestSeconds } = rules;
  const name = cronJobName(workflow.metadata.name, rules);
  const labels = { ...TICK_LABELS, [LABEL.workflow]: workflow.metadata.name };
  return {
    metadata: { name, namespace: workflow.metadata.namespace ?? '', labels },
    spec: {
      schedule: cron,
      timeZone,
      // Set explicitly, so that a manual suspension is reverted: `spec.active` decides.
      suspend: false,
      ...patienceOf(rules),
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: { labels },
        spec: {
          backoffLimit: 3,
          podFailurePolicy: FAILURES,
          ...(latestSeconds !== undefined && { activeDeadlineSeconds: latestSeconds + START_SECONDS }),
          template: { metadata: { labels }, spec: podSpec(name, route, rules, config) },
        },
      },
    },
  };
}

/**
 * A tick lives as long as its time counts, even if its pod cannot be scheduled or the run store is
 * unavailable.
 */
function patienceOf({ latestSeconds = Infinity }: ScheduleRules): Partial<NonNullable<CronJob['spec']>> {
  return {
    // A waiting tick must not delay the next one.
    concurrencyPolicy: latestSeconds > LONGEST_TOGETHER_SECONDS ? 'Replace' : 'Allow',
    ...(latestSeconds !== Infinity && { startingDeadlineSeconds: latestSeconds }),
  };
}

/** A time that is too late is not retried; a pod that a node drain evicted is retried without counting. */
const FAILURES = {
  rules: [
    {
      action: 'FailJob',
      onExitCodes: { containerName: CONTAINER, operator: 'In', values: [LOST_EXIT] },
    },
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
  ],
};

type PodSpec = NonNullable<
  NonNullable<NonNullable<CronJob['spec']>['jobTemplate']['spec']>['template']['spec']
>;
type Variable = NonNullable<PodSpec['containers'][number]['env']>[number];

function podSpec(cronJob: string, route: RouteSpec, rules: ScheduleRules, config: TickConfig): PodSpec {
  const { requests, limits } = config.TICK_RESOURCES;
  const { volumes, volumeMounts } = authorityMount(config);
  return {
    ...restrictedPod(config),
    // It connects to the run store only.
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    // A pod that restarts in place is deleted with its log when the Job fails.
    restartPolicy: 'Never',
    containers: [
      {
        name: CONTAINER,
        image: config.RUNNER_IMAGE,
        imagePullPolicy: config.RUNNER_IMAGE_PULL_POLICY,
        command: ['node', '/app/tick.mjs'],
        env: environment(cronJob, route, rules, config),
        // `kubectl describe pod` then shows the reason.
        terminationMessagePolicy: 'FallbackToLogsOnError',
        resources: { ...(requests && { requests }), ...(limits && { limits }) },
        securityContext: RESTRICTED_CONTAINER,
        ...(volumeMounts && { volumeMounts }),
      },
    ],
    ...(volumes && { volumes }),
  };
}

function environment(
  cronJob: string,
  route: RouteSpec,
  { timeZone, latestSeconds }: ScheduleRules,
  { REDIS_URL, REDIS_CA_FILE, RUNNER_ENV }: TickConfig,
): Variable[] {
  const secret = (name: string, key: string): Variable => ({
    name,
    valueFrom: { secretKeyRef: { name: POOL, key } },
  });
  const label = (name: string, key: string): Variable => ({
    name,
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${key}']` } },
  });
  const own = [
    { name: 'PROJECT_UID', value: route.projectUID },
    { name: 'WORKFLOW', value: route.workflow },
    { name: 'WORKFLOW_UID', value: route.workflowUID },
    { name: 'REVISION', value: route.revision },
    { name: 'CRON_JOB', value: cronJob },
    label('JOB_NAME', 'batch.kubernetes.io/job-name'),
    label('JOB_UID', 'batch.kubernetes.io/controller-uid'),
    { name: 'TIME_ZONE', value: timeZone },
    // The API server drops an empty value, which would look like a change each time.
    ...(latestSeconds === undefined ? [] : [{ name: 'LATEST_SECONDS', value: String(latestSeconds) }]),
    { name: 'REDIS_URL', value: REDIS_URL },
    ...authorityVariable({ REDIS_CA_FILE }),
    secret('REDIS_USERNAME', 'username'),
    secret('REDIS_PASSWORD', 'password'),
  ];
  const taken = new Set(own.map(({ name }) => name));
  const further = Object.entries(RUNNER_ENV).flatMap(([name, value]) =>
    taken.has(name) ? [] : [{ name, value }],
  );
  return [...own, ...further];
}
