/** Puts workflows into effect and reports their state. */
import { isEnabled } from '../../api/access.ts';
import type { Reason } from '../../api/conditions.ts';
import type { Workflow } from '../../api/kinds.ts';
import { verificationIn, type RouteSpec } from '../../api/route.ts';
import { kindOf } from '../../api/workflow.ts';
import { findCondition } from '../../kube/conditions.ts';
import { after, done, StalledError, WaitingError, type Action, type Key } from '../../kube/controller.ts';
import { pricesOf } from '../shared/config.ts';
import type { Condition } from '../../kube/resource.ts';
import { recordMadePublic } from './audit.ts';
import type { Counts } from '../counts/controller.ts';
import type { Pools } from '../pods/pools.ts';
import { projectSleepAfter } from '../pods/scaling.ts';
import type { Polls } from '../poll/polls.ts';
import { type Registrations, registrationHealth } from '../registration/registrations.ts';
import { projectVariables } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { Controller } from '../shared/controller.ts';
import type { StoreChanges } from '../store/changes.ts';
import type { FullProjects } from '../store/fullProjects.ts';
import { nextCheckMs } from '../credential/controller.ts';
import type { GatewayView } from '../gateways/view.ts';
import { isPolled } from '../../nodes/pollers.ts';
import {
  accessOf,
  closingViolation,
  droppedScheme,
  publicNote,
  reportClosed,
  reportMadePublic,
} from './access.ts';
import { secretsOf } from '../project/needs.ts';
import { poolState } from '../project/readiness.ts';
import type { ScalingState } from '../scaling/state.ts';
import { nextScheduleCheckMs, timesOf } from '../schedule/ensure.ts';
import { credentialProblems } from '../credential/problems.ts';
import { withDefaults, workflowDefaults } from '../shared/projectSettings.ts';
import { credentialRefs } from '../shared/credentialRefs.ts';
import { pruneRevisions } from './revision.ts';
import { writeStatus } from '../shared/status.ts';
import { openUrl, OWNED_FIELDS, shownUrl, statusOf } from './status.ts';
import { removeWorkflow, servedRoute, takeEffect, type Effect, type EffectContext } from './effect.ts';
import { violationsOf } from './violations.ts';
import { watches } from './watches.ts';
import { budgetNotes } from './checks/budgets.ts';
import { durationNotes } from './checks/durations.ts';
import { sleepNotes } from './checks/sleep.ts';
import { exposureNotes } from './checks/exposure.ts';
import { itemsNotes } from './checks/items.ts';
import type { Violation } from './checks/check.ts';
import type { Facts } from './conditions/facts.ts';
import { conditionsOf } from './conditions/conditions.ts';

/** While a replica lags: a Lease expires without an event. */
const LAGGING_MS = 1_000;
/** For so long a status waits for replicas that read a new route: most have it within a fraction of that. */
const ROUTE_READ_MS = 1_000;
/** While another workflow has the bot: one that is deactivated before it had a route causes no event. */
const UNSERVED_MS = 30_000;

type WorkflowContext = EffectContext & {
  storeChanges: Pick<StoreChanges, 'lost' | 'full'>;
  gateways: Pick<GatewayView, 'onChange'>;
  registrations: Pick<Registrations, 'health' | 'changed'>;
  polls: Pick<Polls, 'healthChanged'>;
  pools: Pick<Pools, 'refusals' | 'grantedSecrets' | 'podProblems' | 'accessChanged'>;
  scaling: Pick<ScalingState, 'asleep' | 'waking' | 'otherScalers' | 'refusals' | 'otherScalersChanged'>;
  counts: Pick<Counts, 'limitsMissing'>;
  fullProjects: FullProjects;
};

export const workflowController: Controller<WorkflowContext> = {
  name: 'workflow',
  concurrency: 8,
  watches,
  reconcile: reconcileWorkflow,
};

