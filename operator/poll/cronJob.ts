/** The CronJob of a project whose triggers are polled, as a pure function: a pod each minute that looks at all of them. */
import type { Manifest } from '../../kube/writes.ts';
import type { CronJob } from '../../kube/resource.ts';
import { authorityMount } from '../pods/authority.ts';
import { poolEnvironment } from '../pods/environment.ts';
import { POLL, POLL_LABELS } from '../shared/names.ts';
import { RESTRICTED_CONTAINER, restrictedPod } from '../pods/podSpec.ts';
import type { ProjectConfig } from '../pods/settings.ts';

/** A pod lives for 75 s at most; this ends one that hangs, so that the next one can begin. */
const DEADLINE_SECONDS = 120;
/** One that is late by more than that begins at the next minute. */
const LATE_SECONDS = 60;

/** What of the configuration makes a poll pod. */
export type PollConfig = Pick<
  ProjectConfig,
  | 'RUNNER_IMAGE'
  | 'RUNNER_IMAGE_PULL_POLICY'
  | 'RUNNER_IMAGE_PULL_SECRETS'
  | 'RUNNER_ENV'
  | 'RUNNER_EGRESS_ALLOW'
  | 'RUNNER_EGRESS_DENY'
  | 'POLL_RESOURCES'
  | 'REDIS_URL'
  | 'REDIS_CA_FILE'
  | 'LOG_LEVEL'
  | 'placement'
>;

/** The CronJob. */
export function pollCronJob(
  project: { namespace: string; uid: string },
  config: PollConfig,
): Manifest<CronJob> {
  const labels = { ...POLL_LABELS };
  return {
    metadata: { name: POLL, namespace: project.namespace, labels },
    spec: {
      schedule: '* * * * *',
      suspend: false,
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: LATE_SECONDS,
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: { labels },
        spec: {
          backoffLimit: 3,
          activeDeadlineSeconds: DEADLINE_SECONDS,
          template: { metadata: { labels }, spec: podSpec(project.uid, config) },
        },
      },
    },
  };
}

type PodSpec = NonNullable<
  NonNullable<NonNullable<CronJob['spec']>['jobTemplate']['spec']>['template']['spec']
>;

function podSpec(projectUid: string, config: PollConfig): PodSpec {
  const { requests, limits } = config.POLL_RESOURCES;
  const { volumes, volumeMounts } = authorityMount(config);
  return {
    ...restrictedPod(config),
    // It reads credentials as the runners do.
    automountServiceAccountToken: true,
    // What the process before it has claimed is known to be free in the same pod.
    restartPolicy: 'OnFailure',
    terminationGracePeriodSeconds: 5,
    containers: [
      {
        name: 'poll',
        image: config.RUNNER_IMAGE,
        imagePullPolicy: config.RUNNER_IMAGE_PULL_POLICY,
        command: ['node', '/app/poll.mjs'],
        env: poolEnvironment(projectUid, { ...config, RUNNER_RESOURCES: config.POLL_RESOURCES }),
        terminationMessagePolicy: 'FallbackToLogsOnError',
        resources: { ...(requests && { requests }), ...(limits && { limits }) },
        securityContext: RESTRICTED_CONTAINER,
        ...(volumeMounts && { volumeMounts }),
      },
    ],
    ...(volumes && { volumes }),
  };
}
