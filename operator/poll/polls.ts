/** What the operator remembers of polled triggers. */
import type { CronJobRefusal } from '../pods/cronJobRefusal.ts';
import type { Key } from '../../kube/controller.ts';
import { createNotifier, type Notifier } from '../shared/notifier.ts';
import type { PollMetrics } from './metrics.ts';

export type Polls = {
  /** By namespace: why the API server refuses the CronJob that polls accounts. */
  refusals: Map<string, CronJobRefusal>;
  /** By workflow: when its polling status was written last. */
  writtenAt: Map<string, number>;
  /** Notifies of a workflow whose condition differs from what the run store knows. */
  healthChanged: Notifier<Key>;
  metrics: PollMetrics;
};

export function createPolls(metrics: PollMetrics): Polls {
  return { refusals: new Map(), writtenAt: new Map(), healthChanged: createNotifier(), metrics };
}
