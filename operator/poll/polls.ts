/** What the operator remembers of polled triggers. */
import type { CronJobRefusal } from '../pods/cronJobRefusal.ts';
import type { Key } from '../../kube/controller.ts';
import { createNotifier, type Notifier } from '../shared/notifier.ts';
import type { PollMetrics } from './metrics.ts';

export type Polls = {
  /** By namespace: why the API server refuses the CronJob that polls accounts. */
  refusals: Map<string, CronJobRefusal>;
  /**
   * By namespace: whether a runner polls the accounts of the project; no entry while this process does not
   * know.
   */
  polling: Map<string, boolean>;
  /** Notifies of a namespace for which that changed. */
  pollingChanged: Notifier<string>;
  /** By workflow: when its polling status was written last. */
  writtenAt: Map<string, number>;
  /** Notifies of a workflow whose condition differs from what the run store knows. */
  healthChanged: Notifier<Key>;
  metrics: PollMetrics;
};

export function createPolls(metrics: PollMetrics): Polls {
  return {
    refusals: new Map(),
    polling: new Map(),
    pollingChanged: createNotifier(),
    writtenAt: new Map(),
    healthChanged: createNotifier(),
    metrics,
  };
}
