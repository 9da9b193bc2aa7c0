/** The polled trigger of a workflow: its hash in the route, its definition in the run store. Pure. */
import { ANNOTATION } from '../../api/group.ts';
import type { Credential, Workflow } from '../../api/kinds.ts';
import { shortHash } from '../../api/names.ts';
import type { RouteSpec } from '../../api/route.ts';
import { kindOf, type WorkflowSpec } from '../../api/workflow.ts';
import { canonicalJson } from '../../kube/json.ts';
import { findCondition } from '../../kube/conditions.ts';
import { isPolled, placeOf } from '../../nodes/pollers.ts';
import type { KnownBaseline, PolledTrigger } from '../../store/polling/triggers.ts';

/** Where a trigger names no interval. */
export const DEFAULT_INTERVAL_SECONDS = 60;

type Declared = Pick<PolledTrigger, 'kind' | 'intervalSeconds'> & { fields: Record<string, unknown> };

/** The polled trigger of a spec, if it has one. */
function declared(spec: WorkflowSpec): Declared | undefined {
  for (const node of spec.nodes) {
    const kind = kindOf(node);
    if (!isPolled(kind)) continue;
    const { pollIntervalSeconds, testData: _testData, ...fields } = node[kind] as Record<string, unknown>;
    const intervalSeconds =
      typeof pollIntervalSeconds === 'number' ? pollIntervalSeconds : DEFAULT_INTERVAL_SECONDS;
    return { kind, fields, intervalSeconds };
  }
  return undefined;
}

/** The interval of the polled trigger of a spec, in seconds. */
export function pollIntervalOf(spec: WorkflowSpec): number {
  return declared(spec)?.intervalSeconds ?? DEFAULT_INTERVAL_SECONDS;
}

/** The part of the route about a polled trigger. */
export function pollOf(spec: WorkflowSpec): Pick<RouteSpec, 'poll'> {
  const trigger = declared(spec);
  return trigger ? { poll: { trigger: shortHash(canonicalJson(trigger)) } } : {};
}

type CredentialOf = (name: string) => Credential | undefined;

/**
 * The trigger that is polled for a route; undefined if there is none, or if the spec has another one
 * now.
 */
export function triggerOf(
  { spec, metadata, status }: Workflow,
  route: RouteSpec,
  credentialOf: CredentialOf,
): PolledTrigger | undefined {
  const trigger = declared(spec);
  if (!route.poll || !trigger || pollOf(spec).poll?.trigger !== route.poll.trigger) return undefined;
  const { kind, fields } = trigger;
  const reset = resetOf(metadata.annotations?.[ANNOTATION.resetCursor]);
  const isDone = reset?.value === status?.poll?.reset;
  return {
    workflow: route.workflow,
    workflowUid: route.workflowUID,
    revision: route.revision,
    ...trigger,
    place: shortHash(canonicalJson(placeOf(kind, fields))),
    ...(reset && !isDone && { reset }),
    ...accessOf(fields, credentialOf),
  };
}

/**
 * Identifies the state of the credential: it changes when the credential is edited or begins to work again,
 * which ends a back-off.
 */
function accessOf(
  { credential: name }: Record<string, unknown>,
  credentialOf: CredentialOf,
): Pick<PolledTrigger, 'access'> {
  if (typeof name !== 'string') return {};
  const { metadata, status } = credentialOf(name) ?? {};
  const ready = findCondition(status?.conditions, 'Ready');
  const seen =
    ready?.status === 'True' ? [ready.lastTransitionTime, status?.lastChecked, status?.expires] : [];
  const parts = [metadata?.uid, metadata?.generation, ...seen].map((part) => part ?? null);
  return { access: shortHash(canonicalJson(parts)) };
}

/** RFC 3339, as the API server writes times, with any offset. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const LONGEST = 64;

/** The reset that the annotation requests: from now, or from a time on. Undefined if it is invalid. */
export function resetOf(value: string | undefined): PolledTrigger['reset'] {
  if (value === undefined || value.length > LONGEST) return undefined;
  if (value === 'now') return { value };
  if (!TIME.test(value) || Number.isNaN(Date.parse(value))) return undefined;
  return { value, since: new Date(value).toISOString() };
}

/** Whether the annotation exists and is invalid. */
export function isInvalidReset(value: string | undefined): boolean {
  return value !== undefined && resetOf(value) === undefined;
}

const LOST = 'The run store has lost the cursor, which was too large for the status.';

/** The last cursor of a trigger by its status, for a run store that has lost it. */
export function baselineOf({ status }: Workflow): { known?: KnownBaseline } {
  const { cursor, lastPollTime } = status?.poll ?? {};
  if (cursor !== undefined) return { known: { cursor } };
  return lastPollTime === undefined ? {} : { known: { lost: LOST } };
}
