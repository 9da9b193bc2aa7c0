/** Keeps the one CronJob of a workflow's schedule, and none where there is no schedule in effect. */
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

/** The controller may be late by as much as that. */
const LATE_MS = 60_000;

export type ScheduleFacts =
  | { kind: 'placed'; cronJob: string; rules: ScheduleRules; failing?: Failing }
  /** The API server does not take it. `cronJob`: the one that fires at these times goes on as it was. */
  | ({ kind: 'refused'; cronJob?: string; rules: ScheduleRules } & CronJobRefusal);

/** Puts the schedule of the route into effect; one that is not in effect any more fires no more. */
export async function ensureSchedule(
  context: OperatorContext,
  workflow: Workflow,
  route: RouteSpec,
): Promise<{ schedule?: ScheduleFacts }> {
  const { schedule: rules } = route;
  const schedule = rules && (await place(context, workflow, route, rules));
  // The new one is there before the old one goes: a time of both is one event.
  await deleteSchedule(context, keyOf(workflow), schedule?.cronJob);
  return schedule ? { schedule } : {};
}

/** What fires as the route says, while nothing can be put into effect: a run store that is away, a right that is lacking. */
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
    const placed = await withoutOthersDeadline(client, applied.object, rules);
    if (applied.written || placed !== applied.object) caches.cronJobs.noteWrite(placed);
    return placedAs(placed, rules);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return { kind: 'refused', ...refusal, rules, ...(cached && { cronJob }) };
  }
}

/** What is left out of a manifest stays as somebody else has set it: a deadline would end what is to be made up for. */
async function withoutOthersDeadline(
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

/** Removes the CronJobs of a workflow, but for one. Their Jobs go with them. */
export async function deleteSchedule(
  { client, caches }: OperatorContext,
  { namespace, name }: Key,
  except?: string,
): Promise<void> {
  for (const cronJob of caches.cronJobs.byIndex(BY_WORKFLOW, objectKey({ namespace, name }))) {
    const { metadata } = cronJob;
    const owner = controllerOf(cronJob);
    // Whoever copies our labels keeps what is theirs.
    const isOurs = owner?.kind === WORKFLOW.kind && owner.name === name;
    if (!isOurs || metadata.name === except) continue;
    const preconditions = metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } };
    await client.delete(cronJobs, { namespace, name: metadata.name }, preconditions);
  }
}

/** When the schedule fired last, also before it was changed, and when it fires next; nothing for other triggers. */
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
  // A time that is due and has not fired yet is still the next one.
  const from = Math.max(...since, clock.date().getTime() - LATE_MS);
  const next = parseSchedule(rules.cron, rules.timeZone).next(from);
  return {
    ...(last !== undefined && { last }),
    ...(next !== undefined && { next: new Date(next).toISOString().replace('.000Z', 'Z') }),
  };
}

/**
 * In how many milliseconds to look again, although nothing has happened: a time that was due and missed would otherwise stay the next
 * one until the one after it has fired, and a tick that fails would not be told of.
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
