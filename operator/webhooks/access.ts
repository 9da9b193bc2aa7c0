/** Who may call the webhook of a workflow, as people are told: in the status, in `Ready` and as Events. */
import type { Workflow } from '../../api/kinds.ts';
import { schemeOf, type RouteSpec } from '../../api/route.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import type { Recorder } from '../../kube/events.ts';
import { verificationOf } from './verification.ts';

/** `Public`, or the scheme that the webhook declares; undefined for other triggers. */
export function declaredAccess({ nodes }: WorkflowSpec): string | undefined {
  const webhook = nodes.find((node) => node.webhook)?.webhook;
  return webhook && verificationOf(webhook.auth).access;
}

/** What `Ready` says beside the URL of a public webhook. */
export function publicNote({ nodes }: WorkflowSpec): string {
  const webhook = nodes.find((node) => node.webhook)?.webhook;
  if (webhook === undefined || verificationOf(webhook.auth).verify !== undefined) return '';
  return webhook.auth?.none
    ? ' Public on purpose (auth.none): anybody who knows the URL can start runs.'
    : ' Public: anybody who knows the URL can start runs. Add auth to verify callers, or auth.none to confirm that the webhook is public.';
}

/** The scheme that a route verified its callers by until now, if its webhook is public from now on. */
export function droppedScheme(
  before: RouteSpec | undefined,
  after: RouteSpec | undefined,
): string | undefined {
  const isPublicNow = after?.webhook !== undefined && schemeOf(after) === undefined;
  return isPublicNow && before?.webhook !== undefined ? schemeOf(before) : undefined;
}

/** Tells that a webhook which verified its callers became public while it was served. */
export function reportMadePublic(events: Recorder, workflow: Workflow, scheme: string): void {
  const note = `The webhook verified its callers by ${scheme} and is public now: anybody who knows the URL can start runs. If this is not intended, set auth again.`;
  events.record(workflow, { type: 'Warning', reason: 'WebhookMadePublic', action: 'Serve', note });
}
