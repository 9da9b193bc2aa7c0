/** The conditions `Checked` and `Stalled` of a credential. Pure. */
import type { ConditionType, Reason } from '../../api/conditions.ts';
import type { Credential } from '../../api/kinds.ts';
import { findCondition, removeCondition, setCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import { canBeChecked } from '../../nodes/checks.ts';
import { checkedAfter, type Decision } from './decide.ts';

const CHECKED = 'Checked' satisfies ConditionType;

/**
 * The conditions with the result of the last check; without it if the credential cannot be checked. The same
 * list if nothing changed.
 */
export function withChecked(
  list: readonly Condition[],
  { metadata, spec }: Pick<Credential, 'metadata' | 'spec'>,
  decision: Decision,
  now: Date,
): readonly Condition[] {
  if (!canBeChecked(spec)) return removeCondition(list, CHECKED);
  const { generation = 0 } = metadata;
  const finding = checkedAfter(decision, findCondition(list, CHECKED), generation);
  if (finding === undefined) return list;
  return setCondition(list, { type: CHECKED, observedGeneration: generation, ...finding }, now);
}

const STALLED = 'Stalled' satisfies ConditionType;

/** Reasons that only a change of the spec removes. */
const NEEDS_CHANGE: ReadonlySet<string> = new Set<Reason>(['NoAllowedHosts']);

/**
 * The conditions with `Stalled` if only a change of the spec makes the credential ready. The same list if
 * nothing changed.
 */
export function withStalled(list: readonly Condition[], now: Date): readonly Condition[] {
  const ready = findCondition(list, 'Ready');
  if (ready?.status !== 'False' || !NEEDS_CHANGE.has(ready.reason)) return removeCondition(list, STALLED);
  const { reason, message, observedGeneration } = ready;
  const update = { type: STALLED, status: 'True' as const, reason, message };
  return setCondition(
    list,
    { ...update, ...(observedGeneration !== undefined && { observedGeneration }) },
    now,
  );
}
