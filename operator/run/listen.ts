/**
 * Test runs that listen for their event (`spec.listenFor`). The operator opens a route for such a run, waits
 * until every gateway replica serves it, offers the run in the run store, and tells the URL. The gateway
 * takes the run for the first event and submits it. If it is neither on offer nor submitted for some time,
 * the operator offers it again. When nobody took it in time, the operator takes it back.
 */
import { randomBytes } from 'node:crypto';
import { parseDuration } from '../../api/duration.ts';
import { LABEL, workflowId } from '../../api/group.ts';
import type { WebhookRoute, Workflow, WorkflowRun } from '../../api/kinds.ts';
import { testingOf } from '../../api/mock.ts';
import { testRouteName } from '../../api/names.ts';
import { replies } from '../../api/revision.ts';
import { schemeOf, type RouteSpec } from '../../api/route.ts';
import { asChild } from '../../kube/apply.ts';
import { after, done, type Action } from '../../kube/controller.ts';
import { offerListening, type ListeningRun } from '../../runs/listening.ts';
import type { GatewayView } from '../gateways/view.ts';
import { LISTENING } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import { unreachable } from '../shared/errors.ts';
import { webhookRoutes } from '../shared/resources.ts';
import type { WebhookSecrets } from '../webhooks/material.ts';
import { namedRevision } from '../workflow/revision.ts';
import { webhookOf } from '../workflow/route.ts';
import { recordSubmission } from './audit.ts';
import { checkedDraft } from './draft.ts';
import { endRun, writePending } from './end.ts';
import { misfit } from './fit.ts';
import { refuse, type Refusal } from './refuse.ts';
import { revisionFor } from './storedRevision.ts';
import { isLost, takeBack, type TakeBackContext } from './takeBack.ts';

export type ListenContext = OperatorContext &
  TakeBackContext & {
    gateways: Pick<GatewayView, 'routing'>;
    webhooks: Pick<WebhookSecrets, 'ensure'>;
  };

/** In one project. Each is a URL that strangers may call. */
const MOST_LISTENING = 10;
const SERVED_MS = 250;
const SERVED_PATIENCE_MS = 30_000;
const WAIT_MS = 1_000;

/** Ensures the route of the run, or returns why it cannot listen. */
export async function openTestRoute(
  context: ListenContext,
  run: WorkflowRun,
  workflow: Workflow,
  served: RouteSpec,
): Promise<WebhookRoute | Refusal> {
  const { client, caches } = context;
  const { namespace = '', uid = '' } = run.metadata;
  const routeName = testRouteName(uid);
  const existing = await caches.testRoutes.getFresh(namespace, routeName);
  if (existing) return existing;
  const open = caches.testRoutes.list(namespace).length;
  if (Math.max(open, countOlder(caches.runs.byIndex(LISTENING, namespace), run)) >= MOST_LISTENING)
    return cannotListen(
      `${MOST_LISTENING} test runs listen in this namespace already: cancel one, or try again when one has ended.`,
    );
  const spec = await testRouteOf(context, run, workflow, served);
  if ('reason' in spec) return spec;
  const labels = { [LABEL.listening]: 'true', [LABEL.workflow]: workflow.metadata.name };
  const manifest = asChild<WebhookRoute>(run, { metadata: { name: routeName, labels }, spec });
  const written = await client.apply(webhookRoutes, manifest);
  caches.testRoutes.noteWrite(written);
  return written;
}

/** How many of the runs are older: of many that are created at once, ten listen, and not none. */
function countOlder(others: readonly WorkflowRun[], run: WorkflowRun): number {
  const ageOf = ({ metadata: { creationTimestamp = '', uid = '' } }: WorkflowRun) =>
    `${creationTimestamp} ${uid}`;
  return others.filter((other) => ageOf(other) < ageOf(run)).length;
}

async function testRouteOf(
  context: ListenContext,
  run: WorkflowRun,
  workflow: Workflow,
  { projectUID }: RouteSpec,
): Promise<RouteSpec | Refusal> {
  const { draft, revision } = run.spec;
  const { uid = '', name } = run.metadata;
  if (!draft && revision !== undefined)
    return cannotListen('The webhook of an earlier revision is not known: remove spec.revision.');
  // Also without a draft: under an invalid spec the workflow itself is served as it was before.
  const drafted = await (draft
    ? checkedDraft(context, workflow, draft, { until: run.spec.until })
    : checkedDraft(context, workflow, workflow.spec, { what: 'workflow' }));
  if ('reason' in drafted) return draft ? drafted : { ...drafted, reason: 'WorkflowInvalid' };
  const named = namedRevision(drafted);
  const webhook = webhookOf(drafted.spec, replies(named.revision));
  if (!webhook)
    return cannotListen(
      `The trigger is of kind ${named.revision.trigger.kind}, and only a webhook can listen for an event: remove spec.listenFor.`,
    );
  const guarded = await withMaterial(context, run, webhook);
  if ('reason' in guarded) return guarded;
  const path = `test-${randomBytes(16).toString('hex')}`;
  return {
    workflow: workflow.metadata.name,
    workflowUID: uid,
    projectUID,
    testRun: name,
    revision: named.name,
    trigger: 'webhook',
    active: false,
    webhook: { ...guarded, path },
  };
}

