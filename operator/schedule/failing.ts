/** Whether ticks fail, as far as the CronJob tells: Jobs and pods are not looked at. Pure. */
import type { Workflow } from '../../api/kinds.ts';
import { parseSchedule } from '../../api/schedule/times.ts';
import type { Change } from '../../kube/cache.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { CronJob } from '../../kube/resource.ts';
import type { ScheduleRules } from './cronJob.ts';

/** Within that time of a scheduled time its tick has ended, unless something is wrong. */
const PATIENCE_MS = 420_000;

/** Milliseconds since 1970: the first time of which nothing is known to have succeeded since, and from when on that is told. */
export type Failing = { since: number; from: number };

/** Undefined where nothing has fired since the last tick that succeeded. */
export function failingOf({ metadata, status }: CronJob, rules: ScheduleRules): Failing | undefined {
  const { lastScheduleTime, lastSuccessfulTime = metadata.creationTimestamp } = status ?? {};
  if (lastScheduleTime === undefined || lastSuccessfulTime === undefined) return undefined;
  const since = parseSchedule(rules.cron, rules.timeZone).next(Date.parse(lastSuccessfulTime));
  if (since === undefined || since > Date.parse(lastScheduleTime)) return undefined;
  return { since, from: since + PATIENCE_MS };
}

/** Whether the change of its CronJob may change anything that is said of the workflow: each tick makes several. */
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
