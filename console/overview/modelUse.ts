/** What the agents of each workflow used on a day. Pure. */
import type { WorkflowUsage } from '../../api/usage.ts';
import type { DayUse } from './queries.ts';

/**
 * The most expensive and then the largest use first. `rest`: the tokens of workflows that were deleted, or
 * are not served.
 */
export function usedByWorkflow({ usage, workflows }: DayUse): { used: WorkflowUsage[]; rest: number } {
  const used = workflows.toSorted(
    (one, other) => Number(other.cost ?? 0) - Number(one.cost ?? 0) || other.tokens - one.tokens,
  );
  return { used, rest: usage.tokens - used.reduce((sum, { tokens }) => sum + tokens, 0) };
}