async function reconcileWorkflow(key: Key, context: WorkflowContext): Promise<Action> {
  const { caches } = context;
  const found = await caches.workflows.getFresh(key.namespace, key.name);
  const namespace = caches.namespaces.get(undefined, key.namespace);
  if (!found || found.metadata.deletionTimestamp !== undefined) return removeWorkflow(context, key);
  // In a namespace that is being deleted no object can be created.
  if (!namespace?.metadata.uid || namespace.metadata.deletionTimestamp !== undefined) return done();
  const workflow = withDefaults(found, workflowDefaults(caches, key.namespace));
  const variables = projectVariables(caches, key.namespace);
  const violations = await violationsOf(context, workflow);
  const before = servedRoute(context, workflow)?.spec;
  const effect = await takeEffect(context, workflow, namespace.metadata.uid, {
    violations,
    variables,
    given: found.spec,
  });
  reportAccess(context, workflow, { before, after: effect.route, violations });
  const readMs = remainingReadMs(effect);
  if (readMs > 0) return after(readMs);
  const conditions = await reportStatus(context, workflow, violations, effect);
  if (effect.error !== undefined) throw effect.error;
  if (effect.route) await pruneRevisions(context, workflow, effect.route);
  const action = nextAction(effect, violations);
  if (action.kind !== 'done') return action;
  if (effect.route && verificationIn(effect.route)) return readAgain(context, conditions);
  const times = timesOf(context, workflow, effect.schedule);
  const againMs = nextScheduleCheckMs(times, effect.schedule, context.clock.date());
  return againMs === undefined ? action : after(againMs);
}

/**
 * How many milliseconds longer replicas may take to read the route before the status says that they lag: it
 * would be written twice for each change.
 */
function remainingReadMs({ facts, routing }: Effect): number {
  if (facts.kind !== 'applied' || routing?.kind !== 'Lagging') return 0;
  return Math.max(0, ROUTE_READ_MS - routing.ms);
}

type AccessChange = {
  before: RouteSpec | undefined;
  after: RouteSpec | undefined;
  violations: readonly Violation[];
};

/** Reports a served webhook that became public, or was closed because it is public. */
function reportAccess(
  context: WorkflowContext,
  workflow: Workflow,
  { violations, ...routes }: AccessChange,
): void {
  const scheme = droppedScheme(routes.before, routes.after);
  if (scheme !== undefined) {
    reportMadePublic(context.events, workflow, scheme);
    recordMadePublic(context, workflow, scheme);
  }
  const violation = closingViolation(workflow, routes, violations);
  if (violation !== undefined) reportClosed(context.events, workflow, violation);
}

/** Secrets are not watched, but read again: see the credential controller. */
function readAgain({ clock }: OperatorContext, conditions: readonly Condition[]): Action {
  return after(nextCheckMs(findCondition(conditions, 'CredentialsReady'), clock.date()));
}

/** What a valid workflow is told. */
function notesOf(
  { caches, config }: WorkflowContext,
  workflow: Workflow,
  violations: readonly Violation[],
): string[] {
  const { namespace = '' } = workflow.metadata;
  const { annotations } = caches.namespaces.get(undefined, namespace)?.metadata ?? {};
  return [
    ...durationNotes(workflow.spec),
    ...budgetNotes(workflow.spec, { prices: pricesOf(config), annotations }),
    ...failureNotes(workflow, caches),
    ...sleepNotes(workflow.spec, projectSleepAfter({ config, caches }, namespace)),
    ...(violations.length === 0 ? [...itemsNotes(workflow.spec), ...exposureNotes(workflow.spec)] : []),
  ];
}

