/** What agents used on the last day on which one asked a model, as statuses and the API show it. */
import { amountText } from '../api/money.ts';
import type { ShownUsage } from '../api/usage.ts';
import type { DayUsage } from './budget.ts';

const DAY_MS = 86_400_000;

/** The usage on the last of these days; undefined where no agent asked a model. */
export function latestUsage(usages: readonly DayUsage[]): ShownUsage | undefined {
  if (usages.length === 0) return undefined;
  const day = Math.max(...usages.map((usage) => usage.day));
  const latest = usages.filter((usage) => usage.day === day);
  const cost = latest.reduce((sum, usage) => sum + usage.cost, 0);
  return {
    date: new Date(day * DAY_MS).toISOString().slice(0, 10),
    tokens: latest.reduce((sum, usage) => sum + usage.tokens, 0),
    ...(cost > 0 && { cost: amountText(cost), currency: latest[0]?.currency ?? '' }),
  };
}
