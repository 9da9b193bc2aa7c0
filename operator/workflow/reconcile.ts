/**
 * Brings one workflow into effect. Every step may be repeated, and whatever was killed after any of them is repaired by
 * the next reconcile: the revision is made, then put into the run store, then what verifies
 * callers is put where the gateway reads it, and only then the route opens.
 */
import { isEnabled } from '../../api/access.ts';
import { GROUP } from '../../api/group.ts';
import type { Reason } from '../../api/conditions.ts';
import type { WebhookRoute, Workflow } from '../../api/kinds.ts';
import { schemeOf, verificationIn, type RouteSpec } from '../../api/route.ts';
import { kindOf } from '../../api/workflow.ts';
import { applyIfChanged, asChild } from '../../kube/apply.ts';
import { findCondition, isConditionTrue } from '../../kube/conditions.ts';
import {
  after,
  done,
  keyOf,
  StalledError,
  WaitingError,
  type Action,
  type Key,
} from '../../kube/controller.ts';
import { egressOf } from '../config.ts';
import { isForbidden, isTerminating } from '../../kube/errors.ts';
import type { Recorder } from '../../kube/events.ts';
import type { Condition } from '../../kube/resource.ts';
import { recordActivation, recordMadePublic } from '../audit.ts';
import { withBot, type Unserved } from '../bots/take.ts';
import { recordConditions } from '../conditionEvents.ts';
import type { OperatorContext } from '../context.ts';
import { nextLookMs } from '../credential/reconcile.ts';
import type { Routing } from '../gateways/view.ts';
import { explainRefusal } from '../refusal.ts';
import { keepTrigger, STORE_AWAY } from '../poll/keep.ts';
import type { PollHealth } from '../poll/health.ts';
import { isPolled } from '../../nodes/pollers.ts';
import {
  accessOf,
  closingViolation,
  droppedScheme,
  publicNote,
  reportClosed,
  reportMadePublic,
} from '../webhooks/access.ts';
import type { KeyProblem } from '../webhooks/keys.ts';
import { secretsOf } from '../project/gather.ts';
import { projectConfig, workflowDefaults } from '../project/settings.ts';
import { poolState } from '../project/readiness.ts';
import { registrationHealth } from '../registration/registrations.ts';
import { webhookRoutes } from '../resources.ts';
import type { GoneWorkflow } from '../store/deletion.ts';
import {
  dropSchedule,
  keepSchedule,
  nextScheduleLookMs,
  scheduleInPlace,
  timesOf,
  type ScheduleFacts,
} from '../schedule/keep.ts';
import { conditionsOf, type Facts, type RouteFacts } from './conditions.ts';
import { credentialProblems } from './credentials.ts';
import { withDefaults } from './defaults.ts';
import { limitsOf } from './limits.ts';
import { credentialRefs } from './references.ts';
import { ensureRevision, namedRevision, pruneRevisions } from './revision.ts';
import { closed, routeOf, routeUnderInvalidSpec } from './route.ts';
import { openUrl, shownUrl, statusOf, writeStatus } from './status.ts';
import { switchOff } from './switchOff.ts';
import { validate } from './validate.ts';
import { authPolicyOf } from './checks/auth.ts';
import { durationNotes } from './checks/durations.ts';
import type { Violation } from './checks/check.ts';

/** While a replica is waited for: Leases run out without an event. */
const LAGGING_MS = 1_000;
/** While another workflow has the bot, which says nothing when it is switched off before it had a route. */
const UNSERVED_MS = 30_000;

/** While another object has the name of the revision. */
const NAME_TAKEN_MS = 30_000;

/** What became of the route: the facts for the conditions, the route in effect, and who serves it. */
type Effect = {
  facts: RouteFacts;
  route?: RouteSpec;
  routing?: Routing;
  /** Why callers of the webhook, or senders of messages, cannot be verified, so that nobody is let in. */
  unverifiable?: KeyProblem;
  /** Why the messages of the bot start no runs. */
  unserved?: Unserved;
  /** What keeps the schedule of an active workflow. */
  schedule?: ScheduleFacts;
  /** How the polled trigger of an active workflow is. */
  poll?: PollHealth;
  retryAfterMs?: number;
  error?: unknown;
};

