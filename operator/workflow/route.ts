/** The WebhookRoute of a workflow, for a valid and for an invalid spec. Pure. */
import { isEnabled, PUBLIC } from '../../api/access.ts';
import { boundedDuration, DURATION_BOUNDS } from '../../api/duration.ts';
import type { Workflow } from '../../api/kinds.ts';
import { replies, type Revision } from '../../api/revision.ts';
import { schemeOf, type RouteSpec } from '../../api/route.ts';
import type { WebhookTrigger } from '../../api/trigger.ts';
import { isTriggerKind, kindOf, type WorkflowSpec } from '../../api/workflow.ts';
import { canonicalJson } from '../../kube/json.ts';
import { botOf, declaredBot } from '../bots/route.ts';
import { chatOf, declaredChat } from '../chat/route.ts';
import { pollOf } from '../poll/trigger.ts';
import { rulesOf } from '../schedule/cronJob.ts';
import { verificationOf } from '../webhooks/verification.ts';
import type { Violation } from './checks/check.ts';

const REPLY_TIMEOUT_MS = 30_000;

type Webhook = NonNullable<RouteSpec['webhook']>;

/** The route of a valid spec. It has the trigger only while the workflow is active and not suspended. */
export function routeOf(
  workflow: Workflow,
  projectUid: string,
  current: { name: string; revision: Revision },
): RouteSpec {
  const { spec, metadata } = workflow;
  const webhook = webhookOf(spec, replies(current.revision));
  const active = isEnabled(spec);
  return {
    workflow: metadata.name,
    workflowUID: metadata.uid ?? '',
    projectUID: projectUid,
    revision: current.name,
    trigger: current.revision.trigger.kind,
    active,
    ...suspensionOf(spec),
    ...(active && webhook && { webhook }),
    ...(active && botOf(spec)),
    ...(active && chatOf(spec, metadata.uid ?? '')),
    ...(active && scheduleOf(spec)),
    ...(active && pollOf(spec)),
  };
}

/**
 * The route under an invalid spec: the previous route stays in effect, with its revision, while the spec
 * declares the same trigger. Otherwise the route is closed. An invalid spec never opens a route.
 */
export function routeUnderInvalidSpec(
  served: RouteSpec,
  spec: WorkflowSpec,
  violations: readonly Violation[],
): RouteSpec {
  const isUnchanged =
    isEnabled(spec) && !violations.some(({ trigger }) => trigger) && hasSameTrigger(served, spec);
  if (isUnchanged) return served;
  const isRefused = isEnabled(spec) && violations.some(({ reason }) => reason === 'AuthRequired');
  return { ...closed(served, spec), ...(isRefused && { inactiveReason: 'AuthRequired' as const }) };
}

/** The route without a trigger. The spec decides whether it is suspended. */
export function closed(
  {
    webhook: _webhook,
    bot: _bot,
    chat: _chat,
    schedule: _schedule,
    poll: _poll,
    suspended: _suspended,
    inactiveReason: _inactiveReason,
    ...route
  }: RouteSpec,
  spec: WorkflowSpec,
): RouteSpec {
  return { ...route, active: false, ...suspensionOf(spec) };
}

function suspensionOf({ suspend }: WorkflowSpec): Pick<RouteSpec, 'suspended'> {
  return suspend === true ? { suspended: true } : {};
}

function hasSameTrigger(served: RouteSpec, spec: WorkflowSpec): boolean {
  const trigger = spec.nodes.map(kindOf).find(isTriggerKind);
  const declared = {
    webhook: webhookOf(spec, served.webhook?.reply ?? false),
    ...botOf(spec),
    ...chatOf(spec, served.workflowUID),
    ...scheduleOf(spec),
    ...pollOf(spec),
  };
  const { schedule, poll } = served;
  const bot = declaredBot(served.bot);
  const chat = declaredChat(served.chat);
  const inEffect = { webhook: declaredWebhook(served), bot, chat, schedule, poll };
  return served.trigger === trigger && canonicalJson(inEffect) === canonicalJson(declared);
}

function scheduleOf(spec: WorkflowSpec): Pick<RouteSpec, 'schedule'> {
  const trigger = spec.nodes.find((node) => node.schedule)?.schedule;
  return trigger === undefined ? {} : { schedule: rulesOf(trigger) };
}

/** Changed Secrets do not change the trigger, and earlier versions left `access` of a public webhook out. */
function declaredWebhook({ webhook }: RouteSpec): Webhook | undefined {
  if (webhook === undefined) return undefined;
  const access = schemeOf({ webhook }) ?? PUBLIC;
  if (webhook.verify === undefined) return { ...webhook, access };
  const { material: _material, ...verify } = webhook.verify;
  return { ...webhook, access, verify };
}

/** The webhook that the spec declares, without the material that verifies its callers. */
export function webhookOf(spec: WorkflowSpec, reply: boolean): Webhook | undefined {
  const trigger = spec.nodes.find((node) => node.webhook)?.webhook;
  return trigger && routeWebhook(trigger, reply);
}

function routeWebhook(trigger: WebhookTrigger, reply: boolean): Webhook {
  const { path, headers, dedupe, replyTimeout, rateLimit, auth } = trigger;
  const timeoutMs =
    replyTimeout === undefined
      ? REPLY_TIMEOUT_MS
      : boundedDuration(replyTimeout, DURATION_BOUNDS.replyTimeout);
  return {
    path,
    reply,
    replyTimeoutSeconds: Math.ceil(timeoutMs / 1000),
    ...verificationOf(auth),
    ...(headers && { headers: headers.map((name) => name.toLowerCase()) }),
    ...(dedupe && { dedupeHeader: dedupe.header.toLowerCase() }),
    ...(rateLimit && { rateLimit }),
  };
}
