/** The status of a workflow as the workflow controller writes it. Pure. */
import { botPath } from '../../api/bot.ts';
import { CHAT_PREFIX } from '../../api/chat.ts';
import { workflowId } from '../../api/group.ts';
import type { Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import { isTriggerKind, kindOf, type WorkflowStatus } from '../../api/workflow.ts';
import type { Condition } from '../../kube/resource.ts';
import type { Routing } from '../gateways/view.ts';

/**
 * The fields that the workflow controller writes. Other controllers write the totals of runs and the polling
 * status.
 */
type Written = Required<Pick<WorkflowStatus, 'id' | 'observedGeneration' | 'conditions'>> &
  Pick<WorkflowStatus, 'url' | 'trigger' | 'access' | 'revision' | 'schedule'>;

/** The fields of the status that the workflow controller owns. */
export const OWNED_FIELDS = [
  'id',
  'url',
  'trigger',
  'access',
  'revision',
  'schedule',
  'observedGeneration',
  'conditions',
] as const satisfies readonly (keyof Written)[];

export type StatusParts = {
  conditions: readonly Condition[];
  /** The route that is in effect, if there is one. */
  route: RouteSpec | undefined;
  /** Who may call the webhook, if there is one. */
  access: string | undefined;
  /** The URL of the webhook, bot or chat. */
  url: string | undefined;
  /** The last and the next scheduled time. */
  schedule?: WorkflowStatus['schedule'];
};

/** The URL of the webhook, bot or chat that a route opens, if it opens one. */
export function openUrl(
  publicUrl: string,
  { namespace = '', name }: Workflow['metadata'],
  route: RouteSpec | undefined,
): string | undefined {
  if (!route?.active) return undefined;
  const { webhook, bot, chat } = route;
  if (chat) return `${publicUrl}${CHAT_PREFIX}${chat.id}`;
  if (bot) return `${publicUrl}${botPath(namespace, bot.credential)}`;
  return webhook && `${publicUrl}/webhook/${workflowId(namespace, name)}/${webhook.path}`;
}

/**
 * The URL that the status shows: `url` while every gateway replica serves its route. While `routing` is
 * unknown, for example because the run store is unavailable, a URL that was shown stays as long as the route
 * in effect opens it.
 */
export function shownUrl(
  url: string | undefined,
  routing: Routing | undefined,
  before: string | undefined,
): string | undefined {
  const isShown = routing === undefined ? url === before : routing.kind === 'Served';
  return isShown ? url : undefined;
}

/** The status that the workflow should have. */
export function statusOf(workflow: Workflow, parts: StatusParts): Written {
  const { namespace = '', name, generation = 0 } = workflow.metadata;
  const id = workflowId(namespace, name);
  const trigger = workflow.spec.nodes.map(kindOf).find(isTriggerKind);
  const { access, url } = parts;
  return {
    id,
    ...(url !== undefined && { url }),
    ...(trigger !== undefined && { trigger }),
    ...(access !== undefined && { access }),
    ...(parts.route && { revision: parts.route.revision }),
    ...(parts.schedule && { schedule: parts.schedule }),
    observedGeneration: generation,
    conditions: [...parts.conditions],
  };
}