/** Reconciles the workflow of that name. */
export async function reconcileWorkflow(
  context: OperatorContext,
  events: Recorder,
  key: Key,
): Promise<Action> {
  const { world, config } = context;
  const found = await world.workflows.getFresh(key.namespace, key.name);
  const namespace = world.namespaces.get(undefined, key.namespace);
  if (!found || found.metadata.deletionTimestamp !== undefined) return remove(context, key);
  // In a namespace that is going nothing can be made; it takes everything with it.
  if (!namespace?.metadata.uid || namespace.metadata.deletionTimestamp !== undefined) return done();
  const workflow = withDefaults(found, workflowDefaults(world, key.namespace));
  const auth = authPolicyOf(config, namespace.metadata.labels);
  const egress = egressOf(projectConfig(context, key.namespace));
  const violations = validate(workflow.spec, { auth, egress, code: config.RUNNER_CODE_ENABLED });
  const before = servedRoute(context, workflow)?.spec;
  const effect = await takeEffect(context, workflow, namespace.metadata.uid, violations);
  reportAccess(context, events, workflow, { before, after: effect.route, violations });
  const conditions = await reportStatus(context, workflow, violations, effect);
  recordConditions(events, workflow, workflow.status?.conditions ?? [], conditions);
  if (effect.error !== undefined) throw effect.error;
  if (effect.route) await pruneRevisions(context, workflow, effect.route);
  const action = nextAction(effect, violations);
  if (action.kind !== 'done') return action;
  if (effect.route && verificationIn(effect.route)) return lookAgain(context, conditions);
  const times = timesOf(context, workflow, effect.schedule);
  const againMs = nextScheduleLookMs(times, effect.schedule, context.clock.date());
  return againMs === undefined ? action : after(againMs);
}

type AccessChange = {
  before: RouteSpec | undefined;
  after: RouteSpec | undefined;
  violations: readonly Violation[];
};

/** Tells of a webhook that was served and became public, or was closed because it is public. */
function reportAccess(
  context: OperatorContext,
  events: Recorder,
  workflow: Workflow,
  { violations, ...routes }: AccessChange,
): void {
  const scheme = droppedScheme(routes.before, routes.after);
  if (scheme !== undefined) {
    reportMadePublic(events, workflow, scheme);
    recordMadePublic(context, workflow, scheme);
  }
  const violation = closingViolation(workflow, routes, violations);
  if (violation !== undefined) reportClosed(events, workflow, violation);
}

/** Secrets are not followed, but looked at again: see the reconcile of credentials. */
function lookAgain({ clock }: OperatorContext, conditions: readonly Condition[]): Action {
  return after(nextLookMs(findCondition(conditions, 'CredentialsReady'), clock.date()));
}

/** Puts the spec into effect, or as much of what was before as an invalid spec leaves. */
async function takeEffect(
  context: OperatorContext,
  workflow: Workflow,
  projectUid: string,
  violations: readonly Violation[],
): Promise<Effect> {
  try {
    const isServed = servedRoute(context, workflow) !== undefined;
    await switchOff(context, workflow, { projectUid, isServed });
    return violations.length === 0
      ? await activate(context, workflow, projectUid)
      : await hold(context, workflow, projectUid, violations);
  } catch (error) {
    if (isTerminating(error) || !isForbidden(error)) throw error;
    const inPlace = scheduleInPlace(context, workflow, servedRoute(context, workflow)?.spec);
    return { facts: { kind: 'unauthorized', message: explainRefusal(error) }, ...inPlace, error };
  }
}

async function activate(context: OperatorContext, workflow: Workflow, projectUid: string): Promise<Effect> {
  const current = namedRevision(workflow);
  const route = routeOf(workflow, projectUid, current);
  const obstacle = await ensureRevision(context, workflow, current);
  if (obstacle !== undefined) return keepBefore(context, workflow, { kind: 'name-taken', message: obstacle });
  const stored = await context.store.putWorkflow(projectUid, {
    revision: current,
    limits: limitsOf(workflow),
  });
  if (stored.outcome === 'unavailable') {
    const kept = await keepBefore(context, workflow, { kind: 'store-unavailable' });
    const retryAfterMs = stored.retryAfterSeconds * 1_000;
    return { ...kept, ...(kept.route?.poll && { poll: STORE_AWAY }), retryAfterMs };
  }
  const guarded = await withDoor(context, workflow, route);
  const routing = await applyRoute(context, workflow, guarded.route);
  const schedule = await keepSchedule(context, workflow, guarded.route);
  const poll = await keepTrigger(context, workflow, guarded.route);
  return { facts: { kind: 'applied', routing }, ...guarded, ...schedule, ...poll, routing };
}

