/**
 * Events about changes of the conditions `Ready` and `Valid`, and about active workflows of a full project.
 */
import type { ConditionType, Reason } from '../../api/conditions.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Occurrence, Recorder } from '../../kube/events.ts';
import type { Condition, KubeObject } from '../../kube/resource.ts';

const TYPES: ConditionType[] = ['Valid', 'Ready'];

/** Transient reasons, which every rollout passes. They are not reported; the reason that follows them is. */
const PASSING: ReadonlySet<string> = new Set<Reason>(['Pending', 'PoolStarting', 'WaitingForReplicas']);

/** The token renewal reports these, with more detail. */
const REPORTED_BY_RENEWAL: ReadonlySet<string> = new Set<Reason>(['NotConnected', 'Expiring', 'Expired']);

const FULL = 'ProjectFull' satisfies Reason;

type WithSpec = KubeObject & { spec: object };

/**
 * Records Events about the changes between two lists of conditions. Call it after the new list was written.
 */
export function recordConditions(
  events: Pick<Recorder, 'record'>,
  object: WithSpec,
  before: readonly Condition[],
  after: readonly Condition[],
): void {
  const isAccount = 'oauth2' in object.spec;
  for (const occurrence of occurrencesOf(before, after))
    if (!isAccount || !REPORTED_BY_RENEWAL.has(occurrence.reason)) events.record(object, occurrence);
}

/**
 * The Events about changes: a condition became True or False, or its reason changed. An Unknown condition
 * causes none, a full project causes one when it becomes full, and a problem of `Valid` is not repeated for
 * `Ready`.
 */
export function occurrencesOf(before: readonly Condition[], after: readonly Condition[]): Occurrence[] {
  const occurrences = TYPES.flatMap((type) => {
    const [old, current] = [before, after].map((list) => findCondition(list, type));
    return current && isReported(old, current) ? [occurrenceOf(current)] : [];
  });
  const [old, current] = [before, after].map((list) => findCondition(list, 'Active'));
  if (current?.reason === FULL && old?.reason !== FULL)
    occurrences.push({ ...occurrenceOf(current), type: 'Warning' });
  return occurrences.filter(
    ({ reason }, at) => occurrences.findIndex((other) => other.reason === reason) === at,
  );
}

function isReported(old: Condition | undefined, { type, status, reason }: Condition): boolean {
  if (status === 'Unknown' || PASSING.has(reason)) return false;
  // A new spec that is valid needs no Event.
  if (type === 'Valid' && status === 'True' && old?.status !== 'False') return false;
  return old?.status !== status || old.reason !== reason;
}

function occurrenceOf({ type, status, reason, message }: Condition): Occurrence {
  const note = `${type}=${status}: ${message}`;
  return { type: status === 'True' ? 'Normal' : 'Warning', reason, action: 'Reconcile', note };
}
