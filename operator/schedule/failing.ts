/** Whether ticks fail, by the status of the CronJob. Pure. */
import type { Workflow } from '../../api/kinds.ts';
import { parseSchedule } from '../../api/schedule/times.ts';
import type { Change } from '../../kube/cache.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { CronJob } from '../../kube/resource.ts';
import type { ScheduleRules } from './cronJob.ts';

/** A tick has ended within this time, unless it fails. */
const PATIENCE_MS = 420_000;

/**
 * Milliseconds since 1970. `since`: the first scheduled time after the last success; `from`: when it counts
 * as failing.
 */
export type Failing = { since: number; from: number };

/** Undefined if no tick was started since the last success. */
export function failingOf({ metadata, status }: CronJob, rules: ScheduleRules): Failing | undefined {
  const { lastScheduleTime, lastSuccessfulTime = metadata.creationTimestamp } = status ?? {};
  if (lastScheduleTime === undefined || lastSuccessfulTime === undefined) return undefined;
  const since = parseSchedule(rules.cron, rules.timeZone).next(Date.parse(lastSuccessfulTime));
  if (since === undefined || since > Date.parse(lastScheduleTime)) return undefined;
  return { since, from: since + PATIENCE_MS };
}

/**
 * Whether the change of the CronJob may change the status of the workflow. Each tick causes several changes.
 */
export function isOfInterest(change: Change<CronJob>, workflow: Workflow | undefined): boolean {
  if (change.type !== 'updated') return true;
  const { old, object } = change;
  const isFailing = findCondition(workflow?.status?.conditions, 'Scheduled')?.reason === 'TicksFail';
  return (
    old.metadata.generation !== object.metadata.generation ||
    old.status?.lastScheduleTime !== object.status?.lastScheduleTime ||
    (isFailing && old.status?.lastSuccessfulTime !== object.status?.lastSuccessfulTime)
  );
}
