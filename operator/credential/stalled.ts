/** When a credential is `Stalled`: only a change of its spec helps. Pure. */
import type { ConditionType, Reason } from '../../api/conditions.ts';
import { findCondition, removeCondition, setCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';

const TYPE = 'Stalled' satisfies ConditionType;

/** Reasons that neither a Secret, nor a person who connects the account, nor the other side can take away. */
const NEEDS_CHANGE: ReadonlySet<string> = new Set<Reason>(['NoAllowedHosts']);

/** The conditions with `Stalled` where `Ready` says why, else without it. The same list when nothing changed. */
export function withStalled(list: readonly Condition[], now: Date): readonly Condition[] {
  const ready = findCondition(list, 'Ready');
  if (ready?.status !== 'False' || !NEEDS_CHANGE.has(ready.reason)) return removeCondition(list, TYPE);
  const { reason, message, observedGeneration } = ready;
  const update = { type: TYPE, status: 'True' as const, reason, message };
  return setCondition(
    list,
    { ...update, ...(observedGeneration !== undefined && { observedGeneration }) },
    now,
  );
}
