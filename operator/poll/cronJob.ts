/** The CronJob of a project with polled triggers, which creates poll pods while no runner polls. Pure. */
import type { Manifest } from '../../kube/writes.ts';
import type { CronJob } from '../../kube/resource.ts';
import { authorityMount } from '../pods/authority.ts';
import { poolEnvironment } from '../pods/environment.ts';
import { POLL, POLL_LABELS } from '../shared/names.ts';
import { RESTRICTED_CONTAINER, restrictedPod } from '../pods/podSpec.ts';
import type { ProjectConfig } from '../pods/settings.ts';
import { cronOf } from './period.ts';

/** A pod runs for 75 s at most, after its image was pulled. */
const LEAST_DEADLINE_SECONDS = 120;
/** Of a pod that lives for two minutes. */
const LEAST_RESTARTS = 3;
/** So long before the next pod one is ended that hangs, or could not start, so that the next can start. */
const BEFORE_NEXT_SECONDS = 60;

/** The configuration that a poll pod depends on. */
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

/**
 * The CronJob. `period`: minutes from one pod to the next. When it is no longer suspended, Kubernetes creates
 * the pod of the last period at once, so that nobody waits for the next one.
 */
export function pollCronJob(
  project: { namespace: string; uid: string },
  config: PollConfig,
  { period, isSuspended }: { period: number; isSuspended: boolean },
): Manifest<CronJob> {
  const labels = { ...POLL_LABELS };
  const deadlineSeconds = Math.max(LEAST_DEADLINE_SECONDS, period * 60 - BEFORE_NEXT_SECONDS);
  return {
    metadata: { name: POLL, namespace: project.namespace, labels },
    spec: {
      schedule: cronOf(period, project.uid),
      timeZone: 'Etc/UTC',
      suspend: isSuspended,
      // Where a pod ends before the next one, the one that is still there is of a longer period before, or
      // of the last sleep: it may wait for an image of that time, and must not block this period.
      concurrencyPolicy: deadlineSeconds < period * 60 ? 'Replace' : 'Forbid',
      startingDeadlineSeconds: period * 60,
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: { labels },
        spec: {
          // Restarts come at ever longer intervals, up to five minutes: only the deadline ends them.
          backoffLimit: Math.max(LEAST_RESTARTS, period),
          // The next pod may come in a day: one that waits for a quota or a node must not be lost.
          activeDeadlineSeconds: deadlineSeconds,
          template: { metadata: { labels }, spec: podSpec(project.uid, config, period) },
        },
      },
    },
  };
}

type PodSpec = NonNullable<
  NonNullable<NonNullable<CronJob['spec']>['jobTemplate']['spec']>['template']['spec']
>;

function podSpec(projectUid: string, config: PollConfig, period: number): PodSpec {
  const { requests, limits } = config.POLL_RESOURCES;
  const { volumes, volumeMounts } = authorityMount(config);
  return {
    ...restrictedPod(config),
    // It reads credentials as the runners do.
    automountServiceAccountToken: true,
    // A process that restarts in the same pod can reuse the claims of the one before.
    restartPolicy: 'OnFailure',
    terminationGracePeriodSeconds: 5,
    containers: [
      {
        name: 'poll',
        image: config.RUNNER_IMAGE,
        imagePullPolicy: config.RUNNER_IMAGE_PULL_POLICY,
        command: ['node', '/app/poll.mjs'],
        env: poolEnvironment(projectUid, { ...config, RUNNER_RESOURCES: config.POLL_RESOURCES }, [
          { name: 'POLL_PERIOD_SECONDS', value: String(period * 60) },
        ]),
        terminationMessagePolicy: 'FallbackToLogsOnError',
        resources: { ...(requests && { requests }), ...(limits && { limits }) },
        securityContext: RESTRICTED_CONTAINER,
        ...(volumeMounts && { volumeMounts }),
      },
    ],
    ...(volumes && { volumes }),
  };
}
