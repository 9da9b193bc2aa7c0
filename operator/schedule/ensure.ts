/** Ensures the one CronJob of a workflow's schedule, or none while no schedule is in effect. */
import { WORKFLOW, type Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import { parseSchedule } from '../../api/schedule/times.ts';
import type { WorkflowStatus } from '../../api/workflow.ts';
import { asChild } from '../../kube/apply.ts';
import { keyOf, type Key } from '../../kube/controller.ts';
import { controllerOf, cronJobs, objectKey, type CronJob } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { applyPods } from '../pods/applyPods.ts';
import type { ProjectConfig } from '../pods/settings.ts';
import { BY_WORKFLOW } from '../shared/caches.ts';
import { cronJobName, scheduleCronJob, type ScheduleRules } from './cronJob.ts';
import { failingOf, type Failing } from './failing.ts';
import { refusalOf, type CronJobRefusal } from '../pods/cronJobRefusal.ts';

/** The CronJob controller may be late by this much. */
const LATE_MS = 60_000;

export type ScheduleFacts =
  | { kind: 'placed'; cronJob: string; rules: ScheduleRules; failing?: Failing }
  /** The API server refuses it. `cronJob`: an existing one with this schedule stays as it was. */
  | ({ kind: 'refused'; cronJob?: string; rules: ScheduleRules } & CronJobRefusal);

/** Puts the schedule of the route into effect, and deletes the CronJobs of earlier ones. */
export async function ensureSchedule(
  context: OperatorContext,
  workflow: Workflow,
  route: RouteSpec,
): Promise<{ schedule?: ScheduleFacts }> {
  const { schedule: rules } = route;
  const schedule = rules && (await place(context, workflow, route, rules));
  // The new one is created before the old one is deleted: a time of both is one event.
  await deleteSchedule(context, keyOf(workflow), schedule?.cronJob);
  return schedule ? { schedule } : {};
}

/**
 * The schedule in effect while the spec cannot be put into effect, for example during an outage of the run
 * store.
 */
export function scheduleInPlace(
  { caches }: OperatorContext,
  { metadata: { namespace, name, uid } }: Workflow,
  route: RouteSpec | undefined,
): { schedule?: ScheduleFacts } {
  const rules = route?.schedule;
  if (rules === undefined) return {};
  const cronJob = cronJobName(name, rules);
  const found = caches.cronJobs.get(namespace, cronJob);
  return found && controllerOf(found)?.uid === uid ? { schedule: placedAs(found, rules) } : {};
}

function placedAs(cronJob: CronJob, rules: ScheduleRules): ScheduleFacts {
  const failing = failingOf(cronJob, rules);
  return { kind: 'placed', cronJob: cronJob.metadata.name, rules, ...(failing && { failing }) };
}

async function place(
  context: OperatorContext,
  workflow: Workflow,
  route: RouteSpec,
  rules: ScheduleRules,
): Promise<ScheduleFacts> {
  const { client, caches } = context;
  const { name, namespace = '' } = workflow.metadata;
  const cronJob = cronJobName(name, rules);
  const manifestOf = (config: ProjectConfig) =>
    asChild(workflow, scheduleCronJob(workflow, route, rules, config));
  const cached = await caches.cronJobs.getFresh(namespace, cronJob);
  try {
    const applied = await applyPods(context, { namespace, resource: cronJobs, cached, manifestOf });
    const placed = await withoutForeignDeadline(client, applied.object, rules);
    if (applied.written || placed !== applied.object) caches.cronJobs.noteWrite(placed);
    return placedAs(placed, rules);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return { kind: 'refused', ...refusal, rules, ...(cached && { cronJob }) };
  }
}

/**
 * Removes a deadline that another field manager set: it would drop missed times that are to be made up for.
 */
async function withoutForeignDeadline(
  client: OperatorContext['client'],
  cronJob: CronJob,
  { latestSeconds }: ScheduleRules,
): Promise<CronJob> {
  if (latestSeconds !== undefined || cronJob.spec?.startingDeadlineSeconds === undefined) return cronJob;
  const { namespace, name } = cronJob.metadata;
  const patch = { spec: { startingDeadlineSeconds: null } };
  return client.patch(cronJobs, { ...(namespace !== undefined && { namespace }), name }, patch, {
    type: 'merge',
  });
}

/** Deletes the CronJobs of a workflow, with their Jobs, except one. */
export async function deleteSchedule(
  { client, caches }: OperatorContext,
  { namespace, name }: Key,
  except?: string,
): Promise<void> {
  for (const cronJob of caches.cronJobs.byIndex(BY_WORKFLOW, objectKey({ namespace, name }))) {
    const { metadata } = cronJob;
    const owner = controllerOf(cronJob);
    // A CronJob of somebody else may have the same labels.
    const isOurs = owner?.kind === WORKFLOW.kind && owner.name === name;
    if (!isOurs || metadata.name === except) continue;
    const preconditions = metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } };
    await client.delete(cronJobs, { namespace, name: metadata.name }, preconditions);
  }
}

/** The last time, also of an earlier schedule, and the next time; undefined for other triggers. */
export function timesOf(
  { caches, clock }: OperatorContext,
  workflow: Workflow,
  schedule: ScheduleFacts | undefined,
): WorkflowStatus['schedule'] {
  if (!workflow.spec.nodes.some((node) => node.schedule)) return undefined;
  const before = workflow.status?.schedule?.last;
  if (schedule?.cronJob === undefined) return before === undefined ? undefined : { last: before };
  const { rules, cronJob } = schedule;
  const found = caches.cronJobs.get(workflow.metadata.namespace, cronJob);
  const last = found?.status?.lastScheduleTime ?? before;
  const since = [found?.metadata.creationTimestamp, last].map((time) =>
    time === undefined ? 0 : Date.parse(time),
  );
  // A time that is due and has not started yet is still the next one.
  const from = Math.max(...since, clock.date().getTime() - LATE_MS);
  const next = parseSchedule(rules.cron, rules.timeZone).next(from);
  return {
    ...(last !== undefined && { last }),
    ...(next !== undefined && { next: new Date(next).toISOString().replace('.000Z', 'Z') }),
  };
}

/**
 * When to reconcile again without a change, in milliseconds: to replace a missed time by the next one, and to
 * report a failing tick.
 */
export function nextScheduleCheckMs(
  times: WorkflowStatus['schedule'],
  schedule: ScheduleFacts | undefined,
  now: Date,
): number | undefined {
  const failing = schedule?.kind === 'placed' ? schedule.failing : undefined;
  const moments = [
    ...(times?.next === undefined ? [] : [Date.parse(times.next) + LATE_MS]),
    ...(failing && failing.from > now.getTime() ? [failing.from] : []),
  ];
  return moments.length === 0 ? undefined : Math.max(Math.min(...moments) - now.getTime(), 0) + 1_000;
}
