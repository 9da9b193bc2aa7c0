/** Conditions of a status. Pure. */
import type { Condition, ConditionStatus } from './resource.ts';

export type ConditionUpdate = {
  type: string;
  status: ConditionStatus;
  /** One word in CamelCase that programs may test for. */
  reason: string;
  /** A sentence that tells a person what to do. */
  message: string;
  observedGeneration?: number;
};

/** The longest message of a `metav1.Condition`. */
const maxMessageLength = 32_768;

/**
 * The list with this condition set. `lastTransitionTime` moves only when the status changes; when nothing
 * changes, the very same list is returned.
 */
export function setCondition(
  list: readonly Condition[],
  update: ConditionUpdate,
  now: Date,
): readonly Condition[] {
  const current = findCondition(list, update.type);
  const next = withTime(update, current, now);
  if (current === undefined) return [...list, next];
  if (sameCondition(current, next)) return list;
  return list.map((condition) => (condition === current ? next : condition));
}

/** The list without this condition; the same list if there is none. */
export function removeCondition(list: readonly Condition[], type: string): readonly Condition[] {
  return findCondition(list, type) === undefined ? list : list.filter((condition) => condition.type !== type);
}

export function findCondition(list: readonly Condition[] | undefined, type: string): Condition | undefined {
  return list?.find((condition) => condition.type === type);
}

/** True only for a condition that is True for this generation of the spec. */
export function isConditionTrue(
  list: readonly Condition[] | undefined,
  type: string,
  generation?: number,
): boolean {
  const condition = findCondition(list, type);
  return condition?.status === 'True' && isCurrent(condition, generation);
}

export type RootCondition = {
  type: string;
  generation?: number;
  /** Reason and message if every dependent is True. */
  whenTrue: { reason: string; message: string };
};

/**
 * Computes the root from what it depends on, in order of importance: the first False wins, then the first
 * that is Unknown, missing or about an older generation; otherwise it is True.
 */
export function summarize(
  root: RootCondition,
  dependents: readonly string[],
  list: readonly Condition[],
): ConditionUpdate {
  const generation = root.generation === undefined ? {} : { observedGeneration: root.generation };
  const current = dependents.map((type) => {
    const found = findCondition(list, type);
    return found !== undefined && isCurrent(found, root.generation) ? found : unknownYet(type);
  });
  const blocking =
    current.find((condition) => condition.status === 'False') ??
    current.find((condition) => condition.status === 'Unknown');
  if (blocking === undefined) return { type: root.type, status: 'True', ...root.whenTrue, ...generation };
  return {
    type: root.type,
    status: blocking.status,
    reason: blocking.reason,
    message: blocking.message,
    ...generation,
  };
}

/** The text as a sentence, so that another one may follow. */
export function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function unknownYet(type: string): ConditionUpdate {
  return { type, status: 'Unknown', reason: 'Pending', message: `${type} is not known yet.` };
}

function isCurrent(condition: Condition, generation: number | undefined): boolean {
  return generation === undefined || condition.observedGeneration === generation;
}

function sameCondition(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}

function withTime(update: ConditionUpdate, current: Condition | undefined, now: Date): Condition {
  const unchanged = current?.status === update.status;
  return {
    ...update,
    message: update.message.slice(0, maxMessageLength),
    lastTransitionTime: unchanged ? current.lastTransitionTime : `${now.toISOString().slice(0, 19)}Z`,
  };
}