/** What was in effect stays, but for what a spec that is switched off closes. */
async function keepBefore(context: OperatorContext, workflow: Workflow, facts: RouteFacts): Promise<Effect> {
  const served = await closeUnlessActive(context, workflow);
  return {
    facts,
    ...(served && { route: served }),
    ...scheduleInPlace(context, workflow, served),
    retryAfterMs: NAME_TAKEN_MS,
  };
}

type Guarded = Pick<Effect, 'unverifiable' | 'unserved'> & { route: RouteSpec };

/** The route with what its callers are verified with, which the gateway can read from now on. */
async function withDoor(context: OperatorContext, workflow: Workflow, route: RouteSpec): Promise<Guarded> {
  const served = servedRoute(context, workflow)?.spec;
  return route.bot
    ? withBot(context, workflow, route, served)
    : withMaterial(context, workflow, route, served);
}

async function withMaterial(
  context: OperatorContext,
  workflow: Workflow,
  route: RouteSpec,
  served: RouteSpec | undefined,
): Promise<Guarded> {
  const { webhook } = route;
  const access = schemeOf(route);
  const declared = webhook?.verify;
  if (webhook === undefined || declared === undefined || access === undefined) return { route };
  const { material: _before, ...verify } = declared;
  const { namespace = '', uid = '', annotations } = workflow.metadata;
  const routed = served && verificationIn(served)?.material;
  const found = await context.webhooks.ensure({ namespace, uid, access, verify, routed, annotations });
  if (!found.ok) return { route: { ...route, webhook: { ...webhook, verify } }, unverifiable: found };
  const { material } = found;
  return { route: { ...route, webhook: { ...webhook, verify: { ...verify, material } } } };
}

/** Switching a workflow off needs no run store, so an outage of it must not keep a URL open, nor the way of test runs. */
async function closeUnlessActive(
  context: OperatorContext,
  workflow: Workflow,
): Promise<RouteSpec | undefined> {
  const served = servedRoute(context, workflow)?.spec;
  const { spec } = workflow;
  const isClosed = served && !served.active && (served.suspended === true || spec.suspend !== true);
  if (!served || isEnabled(spec) || isClosed) return served;
  const route = closed(served, spec);
  await applyRoute(context, workflow, route);
  return route;
}

async function hold(
  context: OperatorContext,
  workflow: Workflow,
  projectUid: string,
  violations: readonly Violation[],
): Promise<Effect> {
  const served = servedRoute(context, workflow)?.spec;
  if (!served) {
    // Nothing says any more that what is there was valid.
    await dropSchedule(context, keyOf(workflow));
    return { facts: { kind: 'invalid' } };
  }
  // A suspension takes effect, and ends, also under an invalid spec.
  const limited = await context.store.putLimits(projectUid, limitsOf(workflow));
  const kept = routeUnderInvalidSpec(served, workflow.spec, violations);
  const guarded = await withDoor(context, workflow, kept);
  const routing = await applyRoute(context, workflow, guarded.route, violations);
  const schedule = await keepSchedule(context, workflow, guarded.route);
  const poll = await keepTrigger(context, workflow, guarded.route);
  return {
    facts: { kind: 'invalid', ...(kept.active && { keeps: kept.revision }) },
    ...guarded,
    ...schedule,
    ...(limited.outcome === 'unavailable' && { retryAfterMs: limited.retryAfterSeconds * 1_000 }),
    ...poll,
    routing,
  };
}

/** The route of this very workflow, not of one of the same name that was deleted. */
function servedRoute({ world }: OperatorContext, { metadata }: Workflow): WebhookRoute | undefined {
  const route = world.routes.get(metadata.namespace, metadata.name);
  return route?.spec.workflowUID === metadata.uid ? route : undefined;
}

