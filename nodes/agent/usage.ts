/** Tokens and cost of an agent. Pure. */
import { amountText } from '../../api/money.ts';
import type { ModelUsage } from '../contract/modelUsage.ts';
import type { StepResult } from '../contract/node.ts';

/** Tokens together; null if no provider counted any. */
export function sumOfUsage(usages: readonly (ModelUsage | null)[]): ModelUsage | null {
  const known = usages.filter((usage) => usage !== null);
  if (known.length === 0) return null;
  const nano = known.reduce((sum, { cost }) => sum + (cost?.nano ?? 0), 0);
  const currency = known.find(({ cost }) => cost)?.cost?.currency;
  return {
    inputTokens: known.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: known.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    ...(currency !== undefined && { cost: { nano, currency } }),
  };
}

/** The usage of the node, with its cost as a text. */
export function stepUsage({ inputTokens, outputTokens, cost }: ModelUsage): NonNullable<StepResult['usage']> {
  return {
    inputTokens,
    outputTokens,
    ...(cost && { cost: amountText(cost.nano), currency: cost.currency }),
  };
}
