/** The texts about who may call the webhook of a workflow: in the status, in `Ready` and in Events. */
import { CLOSED, isEnabled, PUBLIC } from '../../api/access.ts';
import type { Workflow } from '../../api/kinds.ts';
import { schemeOf, type RouteSpec } from '../../api/route.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import type { Recorder } from '../../kube/events.ts';
import type { Violation } from './checks/check.ts';
import { verificationOf } from '../webhooks/verification.ts';

/**
 * Who may call the webhook or chat through the route in effect: `Public`, `Closed`, or a scheme. Undefined
 * for other triggers.
 */
export function accessOf({ nodes }: WorkflowSpec, route: RouteSpec | undefined): string | undefined {
  if (!nodes.some((node) => node.webhook ?? node.chat)) return undefined;
  if (route?.webhook === undefined && route?.chat === undefined) return CLOSED;
  return schemeOf(route) ?? PUBLIC;
}

/** The note about a public webhook in the message of `Ready`. */
export function publicNote({ nodes }: WorkflowSpec): string {
  const webhook = nodes.find((node) => node.webhook)?.webhook;
  if (webhook === undefined || verificationOf(webhook.auth).verify !== undefined) return '';
  return webhook.auth?.none
    ? ' Public on purpose (auth.none): anybody who knows the URL can start runs.'
    : ' Public: anybody who knows the URL can start runs. Add auth to verify callers, or auth.none to confirm that the webhook is public.';
}

/** The scheme by which a webhook verified its callers until now, if it becomes public. */
export function droppedScheme(
  before: RouteSpec | undefined,
  after: RouteSpec | undefined,
): string | undefined {
  const isPublicNow = after?.webhook !== undefined && schemeOf(after) === undefined;
  return isPublicNow && before?.webhook !== undefined ? schemeOf(before) : undefined;
}

/** Records an Event: a served webhook that verified its callers became public. */
export function reportMadePublic(events: Pick<Recorder, 'record'>, workflow: Workflow, scheme: string): void {
  const note = `The webhook verified its callers by ${scheme} and is public now: anybody who knows the URL can start runs. If this is not intended, set auth again.`;
  events.record(workflow, { type: 'Warning', reason: 'WebhookMadePublic', action: 'Serve', note });
}

/** The violation that closes a served webhook because its callers must be verified. */
export function closingViolation(
  { spec }: Workflow,
  { before, after }: { before: RouteSpec | undefined; after: RouteSpec | undefined },
  violations: readonly Violation[],
): Violation | undefined {
  const isClosedNow = before?.webhook !== undefined && after !== undefined && after.webhook === undefined;
  if (!isClosedNow || !isEnabled(spec)) return undefined;
  return violations.find(({ reason }) => reason === 'AuthRequired');
}

/** Records an Event: a served webhook was closed. */
export function reportClosed(
  events: Pick<Recorder, 'record'>,
  workflow: Workflow,
  { message }: Violation,
): void {
  const note = `The webhook was served and is closed now: its URL returns 404. ${message}`;
  events.record(workflow, { type: 'Warning', reason: 'WebhookClosed', action: 'Serve', note });
}