async function applyRoute(
  context: OperatorContext,
  workflow: Workflow,
  spec: RouteSpec,
  violations: readonly Violation[] = [],
): Promise<Routing> {
  const { client, world, gateways, store, webhooks } = context;
  const { name, namespace = '', generation } = workflow.metadata;
  const cached = await world.routes.getFresh(namespace, name);
  // Of a workflow of the same name that was deleted before this one was made.
  const isForeign = cached !== undefined && cached.spec.workflowUID !== spec.workflowUID;
  // First, because it is the route that says that there is something to take out.
  if (cached && verificationIn(cached.spec) && (isForeign || !verificationIn(spec)))
    await webhooks.drop(namespace, cached.spec.workflowUID);
  const { object, written } = await applyIfChanged<WebhookRoute>({
    client,
    resource: webhookRoutes,
    manifest: asChild(workflow, { metadata: { name }, spec }),
    cached,
    prefix: GROUP,
  });
  if (isForeign) await store.deleteWorkflow(goneOf(cached.spec));
  if (written) {
    world.routes.noteWrite(object);
    recordActivation(context, workflow, { before: cached?.spec, after: spec, violations });
  }
  const wasServed = !written && isConditionTrue(workflow.status?.conditions, 'Routed', generation);
  const { uid = '', generation: version = 0 } = object.metadata;
  return gateways.routing({ uid, generation: version }, wasServed);
}

async function reportStatus(
  context: OperatorContext,
  workflow: Workflow,
  violations: readonly Violation[],
  { facts: route, route: spec, routing, unverifiable, unserved, schedule, poll }: Effect,
): Promise<readonly Condition[]> {
  const { world, config, clock } = context;
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
    notes: durationNotes(workflow.spec),
    credentials: credentialProblems(refs, (credential) => world.credentials.get(namespace, credential)),
    namesCredentials: refs.length > 0,
    ...(unverifiable && { unverifiable: atTrigger(workflow, unverifiable) }),
    ...(unserved && { unserved: atTrigger(workflow, unserved) }),
    ...(full !== undefined && { full }),
    pool: poolState(context, namespace, secretsOf(world, namespace, workflow.spec)),
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
  await writeStatus(context, workflow, statusOf(workflow, parts));
  return conditions;
}

/** When they were counted last. */
function waitingRuns({ status }: Workflow): number {
  return status?.runs?.waiting ?? 0;
}

/** Where the route could not be written, the one before is still in effect. */
function routeInEffect(
  context: OperatorContext,
  workflow: Workflow,
  written: RouteSpec | undefined,
): RouteSpec | undefined {
  return written ?? servedRoute(context, workflow)?.spec;
}

/** What starts a run of an active workflow. */
function servingOf({ spec }: Workflow, url: string | undefined): string {
  const bot = spec.nodes.find((node) => node.bot)?.bot;
  if (bot) return `Each message to the bot of Credential ${bot.credential} starts a run.`;
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
  const node = spec.nodes.find(({ webhook, bot }) => webhook ?? bot)?.id ?? '';
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

/**
 * The workflow is gone, or going: its route closes at once; what else it owns the garbage collector takes. That its runs are to be
 * deleted is stored before the route goes, which says that they are there: whoever is killed in between begins again.
 */
async function remove(context: OperatorContext, { namespace, name }: Key): Promise<Action> {
  const { client, world, store, webhooks } = context;
  await dropSchedule(context, { namespace, name });
  const route = await world.routes.getFresh(namespace, name);
  if (!route) return done();
  const { uid } = route.metadata;
  await store.deleteWorkflow(goneOf(route.spec));
  if (verificationIn(route.spec)) await webhooks.drop(namespace, route.spec.workflowUID);
  await client.delete(
    webhookRoutes,
    { namespace, name },
    { ...(uid !== undefined && { preconditions: { uid } }) },
  );
  return done();
}

function goneOf({ projectUID, workflowUID, workflow }: RouteSpec): GoneWorkflow {
  return { project: projectUID, workflowUid: workflowUID, name: workflow };
}
