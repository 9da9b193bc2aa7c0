/** Events about the conditions `Ready` and `Valid` of an object, and about an `Active` workflow of a full project, for `kubectl describe`. */
import type { ConditionType, Reason } from '../../api/conditions.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Occurrence, Recorder } from '../../kube/events.ts';
import type { Condition, KubeObject } from '../../kube/resource.ts';

const TYPES: ConditionType[] = ['Valid', 'Ready'];

/** Reasons that every rollout passes through within seconds. They are not reported, and their end is. */
const PASSING: ReadonlySet<string> = new Set<Reason>(['Pending', 'PoolStarting', 'WaitingForReplicas']);

/** Reported by the token renewal, which has more detail. */
const REPORTED_BY_RENEWAL: ReadonlySet<string> = new Set<Reason>(['NotConnected', 'Expiring', 'Expired']);

const FULL = 'ProjectFull' satisfies Reason;

type Judged = KubeObject & { spec: object };

/** Records what has changed from one list of conditions to the next. Call it after the new list was written. */
export function recordConditions(
  events: Pick<Recorder, 'record'>,
  object: Judged,
  before: readonly Condition[],
  after: readonly Condition[],
): void {
  const isAccount = 'oauth2' in object.spec;
  for (const occurrence of occurrencesOf(before, after))
    if (!isAccount || !REPORTED_BY_RENEWAL.has(occurrence.reason)) events.record(object, occurrence);
}

/**
 * What there is to tell: that a condition has become True, that it has become False, and another reason for either. A condition that
 * is Unknown tells nothing, a full project is told when it has become full, and a problem of `Valid` is told once and not again as that of `Ready`.
 */
export function occurrencesOf(before: readonly Condition[], after: readonly Condition[]): Occurrence[] {
  const told = TYPES.flatMap((type) => {
    const [old, current] = [before, after].map((list) => findCondition(list, type));
    return current && isNews(old, current) ? [occurrenceOf(current)] : [];
  });
  const [old, current] = [before, after].map((list) => findCondition(list, 'Active'));
  if (current?.reason === FULL && old?.reason !== FULL)
    told.push({ ...occurrenceOf(current), type: 'Warning' });
  return told.filter(({ reason }, at) => told.findIndex((other) => other.reason === reason) === at);
}

function isNews(old: Condition | undefined, { type, status, reason }: Condition): boolean {
  if (status === 'Unknown' || PASSING.has(reason)) return false;
  // That a new spec is valid goes without saying.
  if (type === 'Valid' && status === 'True' && old?.status !== 'False') return false;
  return old?.status !== status || old.reason !== reason;
}

function occurrenceOf({ type, status, reason, message }: Condition): Occurrence {
  const note = `${type}=${status}: ${message}`;
  return { type: status === 'True' ? 'Normal' : 'Warning', reason, action: 'Reconcile', note };
}