async function reportStatus(
  context: WorkflowContext,
  workflow: Workflow,
  violations: readonly Violation[],
  { facts: route, route: spec, routing, unverifiable, unserved, schedule, poll }: Effect,
): Promise<readonly Condition[]> {
  const { caches, config, clock } = context;
  const { namespace = '', generation = 0 } = workflow.metadata;
  const health = poll ?? registrationHealth(context, workflow, spec);
  const url = openUrl(config.PUBLIC_URL, workflow.metadata, spec);
  const refs = credentialRefs(workflow.spec);
  const full = context.fullProjects.limitOf(namespace);
  const facts: Facts = {
    generation,
    active: isEnabled(workflow.spec),
    suspended: workflow.spec.suspend === true,
    waitingRuns: waitingRuns(workflow),
    violations,
    notes: notesOf(context, workflow, violations),
    credentials: credentialProblems(refs, (credential) => caches.credentials.get(namespace, credential)),
    namesCredentials: refs.length > 0,
    ...(unverifiable && { unverifiable: atTrigger(workflow, unverifiable) }),
    ...(unserved && { unserved: atTrigger(workflow, unserved) }),
    ...(full !== undefined && { full }),
    pool: poolState(context, namespace, secretsOf(caches, namespace, workflow.spec)),
    ...(schedule && { schedule }),
    ...(health && { poll: health }),
    route,
    serving: servingOf(workflow, url),
  };
  const conditions = conditionsOf(facts, workflow.status?.conditions ?? [], clock.date());
  const inEffect = routeInEffect(context, workflow, spec);
  const times = timesOf(context, workflow, schedule);
  const parts = {
    conditions,
    route: spec,
    access: accessOf(workflow.spec, inEffect),
    url: shownUrl(openUrl(config.PUBLIC_URL, workflow.metadata, inEffect), routing, workflow.status?.url),
    ...(times && { schedule: times }),
  };
  await writeStatus(context, caches.workflows, workflow, statusOf(workflow, parts), OWNED_FIELDS);
  return conditions;
}

/** A workflow that was never valid has no route. */
function failureNotes({ metadata, spec }: Workflow, { routes }: OperatorContext['caches']): string[] {
  const { workflow } = spec.onFailure ?? {};
  if (workflow === undefined || routes.get(metadata.namespace, workflow)) return [];
  return [
    `onFailure: workflow ${workflow} does not exist in this namespace or was never valid, so that a failure starts nothing: apply it, or name another workflow.`,
  ];
}

/** By the last count. */
function waitingRuns({ status }: Workflow): number {
  return status?.runs?.waiting ?? 0;
}

/** If the route could not be written, the previous one is in effect. */
function routeInEffect(
  context: WorkflowContext,
  workflow: Workflow,
  written: RouteSpec | undefined,
): RouteSpec | undefined {
  return written ?? servedRoute(context, workflow)?.spec;
}

/** What starts a run of an active workflow. */
function servingOf({ spec }: Workflow, url: string | undefined): string {
  const bot = spec.nodes.find((node) => node.bot)?.bot;
  if (bot) return `Each message to the bot of Credential ${bot.credential} starts a run.`;
  if (spec.nodes.some((node) => node.chat)) return `Each message of the chat at ${url ?? ''} starts a run.`;
  if (url !== undefined) return `A POST to ${url} starts a run.${publicNote(spec)}`;
  const polled = spec.nodes.map(kindOf).find(isPolled);
  if (polled !== undefined) return `Each new event of the ${polled} trigger starts a run.`;
  const schedule = spec.nodes.find((node) => node.schedule)?.schedule;
  if (schedule === undefined) return 'Execute calls start runs.';
  return `A run starts at each time of "${schedule.cron}" (${schedule.timeZone ?? 'UTC'}).`;
}

function atTrigger<T extends Reason>(
  { spec }: Workflow,
  { reason, message }: { reason: T; message: string },
): { reason: T; message: string } {
  const node = spec.nodes.find(({ webhook, bot, chat }) => webhook ?? bot ?? chat)?.id ?? '';
  return { reason, message: `node ${node}: ${message}` };
}

function nextAction(effect: Effect, violations: readonly Violation[]): Action {
  const { facts, routing, unserved, retryAfterMs, schedule } = effect;
  if (facts.kind === 'store-unavailable')
    throw new WaitingError('the run store cannot be reached', retryAfterMs ?? LAGGING_MS);
  if (routing?.kind === 'Lagging' || (routing?.kind === 'Served' && routing.settling))
    return after(LAGGING_MS);
  if (schedule?.kind === 'refused') return after(schedule.retryAfterMs);
  if (retryAfterMs !== undefined) return after(retryAfterMs);
  if (unserved) return after(UNSERVED_MS);
  const [violation] = violations;
  if (violation) throw new StalledError(violation.message);
  return done();
}