type Webhook = NonNullable<RouteSpec['webhook']>;

/** The webhook with the material that verifies its callers, which the gateway can read from now on. */
async function withMaterial(
  { webhooks }: ListenContext,
  { metadata: { namespace = '', uid = '' } }: WorkflowRun,
  webhook: Webhook,
): Promise<Webhook | Refusal> {
  const access = schemeOf({ webhook });
  const { verify } = webhook;
  if (access === undefined || verify === undefined) return webhook;
  const owner = { namespace, uid, annotations: undefined };
  const found = await webhooks.ensure({ ...owner, access, verify, routed: undefined });
  return found.ok
    ? { ...webhook, verify: { ...verify, material: found.material } }
    : cannotListen(found.message);
}

function cannotListen(message: string): Refusal {
  return { reason: 'CannotListen', message };
}

type Routes = { route: WebhookRoute; testRoute: WebhookRoute; waitedMs: number };

/** Offers the run to the first event within `forMs` milliseconds; or returns why it must not be executed. */
async function offerRun(
  context: ListenContext,
  run: WorkflowRun,
  { route, forMs }: { route: WebhookRoute; forMs: number },
): Promise<Refusal | undefined> {
  const chosen = await revisionFor(context, run, route);
  if ('reason' in chosen) return chosen;
  const { workflow, until } = run.spec;
  const misfitting = misfit(workflow, chosen.revision, { until, testing: testingOf(run.spec) });
  if (misfitting) return misfitting;
  const listening = listeningRun(run, route.spec, chosen.revision.name);
  const offered = await offerListening(context.conn, route.spec.projectUID, listening, forMs);
  if (offered.outcome === 'unavailable') throw unreachable(offered);
  return undefined;
}

/** Offers the run to the first event, and tells its URL, once every gateway replica serves that. */
export async function offer(
  context: ListenContext,
  run: WorkflowRun,
  { route, testRoute, waitedMs }: Routes,
): Promise<Action> {
  const { uid: routeUid = '', generation = 0 } = testRoute.metadata;
  const routing = context.gateways.routing({ uid: routeUid, generation }, false);
  if (routing.kind !== 'Served') {
    if (waitedMs < SERVED_PATIENCE_MS) return after(SERVED_MS);
    const why =
      routing.kind === 'NoGateway'
        ? 'no gateway replica is ready'
        : `these gateway replicas do not serve its URL yet: ${routing.replicas.join(', ')}`;
    return refuse(context, run, cannotListen(`The test run cannot listen, since ${why}: try again.`));
  }
  const forMs = parseDuration(run.spec.listenFor ?? '0s');
  const refusal = await offerRun(context, run, { route, forMs });
  if (refusal) return refuse(context, run, refusal);
  const path = testRoute.spec.webhook?.path ?? '';
  const id = workflowId(run.metadata.namespace ?? '', run.spec.workflow);
  const url = `${context.config.PUBLIC_URL}/webhook/${id}/${path}`;
  const ends = new Date(context.clock.date().getTime() + forMs).toISOString();
  await writePending(context, run, { listening: { url, until: ends } });
  recordSubmission(context, run, { result: 'allowed' });
  return after(WAIT_MS);
}

function listeningRun(
  { metadata: { name, uid = '' }, spec }: WorkflowRun,
  { workflowUID }: RouteSpec,
  revision: string,
): ListeningRun {
  const { workflow, until, requestedBy } = spec;
  const testing = testingOf(spec);
  return {
    run: name,
    recordUid: uid,
    workflow,
    workflowUid: workflowUID,
    revision,
    ...(until !== undefined && { until }),
    ...(testing && { testing }),
    ...(requestedBy !== undefined && { requestedBy }),
  };
}

/**
 * Ends the run if no event came in time. Until then it stays on offer, also after the run store lost it. Call
 * it only for a run that is not submitted (`isAccepted`).
 */
export async function awaitEvent(
  context: ListenContext,
  run: WorkflowRun,
  { url, until, route }: { url: string; until: string; route: WebhookRoute },
): Promise<Action> {
  const leftMs = Date.parse(until) - context.clock.date().getTime();
  if (leftMs > 0) {
    if (await isLost(context, run)) {
      const refusal = await offerRun(context, run, { route, forMs: leftMs });
      if (refusal) return refuse(context, run, refusal);
      // The next event has as long again until it is submitted.
      context.runs.missingSince.delete(run.metadata.uid ?? '');
    }
    return after(Math.min(WAIT_MS, leftMs));
  }
  if (!(await takeBack(context, run))) return after(WAIT_MS);
  const message = `No event came to ${url} within ${run.spec.listenFor}. Start the test run again, and send an event to its new URL while it listens.`;
  await endRun(context, run, { phase: 'Cancelled', reason: 'NoEvent', message });
  return done();
}
