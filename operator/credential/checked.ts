/** The condition `Checked` of a credential: the result of the last check. Pure. */
import type { ConditionType } from '../../api/conditions.ts';
import type { Credential } from '../../api/kinds.ts';
import { findCondition, removeCondition, setCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import { canBeChecked } from '../../nodes/checks.ts';
import { checkedAfter, type Decision } from './decide.ts';

const TYPE = 'Checked' satisfies ConditionType;

/** The conditions with what was decided; without it where the credential cannot be checked. The same list when nothing changed. */
export function withChecked(
  list: readonly Condition[],
  { metadata, spec }: Pick<Credential, 'metadata' | 'spec'>,
  decision: Decision,
  now: Date,
): readonly Condition[] {
  if (!canBeChecked(spec)) return removeCondition(list, TYPE);
  const { generation = 0 } = metadata;
  const finding = checkedAfter(decision, findCondition(list, TYPE), generation);
  if (finding === undefined) return list;
  return setCondition(list, { type: TYPE, observedGeneration: generation, ...finding }, now);
}
