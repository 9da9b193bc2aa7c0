/**
 * Puts one workflow into effect. Every step may be repeated; if the operator is killed after any of them, the
 * next reconcile continues: the revision is created, then stored in the run store, then the verification
 * material is written for the gateway, and only then the route opens.
 */
import { isEnabled } from '../../api/access.ts';
import { GROUP } from '../../api/group.ts';
import type { WebhookRoute, Workflow } from '../../api/kinds.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { schemeOf, verificationIn, type RouteSpec, type Verification } from '../../api/route.ts';
import { applyIfChanged, asChild } from '../../kube/apply.ts';
import { isConditionTrue } from '../../kube/conditions.ts';
import { done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import { isForbidden, isTerminating } from '../../kube/errors.ts';
import { recordActivation } from './audit.ts';
import { withBot, type Unserved } from '../bots/take.ts';
import type { BotHolders } from '../bots/holders.ts';
import type { Polls } from '../poll/polls.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { Finding } from '../shared/status.ts';
import type { ProjectStore } from '../store/types.ts';
import type { WebhookSecrets } from '../webhooks/material.ts';
import type { GatewayView, Routing } from '../gateways/view.ts';
import { explainRefusal } from '../shared/errors.ts';
import { ensureTrigger, STORE_UNAVAILABLE } from '../poll/ensure.ts';
import type { KeyProblem } from '../webhooks/keys.ts';
import { webhookRoutes } from '../shared/resources.ts';
import type { GoneWorkflow } from '../store/workflowDeletion.ts';
import { deleteSchedule, ensureSchedule, scheduleInPlace, type ScheduleFacts } from '../schedule/ensure.ts';
import { limitsOf } from '../store/limits.ts';
import { ensureRevision, namedRevision } from './revision.ts';
import { closed, routeOf, routeUnderInvalidSpec } from './route.ts';
import { projectBudget } from '../../api/budget.ts';
import type { Variables } from '../../api/expression/variables.ts';
import type { WorkflowLimits } from '../../runs/types/limits.ts';
import type { Unavailable } from '../../store/connection.ts';
import type { Violation } from './checks/check.ts';
import type { RouteFacts } from './conditions/facts.ts';

/**
 * The result for the route: facts for the conditions, the route in effect, and the replicas that serve it.
 */
export type Effect = {
  facts: RouteFacts;
  route?: RouteSpec;
  routing?: Routing;
  /** Why callers of the webhook, or senders of messages, cannot be verified, so that all are refused. */
  unverifiable?: KeyProblem;
  /** Why the messages of the bot start no runs. */
  unserved?: Unserved;
  /** The state of the schedule of an active workflow. */
  schedule?: ScheduleFacts;
  /** The health of the polled trigger of an active workflow. */
  poll?: Finding;
  retryAfterMs?: number;
  error?: unknown;
};

export type EffectContext = OperatorContext & {
  store: ProjectStore;
  gateways: Pick<GatewayView, 'routing'>;
  webhooks: WebhookSecrets;
  bots: BotHolders;
  polls: Pick<Polls, 'refusals'>;
};

/** While another object has the name of the revision. */
const NAME_TAKEN_MS = 30_000;

type Judged = {
  violations: readonly Violation[];
  variables: Variables;
  /** The spec without the defaults of the project. */
  given: WorkflowSpec;
};

/**
 * Puts the spec into effect. Under an invalid spec, keeps what was in effect before as far as the spec
 * permits.
 */
export async function takeEffect(
  context: EffectContext,
  workflow: Workflow,
  projectUid: string,
  { violations, variables, given }: Judged,
): Promise<Effect> {
  try {
    const isServed = servedRoute(context, workflow) !== undefined;
    await stopStarts(context, workflow, { projectUid, isServed });
    // Before a route opens, and also under an invalid spec, whose route may still be open.
    if (variables.isTooLarge !== true && (violations.length === 0 || isServed)) {
      const stored = await context.store.putVariables(projectUid, variables.values);
      if (stored.outcome === 'unavailable') return await waitForStore(context, workflow, stored);
    }
    return violations.length === 0
      ? await activate(context, workflow, { projectUid, given })
      : await applyInvalid(context, workflow, projectUid, violations);
  } catch (error) {
    if (isTerminating(error) || !isForbidden(error)) throw error;
    const inPlace = scheduleInPlace(context, workflow, servedRoute(context, workflow)?.spec);
    return { facts: { kind: 'unauthorized', message: explainRefusal(error) }, ...inPlace, error };
  }
}

/**
 * Sets the suspension in the run store, and deletes the CronJob of a workflow that is inactive or suspended,
 * also if its spec is invalid. Tries both and throws the first error. An unreachable run store is no error:
 * the steps that follow report it.
 */
async function stopStarts(
  context: EffectContext,
  workflow: Workflow,
  { projectUid, isServed }: { projectUid: string; isServed: boolean },
): Promise<void> {
  const { spec } = workflow;
  const steps: Promise<unknown>[] = [];
  if (spec.suspend === true && isServed)
    steps.push(context.store.putLimits(projectUid, limitsIn(context, workflow)));
  if (!isEnabled(spec)) steps.push(deleteSchedule(context, keyOf(workflow)));
  const failed = (await Promise.allSettled(steps)).find((step) => step.status === 'rejected');
  if (failed) throw failed.reason;
}

async function activate(
  context: EffectContext,
  workflow: Workflow,
  { projectUid, given }: { projectUid: string; given: WorkflowSpec },
): Promise<Effect> {
  const current = namedRevision(workflow);
  const route = routeOf(workflow, projectUid, current);
  const obstacle = await ensureRevision(context, workflow, current, given);
  if (obstacle !== undefined) return keepBefore(context, workflow, { kind: 'name-taken', message: obstacle });
  const stored = await context.store.putWorkflow(projectUid, {
    name: workflow.metadata.name,
    revision: current,
    description: workflow.spec.description,
    limits: limitsIn(context, workflow),
  });
  if (stored.outcome === 'unavailable') return waitForStore(context, workflow, stored);
  const guarded = await withVerification(context, workflow, route);
  const routing = await applyRoute(context, workflow, guarded.route);
  const schedule = await ensureSchedule(context, workflow, guarded.route);
  const poll = await ensureTrigger(context, workflow, guarded.route);
  return { facts: { kind: 'applied', routing }, ...guarded, ...schedule, ...poll, routing };
}

function limitsIn({ caches }: EffectContext, workflow: Workflow): WorkflowLimits {
  const { namespace = '' } = workflow.metadata;
  const { annotations } = caches.namespaces.get(undefined, namespace)?.metadata ?? {};
  return limitsOf(workflow, (name) => caches.routes.get(namespace, name), projectBudget(annotations));
}

/** Keeps what was in effect until the run store is available. */
async function waitForStore(
  context: EffectContext,
  workflow: Workflow,
  { retryAfterSeconds }: Unavailable,
): Promise<Effect> {
  const kept = await keepBefore(context, workflow, { kind: 'store-unavailable' });
  const retryAfterMs = retryAfterSeconds * 1_000;
  return { ...kept, ...(kept.route?.poll && { poll: STORE_UNAVAILABLE }), retryAfterMs };
}

/** Keeps what was in effect, but closes the route of a workflow that is no longer active. */
async function keepBefore(context: EffectContext, workflow: Workflow, facts: RouteFacts): Promise<Effect> {
  const served = await closeUnlessActive(context, workflow);
  return {
    facts,
    ...(served && { route: served }),
    ...scheduleInPlace(context, workflow, served),
    retryAfterMs: NAME_TAKEN_MS,
  };
}

type Guarded = Pick<Effect, 'unverifiable' | 'unserved'> & { route: RouteSpec };

/** The route with its verification material, which the gateway can read from now on. */
async function withVerification(
  context: EffectContext,
  workflow: Workflow,
  route: RouteSpec,
): Promise<Guarded> {
  const served = servedRoute(context, workflow)?.spec;
  return route.bot
    ? withBot(context, workflow, route, served)
    : withMaterial(context, workflow, route, served);
}

async function withMaterial(
  context: EffectContext,
  workflow: Workflow,
  route: RouteSpec,
  served: RouteSpec | undefined,
): Promise<Guarded> {
  const access = schemeOf(route);
  const declared = verificationIn(route);
  if (declared === undefined || access === undefined) return { route };
  const { material: _before, ...verify } = declared;
  const { namespace = '', uid = '', annotations } = workflow.metadata;
  const routed = served && verificationIn(served)?.material;
  const found = await context.webhooks.ensure({ namespace, uid, access, verify, routed, annotations });
  if (!found.ok) return { route: verifiedBy(route, verify), unverifiable: found };
  return { route: verifiedBy(route, { ...verify, material: found.material }) };
}

/** The route with this verification of its callers. */
function verifiedBy(route: RouteSpec, verify: Verification): RouteSpec {
  const { webhook, chat } = route;
  return {
    ...route,
    ...(webhook && { webhook: { ...webhook, verify } }),
    ...(chat && { chat: { ...chat, verify } }),
  };
}

/** Deactivating a workflow needs no run store: an outage must neither keep a URL open nor admit test runs. */
async function closeUnlessActive(context: EffectContext, workflow: Workflow): Promise<RouteSpec | undefined> {
  const served = servedRoute(context, workflow)?.spec;
  const { spec } = workflow;
  const isClosed = served && !served.active && (served.suspended === true || spec.suspend !== true);
  if (!served || isEnabled(spec) || isClosed) return served;
  const route = closed(served, spec);
  await applyRoute(context, workflow, route);
  return route;
}

async function applyInvalid(
  context: EffectContext,
  workflow: Workflow,
  projectUid: string,
  violations: readonly Violation[],
): Promise<Effect> {
  const served = servedRoute(context, workflow)?.spec;
  if (!served) {
    // Without a route, nothing shows that the existing CronJob belongs to a valid spec.
    await deleteSchedule(context, keyOf(workflow));
    return { facts: { kind: 'invalid' } };
  }
  // A suspension begins and ends also under an invalid spec.
  const limited = await context.store.putLimits(projectUid, limitsIn(context, workflow));
  const kept = routeUnderInvalidSpec(served, workflow.spec, violations);
  const guarded = await withVerification(context, workflow, kept);
  const routing = await applyRoute(context, workflow, guarded.route, violations);
  const schedule = await ensureSchedule(context, workflow, guarded.route);
  const poll = await ensureTrigger(context, workflow, guarded.route);
  return {
    facts: { kind: 'invalid', ...(kept.active && { keeps: kept.revision }) },
    ...guarded,
    ...schedule,
    ...(limited.outcome === 'unavailable' && { retryAfterMs: limited.retryAfterSeconds * 1_000 }),
    ...poll,
    routing,
  };
}

/** The route of this workflow, not that of a deleted one with the same name. */
export function servedRoute(
  { caches }: Pick<OperatorContext, 'caches'>,
  { metadata }: Workflow,
): WebhookRoute | undefined {
  const route = caches.routes.get(metadata.namespace, metadata.name);
  return route?.spec.workflowUID === metadata.uid ? route : undefined;
}

async function applyRoute(
  context: EffectContext,
  workflow: Workflow,
  spec: RouteSpec,
  violations: readonly Violation[] = [],
): Promise<Routing> {
  const { client, caches, gateways, store, webhooks } = context;
  const { name, namespace = '', generation } = workflow.metadata;
  const cached = await caches.routes.getFresh(namespace, name);
  // It may belong to a deleted workflow of the same name.
  const isOfDeleted = cached !== undefined && cached.spec.workflowUID !== spec.workflowUID;
  // Before the route changes: only the route shows that there is material to remove.
  if (cached && verificationIn(cached.spec) && (isOfDeleted || !verificationIn(spec)))
    await webhooks.drop(namespace, cached.spec.workflowUID);
  const { object, written } = await applyIfChanged<WebhookRoute>({
    client,
    resource: webhookRoutes,
    manifest: asChild(workflow, { metadata: { name }, spec }),
    cached,
    prefix: GROUP,
  });
  if (isOfDeleted) await store.deleteWorkflow(deletedWorkflowOf(cached.spec));
  if (written) {
    caches.routes.noteWrite(object);
    recordActivation(context, workflow, { before: cached?.spec, after: spec, violations });
  }
  const wasServed = !written && isConditionTrue(workflow.status?.conditions, 'Routed', generation);
  const { uid = '', generation: version = 0 } = object.metadata;
  return gateways.routing({ uid, generation: version }, wasServed);
}

/**
 * Closes the route of a deleted workflow; the garbage collector deletes its other objects. The deletion of
 * its runs is stored before the route is deleted: if the operator is killed in between, it finds the route
 * and begins again.
 */
export async function removeWorkflow(context: EffectContext, { namespace, name }: Key): Promise<Action> {
  const { client, caches, store, webhooks } = context;
  await deleteSchedule(context, { namespace, name });
  const route = await caches.routes.getFresh(namespace, name);
  if (!route) return done();
  const { uid } = route.metadata;
  await store.deleteWorkflow(deletedWorkflowOf(route.spec));
  if (verificationIn(route.spec)) await webhooks.drop(namespace, route.spec.workflowUID);
  await client.delete(
    webhookRoutes,
    { namespace, name },
    { ...(uid !== undefined && { preconditions: { uid } }) },
  );
  return done();
}

function deletedWorkflowOf({ projectUID, workflowUID, workflow }: RouteSpec): GoneWorkflow {
  return { project: projectUID, workflowUid: workflowUID, name: workflow };
}
